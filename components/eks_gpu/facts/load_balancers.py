"""How a Service of type LoadBalancer says who may reach it, to whichever controller makes its load balancer on AWS."""

from __future__ import annotations

SOURCE = (
    "kubernetes/cloud-provider-aws docs/service_controller.md (aws-load-balancer-internal); "
    "kubernetes-sigs/aws-load-balancer-controller docs/guide/service/annotations.md and nlb.md (scheme, internal by "
    "default; load-balancer-source-ranges; security-groups; type external and nlb-ip; loadBalancerClass); EKS user "
    "guide, 'Configure Network Load Balancers' of Auto Mode (eks.amazonaws.com/nlb, internal by default)"
)
CHECKED = "2026-11-21"

_DOMAIN = "service.beta.kubernetes.io"

INTERNAL = f"{_DOMAIN}/aws-load-balancer-internal"
"""Annotation that every controller reads; anything but ``false`` means internal."""
SCHEME = f"{_DOMAIN}/aws-load-balancer-scheme"
"""Annotation of the AWS Load Balancer Controller; it goes before the other one."""
SCHEME_INTERNAL = "internal"

SOURCE_RANGES = f"{_DOMAIN}/load-balancer-source-ranges"
"""Annotation with what ``spec.loadBalancerSourceRanges`` lists, separated by commas."""
SECURITY_GROUPS = f"{_DOMAIN}/aws-load-balancer-security-groups"
"""Annotation that names security groups of one's own; then they decide who gets in."""

TYPE = f"{_DOMAIN}/aws-load-balancer-type"
"""Annotation that tells which controller is meant."""
TYPES_OF_CONTROLLER: frozenset[str] = frozenset({"external", "nlb-ip"})
CLASSES_OF_CONTROLLER: frozenset[str] = frozenset({"service.k8s.aws/nlb", "eks.amazonaws.com/nlb"})
"""Values of the annotation and of ``loadBalancerClass`` by which a controller makes the load balancer that makes it
internal unless told otherwise. What is left to Kubernetes' own AWS provider faces the internet."""
