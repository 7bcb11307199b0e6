"""Serve the stand-in for the `eks` provider."""

import sys

from pulumi.provider.server import main

from sandbox.providers.base import leave_with_engine
from sandbox.providers.eks.provider import Eks
from sandbox.providers.eks.resources import accept_references

leave_with_engine()
accept_references()
main(Eks(), sys.argv[1:])
