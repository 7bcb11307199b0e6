"""What differs between our build of Karpenter's kwok cloud and the module it is built from.

Karpenter decides as it does on EKS; the kwok cloud pretends the instances. The changes let it take the node pools of a
stack as they are, and keep it on this machine.
"""

from __future__ import annotations

from eks_gpu.facts import labels
from sandbox.toolchain.patches import Patch, PatchedModule

_OPERATOR = "pkg/operator/operator.go"
_KINDS = "kwok/apis/v1alpha1/doc.go"
_LABELS = "kwok/apis/v1alpha1/labels.go"

_CLOUD = "kwok/cloudprovider/cloudprovider.go"
_TYPES = "kwok/cloudprovider/helpers.go"

_AWS_LABELS = sorted((labels.KARPENTER_AWS_ALLOWED | {labels.ZONE_ID}) - {labels.EC2_NODE_CLASS})
"""What the AWS cloud registers as well-known (karpenter-provider-aws v1.14.1 ``pkg/apis/v1/labels.go``).

The key of the node class is a label that Karpenter sets, and none that it chooses by. Kubernetes' own key of a Windows
build is well-known without a cloud.
"""

_NODE_CLASS = "node classes are those of AWS, under their own group, version and kind"

KARPENTER_KWOK = PatchedModule(
    "sigs.k8s.io/karpenter",
    (
        Patch(
            _OPERATOR,
            'fmt.Sprintf(":%d"',
            'fmt.Sprintf("127.0.0.1:%d"',
            "metrics and health are served on loopback, and not on every address of the machine",
            count=2,
        ),
        # The spec is read as that of the kwok class, whose one field no AWS class has: nodes register without delay.
        Patch(
            _KINDS,
            'Group: apis.Group, Version: "v1alpha1"',
            f'Group: "{labels.KARPENTER_AWS_DOMAIN}", Version: "v1"',
            _NODE_CLASS,
        ),
        Patch(_KINDS, '\n\t"sigs.k8s.io/karpenter/kwok/apis"\n', "", f"{_NODE_CLASS} (an import that is left over)"),
        Patch(
            _KINDS,
            "AddKnownTypes(gv,\n\t\t&KWOKNodeClass{},\n\t\t&KWOKNodeClassList{},\n\t)",
            'AddKnownTypeWithName(gv.WithKind("EC2NodeClass"), &KWOKNodeClass{})\n'
            '\tscheme.Scheme.AddKnownTypeWithName(gv.WithKind("EC2NodeClassList"), &KWOKNodeClassList{})',
            _NODE_CLASS,
        ),
        Patch(
            _LABELS,
            "RestrictedLabelDomains.Insert(apis.Group)",
            f'RestrictedLabelDomains.Insert(apis.Group, "{labels.KARPENTER_AWS_DOMAIN}")',
            "a key of AWS's domain that does not exist is refused, as on EKS",
        ),
        Patch(
            _LABELS,
            "\t\tInstanceMemoryLabelKey,\n",
            "\t\tInstanceMemoryLabelKey,\n" + "".join(f'\t\t"{key}",\n' for key in _AWS_LABELS),
            "the keys of AWS's domain that do exist are well-known, also those that no instance type here has",
        ),
        Patch(
            _CLOUD,
            "Capacity:    nodeClaim.Spec.Resources.Requests,",
            "Capacity:    instanceType.Capacity,",
            "a node has the capacity of its instance type, which limits count, and not what the first pods ask for",
        ),
        Patch(
            _TYPES,
            "// Wrap cloudprovider.Offerings with",
            f'func init() {{\n\tcloudprovider.ReservationIDLabel = "{labels.RESERVATION_ID}"\n}}\n\n'
            "// Wrap cloudprovider.Offerings with",
            "capacity reservations are told apart by the label that the AWS cloud uses",
        ),
    ),
)
"""Written for Karpenter v1.14.1, the version that is deployed."""
