"""What GPU instances cost by the hour, and of which day the figures are.

On-demand prices are in the catalogue (:mod:`eks_gpu.facts.instances`). Spot prices change by the hour and differ by
zone: those here are one moment's, an order of magnitude for plans. Whoever needs better measures them
(``aws ec2 describe-spot-price-history``) and gives the file to ``eks-gpu cost``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SOURCE = (
    "on demand: aws/karpenter-provider-aws pkg/providers/pricing/zz_generated.pricing_aws.go (generated 2026-07-20); "
    "spot: the feed behind aws.amazon.com/ec2/spot/pricing (website.spot.ec2.aws.a2z.com/spot.json), Linux, us-east-1, "
    "as alexei-led/spotinfo keeps it in internal/spot/data/spot-price-data.json @69bcec67 (the manifests beside it say "
    "fetched 2026-08-06 and 2026-08-10)"
)
CHECKED = "2026-11-21"

REGION = "us-east-1"
"""Where all the prices are of."""

ON_DEMAND_AS_OF = "2026-07-20"
SPOT_AS_OF = "2026-08"
"""The month only: which of two days in it the snapshot is of cannot be told."""

SPOT: Mapping[str, float] = MappingProxyType(
    {
        "g4dn.xlarge": 0.3196,
        "g4dn.2xlarge": 0.3179,
        "g4dn.4xlarge": 0.5146,
        "g4dn.8xlarge": 0.77,
        "g4dn.12xlarge": 1.5537,
        "g4dn.16xlarge": 1.4089,
        "g4dn.metal": 4.1475,
        "g5.xlarge": 0.5089,
        "g5.2xlarge": 1.0236,
        "g5.4xlarge": 0.9008,
        "g5.8xlarge": 1.2542,
        "g5.12xlarge": 3.4917,
        "g5.16xlarge": 1.8357,
        "g5.24xlarge": 2.3425,
        "g5.48xlarge": 9.1028,
        "g5g.xlarge": 0.1238,
        "g5g.2xlarge": 0.3129,
        "g5g.4xlarge": 0.4078,
        "g5g.8xlarge": 0.6841,
        "g5g.16xlarge": 0.6121,
        "g5g.metal": 0.5794,
        "g6.xlarge": 0.5375,
        "g6.2xlarge": 0.8792,
        "g6.4xlarge": 0.6713,
        "g6.8xlarge": 1.3626,
        "g6.12xlarge": 2.846,
        "g6.16xlarge": 1.7823,
        "g6.24xlarge": 1.8695,
        "g6.48xlarge": 4.768,
        "g6e.xlarge": 1.6119,
        "g6e.2xlarge": 2.182,
        "g6e.4xlarge": 2.8709,
        "g6e.8xlarge": 1.7736,
        "g6e.12xlarge": 3.1479,
        "g6e.16xlarge": 2.7307,
        "g6e.24xlarge": 4.1488,
        "g6e.48xlarge": 11.5708,
        "g6f.large": 0.0579,
        "g6f.xlarge": 0.1052,
        "g6f.2xlarge": 0.2157,
        "g6f.4xlarge": 0.2952,
        "gr6.4xlarge": 0.7354,
        "gr6.8xlarge": 1.2577,
        "gr6f.4xlarge": 0.5288,
        "g7.2xlarge": 0.9391,
        "g7.4xlarge": 1.0612,
        "g7.8xlarge": 1.2459,
        "g7.12xlarge": 1.9672,
        "g7.24xlarge": 4.0843,
        "g7.48xlarge": 7.3674,
        "g7e.2xlarge": 1.482,
        "g7e.4xlarge": 1.6867,
        "g7e.8xlarge": 1.945,
        "g7e.12xlarge": 3.754,
        "g7e.24xlarge": 7.8172,
        "g7e.48xlarge": 7.7687,
        "p3.2xlarge": 0.5509,
        "p3.8xlarge": 3.2295,
        "p3.16xlarge": 6.5858,
        "p3dn.24xlarge": 5.1428,
        "p4d.24xlarge": 14.2313,
        "p4de.24xlarge": 21.8259,
        "p5.4xlarge": 2.6295,
        "p5.48xlarge": 19.4933,
        "p5en.48xlarge": 27.0749,
        "p6-b200.48xlarge": 42.2529,
        "p6-b300.48xlarge": 44.5408,
    }
)
"""Instance type to US dollars an hour on spot. A type that is not here was not sold as spot there."""
