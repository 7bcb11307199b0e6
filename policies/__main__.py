"""The policy pack as the Pulumi engine starts it."""

from eks_gpu_policies.pack import serve
from eks_gpu_policies.rules import RULES

serve(RULES)
