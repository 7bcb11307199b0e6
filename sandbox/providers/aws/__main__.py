"""Serve the stand-in for the `aws` provider."""

from sandbox.providers.aws.provider import Aws
from sandbox.providers.base import serve

serve(Aws())
