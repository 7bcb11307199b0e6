"""Serve the stand-in for the `kubernetes` provider."""

from sandbox.providers.base import serve
from sandbox.providers.kubernetes.provider import Kubernetes

serve(Kubernetes())
