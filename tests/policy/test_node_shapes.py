"""Groups and pools of nodes in the shapes that people publish: right ones pass the rules on nodes without a word.

They are shaped after terraform-aws-eks, eksctl, pulumi-eks, the EKS user guide's pages on capacity blocks and
reservations, and Karpenter's documentation, and say nothing in this project's words.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY

IDS = ("001", "002", "003", "004", "005", "006", "007", "008", "010", "014", "017")
RULES = tuple(BY_ID[name] for name in (*(f"NODE{number}" for number in IDS), "SEC001"))

MODULE_USER_DATA = """\
Content-Type: multipart/mixed; boundary="MIMEBOUNDARY"
MIME-Version: 1.0

--MIMEBOUNDARY
Content-Transfer-Encoding: 7bit
Content-Type: application/node.eks.aws
Mime-Version: 1.0

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0

--MIMEBOUNDARY--
"""
"""As terraform-aws-eks renders ``cloudinit_pre_nodeadm``."""

KUBELET = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      imageGCHighThresholdPercent: 75
      imageGCLowThresholdPercent: 50
      maxPods: 110
    flags:
    - --node-labels=team=ml
"""
SUBNET = examples.resource(tokens.SUBNET, "private-a", {"availabilityZone": "us-west-2a"})
TAINT = {"key": resources.GPU, "value": "true", "effect": "NO_SCHEDULE"}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def disk(device: str, size: object, **ebs: object) -> dict[str, object]:
    settings = {"volumeSize": size, "volumeType": "gp3", "encrypted": True, "throughput": 250, "iops": 3000, **ebs}
    return {"deviceName": device, "ebs": settings}


def launch_template(*sources: Resource, name: str = "nodes", **props: object) -> Resource:
    sound = {
        "namePrefix": f"{name}-",
        "updateDefaultVersion": True,
        "blockDeviceMappings": [disk("/dev/xvda", 100, encrypted="true")],
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 2},
        "userData": encoded(KUBELET),
        "monitoring": {"enabled": True},
    }
    computed = dict.fromkeys(("networkInterfaces", "capacityReservationSpecification", "placement"), sources)
    return examples.resource(tokens.LAUNCH_TEMPLATE, name, {**sound, **props}, **computed)


def node_group(template: Resource, *types: str, links: Sequence[Resource] = (SUBNET,), **props: object) -> Resource:
    sound = {
        "amiType": "AL2023_x86_64_NVIDIA",
        "releaseVersion": "1.34.2-20260724",
        "capacityType": "ON_DEMAND",
        "scalingConfig": {"minSize": 1, "desiredSize": 2, "maxSize": 4},
        "updateConfig": {"maxUnavailablePercentage": 33},
        "taints": [TAINT],
        "labels": {"nvidia.com/gpu.present": "true", "vpc.amazonaws.com/efa.present": "true"},
        "subnetIds": ["subnet-1"],
        "launchTemplate": {"id": "lt-1", "version": "1"},
        **({"instanceTypes": list(types)} if types else {}),
    }
    kept = {key: value for key, value in {**sound, **props}.items() if value is not None}
    return examples.resource(tokens.NODE_GROUP, "gpu", kept, launchTemplate=(template,), subnetIds=links)


def module_group() -> tuple[Resource, ...]:
    template = launch_template(userData=encoded(MODULE_USER_DATA), blockDeviceMappings=[disk("/dev/xvda", 100)])
    return SUBNET, template, node_group(template, "g6e.12xlarge")


def adapters_group() -> tuple[Resource, ...]:
    """terraform-aws-eks with EFA on p5: the primary interface and some cards with IP, the others without."""
    everything = {"protocol": "-1", "fromPort": 0, "toPort": 0}
    itself = {**everything, "self": True}
    group = examples.resource(
        tokens.SECURITY_GROUP,
        "node",
        {"ingress": [itself], "egress": [itself, {**everything, "cidrBlocks": ["0.0.0.0/0"]}]},
    )
    cards = [
        {
            "networkCardIndex": card,
            "deviceIndex": 0 if card == 0 else 1,
            "interfaceType": "efa" if card % 4 == 0 else "efa-only",
            "associatePublicIpAddress": "false",
            "deleteOnTermination": "true",
            "securityGroups": ["sg-node"],
        }
        for card in range(32)
    ]
    placed = examples.resource(tokens.PLACEMENT_GROUP, "cluster", {"strategy": "cluster"})
    template = launch_template(
        group,
        placed,
        userData=encoded(MODULE_USER_DATA),
        networkInterfaces=cards,
        placement={"groupName": "cluster"},
    )
    return SUBNET, group, placed, template, node_group(template, "p5.48xlarge")


def capacity_block() -> tuple[Resource, ...]:
    """The user guide's group in a capacity block that the program buys itself."""
    block = examples.resource(tokens.CAPACITY_BLOCK, "block", {"capacityBlockOfferingId": "cb-0123"})
    template = launch_template(
        block,
        userData=encoded(MODULE_USER_DATA),
        instanceType="p5.48xlarge",
        instanceMarketOptions={"marketType": "capacity-block"},
        capacityReservationSpecification={"capacityReservationTarget": {"capacityReservationId": "cr-1"}},
    )
    sizes = {"minSize": 0, "desiredSize": 2, "maxSize": 2}
    return SUBNET, block, template, node_group(template, capacityType="CAPACITY_BLOCK", scalingConfig=sizes)


def reserved_group() -> tuple[Resource, ...]:
    """A reservation on demand that the program makes in the zone and for the type of its group."""
    held = {"instanceType": "p4d.24xlarge", "availabilityZone": "us-west-2a", "instanceCount": 4}
    reservation = examples.resource(tokens.CAPACITY_RESERVATION, "held", {**held, "instanceMatchCriteria": "targeted"})
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}
    template = launch_template(reservation, userData=encoded(MODULE_USER_DATA), capacityReservationSpecification=target)
    return SUBNET, reservation, template, node_group(template, "p4d.24xlarge")


def bottlerocket_group() -> tuple[Resource, ...]:
    """eksctl's shape: a small root, a large data volume, settings in TOML."""
    settings = (
        "[settings.kubernetes]\n"
        '"cluster-name" = "ml"\n'
        '"image-gc-high-threshold-percent" = "75"\n'
        '"image-gc-low-threshold-percent" = "60"\n\n'
        "[settings.kubernetes.node-labels]\n"
        '"team" = "ml"\n'
    )
    volumes = [disk("/dev/xvda", 4), disk("/dev/xvdb", 120)]
    template = launch_template(userData=encoded(settings), blockDeviceMappings=volumes)
    release = "1.65.0-0be31b34"
    group = node_group(template, "g5.2xlarge", amiType="BOTTLEROCKET_x86_64_NVIDIA", releaseVersion=release)
    return SUBNET, template, group


def component() -> tuple[Resource, ...]:
    """``eks.ManagedNodeGroup`` before the engine has made anything of it."""
    template = launch_template()
    props: Mapping[str, object] = {
        "instanceTypes": ["g5.2xlarge"],
        "gpu": True,
        "operatingSystem": "AL2023",
        "releaseVersion": "1.34.2-20260724",
        "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 2},
        "taints": [TAINT],
        "labels": {},
        "launchTemplate": {"id": "lt-1", "version": "1"},
    }
    return template, examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", props, launchTemplate=(template,))


def node_class(name: str, term: object, *, family: str | None = None, **spec: object) -> Resource:
    sound = {
        "amiSelectorTerms": [term],
        **({} if family is None else {"amiFamily": family}),
        "role": "nodes",
        "subnetSelectorTerms": [{"tags": {labels.KARPENTER_DISCOVERY: "ml"}}],
        "securityGroupSelectorTerms": [{"tags": {labels.KARPENTER_DISCOVERY: "ml"}}],
        "blockDeviceMappings": [disk("/dev/xvda", "200Gi")],
        **spec,
    }
    return examples.resource(tokens.NODE_CLASS, name, {"metadata": {"name": name}, "spec": sound})


def node_pool(name: str, *requirements: Mapping[str, object], **template: object) -> Resource:
    node = {
        "nodeClassRef": {"group": labels.KARPENTER_AWS_DOMAIN, "kind": "EC2NodeClass", "name": name},
        "requirements": [*requirements, {"key": labels.CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]}],
        "taints": [{"key": resources.GPU, "value": "true", "effect": "NoSchedule"}],
        **template,
    }
    spec = {"template": {"spec": node}, "limits": {resources.GPU: 16}}
    return examples.resource(tokens.NODE_POOL, name, {"metadata": {"name": name}, "spec": spec})


def required(key: str, *values: str, operator: str = "In") -> dict[str, object]:
    return {"key": key, "operator": operator, "values": list(values)}


def karpenter_by_alias() -> tuple[Resource, ...]:
    pool = node_pool(
        "gpu", required(labels.INSTANCE_CATEGORY, "g"), required(labels.INSTANCE_GPU_COUNT, "0", operator="Gt")
    )
    return node_class("gpu", {"alias": "al2023@v20260724"}), pool


def karpenter_by_id() -> tuple[Resource, ...]:
    pool = node_pool("gpu", required(labels.INSTANCE_FAMILY, "g5", "g6"))
    return node_class("gpu", {"id": "ami-0123456789abcdef0"}, family="AL2023", userData=KUBELET), pool


def karpenter_on_bottlerocket() -> tuple[Resource, ...]:
    volumes = [disk("/dev/xvda", "4Gi"), disk("/dev/xvdb", "200Gi", throughput=500)]
    pool = node_pool("gpu", required(labels.INSTANCE_GPU_NAME, "l40s"))
    return node_class("gpu", {"alias": "bottlerocket@v1.65.0"}, blockDeviceMappings=volumes), pool


def karpenter_on_local_disks() -> tuple[Resource, ...]:
    """Karpenter's own advice for images and scratch on NVMe: the volume may then stay as it comes."""
    pool = node_pool("gpu", required(labels.INSTANCE_TYPE, "p5.48xlarge", "p4d.24xlarge"))
    volumes = [disk("/dev/xvda", "20Gi", throughput=None)]
    return node_class(
        "gpu", {"alias": "al2023@v20260724"}, instanceStorePolicy="RAID0", blockDeviceMappings=volumes
    ), pool


def cpu_pools() -> tuple[Resource, ...]:
    """Pools for everything else, on whatever disk and image: no GPU depends on them."""
    default = node_class("default", {"alias": "al2023@latest"}, blockDeviceMappings=[])
    pool = node_pool("default", required(labels.INSTANCE_CATEGORY, "c", "m", "r"), taints=[])
    bare = examples.resource(
        tokens.NODE_POOL, "default", {**pool.props, "spec": {**spec_of(pool), "limits": {"cpu": 9}}}
    )
    group = {"instanceTypes": ["m7i.large"], "diskSize": 20, "updateConfig": {"maxUnavailablePercentage": 100}}
    return default, bare, examples.resource(tokens.NODE_GROUP, "system", group)


def spec_of(resource: Resource) -> dict[str, object]:
    spec = resource.props["spec"]
    assert isinstance(spec, dict)
    return spec


SHAPES = {
    "terraform-aws-eks, translated": module_group,
    "terraform-aws-eks with adapters": adapters_group,
    "a capacity block": capacity_block,
    "a reservation on demand": reserved_group,
    "Bottlerocket with two volumes": bottlerocket_group,
    "the component of pulumi-eks": component,
    "Karpenter, dated alias": karpenter_by_alias,
    "Karpenter, image by id": karpenter_by_id,
    "Karpenter on Bottlerocket": karpenter_on_bottlerocket,
    "Karpenter on local disks": karpenter_on_local_disks,
    "CPU pools": cpu_pools,
}


def report_on(*program: Resource, environment: Environment = Environment.PROD) -> Report:
    options = Options(today=TODAY)
    return evaluate(program, environment=environment, rules=RULES, today=TODAY, options=options)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("environment", Environment)
def test_a_right_shape_passes_every_rule_on_nodes(
    shape: Callable[[], tuple[Resource, ...]], environment: Environment
) -> None:
    report = report_on(*shape(), environment=environment)
    assert list(report.lines())[:-1] == []
    assert report.not_evaluated == ()


def test_cpu_pools_beside_gpu_pools_are_left_alone() -> None:
    report = report_on(*cpu_pools(), *karpenter_on_bottlerocket(), *module_group())
    assert not {"default", "system"} & {finding.resource for finding in report.findings}


def test_nodes_of_eks_auto_mode_are_its_own_business() -> None:
    reference = {"group": labels.EKS_AUTO_DOMAIN, "kind": "NodeClass", "name": "default"}
    pool = node_pool("gpu", required("eks.amazonaws.com/instance-family", "g6e"), nodeClassRef=reference)
    report = report_on(pool)
    assert report.findings == ()
    assert {item.rule for item in report.not_evaluated} == {"NODE001"}
