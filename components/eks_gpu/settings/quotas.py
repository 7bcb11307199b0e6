"""The ``quotas`` block: what the AWS account may run, as somebody read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from eks_gpu.settings.block import Block
from eks_gpu.settings.iso_date import Day

QuotaCode = Annotated[str, Field(pattern=r"^L-[0-9A-F]{8}$")]
"""The code of a quota of the service ``ec2``, as Service Quotas shows it: ``L-DB2E81BA``."""


class Quotas(Block):
    """The account's EC2 quotas on running instances in the region, written down by hand: no preview asks the cloud.

    ``aws service-quotas list-service-quotas --service-code ec2`` prints them. A record older than 30 days is not used.
    """

    recorded: Day
    """The day they were read, an ISO date in quotes."""

    vcpus: Annotated[Mapping[QuotaCode, Annotated[float, Field(ge=0)]], Field(min_length=1)]
    """vCPU that may run at the same time, by quota code: ``L-DB2E81BA: 768`` is that of G and VT on demand."""
