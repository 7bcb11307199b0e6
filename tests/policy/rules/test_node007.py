"""NODE007: the AMI can drive the GPU."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

TEMPLATE = examples.launch_template()
OPEN_POOL = [{"key": labels.INSTANCE_CPU, "operator": "Gt", "values": ["7"]}]


def group(**props: object) -> tuple[Resource, Resource]:
    return TEMPLATE, examples.node_group(TEMPLATE, **props)


def with_image(image: str, **props: object) -> tuple[Resource, Resource]:
    template = examples.launch_template(imageId=image)
    return template, examples.node_group(template, amiType=None, releaseVersion=None, **props)


def component(**props: object) -> Resource:
    return examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", {"instanceTypes": ["g5.xlarge"], **props})


def pool(*terms: object, requirements: object = None, **spec: object) -> tuple[Resource, Resource]:
    nodes = examples.node_pool()
    if requirements is not None:
        nodes = changed(nodes, "spec.template.spec.requirements", requirements)
    return examples.node_class(amiSelectorTerms=list(terms), **spec), nodes


@pytest.mark.parametrize(
    "name", ["AL2023_x86_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA_FIPS"]
)
def test_n07_an_nvidia_image_passes(name: str) -> None:
    assert passes(judge("NODE007", *group(amiType=name)))


def test_an_nvidia_image_that_nobody_knows_yet_passes() -> None:
    assert passes(judge("NODE007", *group(amiType="AL2025_x86_64_NVIDIA")))


@pytest.mark.parametrize("name", ["AL2023_x86_64_STANDARD", "BOTTLEROCKET_x86_64", "AL2023_x86_64_NEURON"])
def test_n07_an_image_without_the_driver_fails(name: str) -> None:
    assert complaint(judge("NODE007", *group(amiType=name))) == (
        f"has the AMI type {name}, which brings no NVIDIA driver"
    )


def test_n07_amazon_linux_2_has_ended() -> None:
    assert "no images since November 2025" in complaint(judge("NODE007", *group(amiType="AL2_x86_64_GPU")))


def test_n07_no_ami_type_is_eks_own_choice_which_has_no_driver() -> None:
    assert "names no AMI type" in complaint(judge("NODE007", *group(amiType=None)))


def test_g02_the_architecture_is_that_of_every_type() -> None:
    wrong = complaint(
        judge("NODE007", *group(amiType="AL2023_ARM_64_NVIDIA", instanceTypes=["g5.xlarge", "g5g.xlarge"]))
    )
    assert wrong == "boots the AMI type AL2023_ARM_64_NVIDIA, which is for arm64 and does not run on g5.xlarge"
    assert passes(judge("NODE007", *group(amiType="AL2023_ARM_64_NVIDIA", instanceTypes=["g5g.xlarge"])))


def test_an_image_of_ones_own_is_taken_at_its_word() -> None:
    assert passes(judge("NODE007", *with_image("ami-0123456789abcdef0")))
    custom = examples.launch_template(imageId="ami-0123456789abcdef0")
    assert passes(judge("NODE007", custom, examples.node_group(custom, amiType="CUSTOM", releaseVersion=None)))


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/nvidia/recommended/image_id", None),
        (
            "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id",
            "no NVIDIA driver",
        ),
        ("/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/arm64/nvidia/recommended/image_id", "for arm64"),
        ("/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id", "November 2025"),
        ("/aws/service/bottlerocket/aws-k8s-1.34-nvidia/x86_64/latest/image_id", None),
        ("/aws/service/bottlerocket/aws-k8s-1.34/x86_64/latest/image_id", "no NVIDIA driver"),
        ("/aws/service/canonical/ubuntu/eks/24.04/1.34/stable/current/amd64/hvm/ebs-gp3/ami-id", None),
        ("/acme/images/gpu", None),
    ],
)
def test_n07_a_public_parameter_says_what_it_leads_to(parameter: str, said: str | None) -> None:
    report = judge("NODE007", *with_image(f"resolve:ssm:{parameter}"))
    assert passes(report) if said is None else said in complaint(report)


def test_g02_the_component_that_says_gpu_alone_boots_the_standard_image() -> None:
    assert "gpu alone chooses no image" in complaint(judge("NODE007", component(gpu=True)))
    assert passes(judge("NODE007", component(gpu=True, operatingSystem="AL2023")))
    assert passes(judge("NODE007", component(gpu=True, amiType="AL2023_x86_64_NVIDIA")))
    assert passes(judge("NODE007", component(gpu=True, nodeadmExtraOptions=[])))
    assert passes(judge("NODE007", component(amiId="ami-0123")))


@pytest.mark.parametrize(
    "told",
    [{"operatingSystem": "AL2023"}, {"operatingSystem": "Bottlerocket", "gpu": False}, {"kubeletExtraArgs": "-v=2"}],
)
def test_g02_the_component_that_chooses_without_gpu_takes_the_standard_image(told: dict[str, object]) -> None:
    report = judge("NODE007", component(**told))
    assert "does not say gpu" in complaint(report)
    assert report.findings[0].fix.startswith("say gpu: true")


def test_a_component_that_may_say_gpu_is_left_open() -> None:
    assert left_open(judge("NODE007", unknown(component(gpu=True, operatingSystem="AL2023"), "gpu"))) == ["gpu"]


def test_an_ami_type_beside_an_image_of_ones_own_is_refused_for_that() -> None:
    template = examples.launch_template(imageId="ami-0123")
    nodes = examples.node_group(template, amiType="AL2023_x86_64_STANDARD", releaseVersion=None)
    report = judge("NODE007", template, nodes)
    assert complaint(report) == (
        "has the AMI type AL2023_x86_64_STANDARD beside an image of its own, which EKS refuses"
    )
    assert "leave amiType out" in report.findings[0].fix


def test_n07_karpenters_aliases_choose_the_nvidia_image_by_themselves() -> None:
    for alias in ("al2023@v20260724", "bottlerocket@v1.66.0", "al2023@latest"):
        assert passes(judge("NODE007", *pool({"alias": alias})))
    assert "no images since November 2025" in complaint(judge("NODE007", *pool({"alias": "al2@v20250920"})))


def test_n07_an_alias_goes_with_a_pool_of_any_types() -> None:
    gpus = {"key": labels.INSTANCE_CATEGORY, "operator": "In", "values": ["g", "m"]}
    assert passes(judge("NODE007", *pool({"alias": "al2023@v20260724"}, requirements=[gpus])))


@pytest.mark.parametrize("more", [[], [{"id": "ami-0123"}]])
def test_n07_an_image_of_amazon_linux_2_that_is_named_is_told_once(more: list[object]) -> None:
    name = "amazon-eks-gpu-node-1.32-v20250920"
    report = judge("NODE007", *pool({"name": name}, *more, amiFamily="AL2"))
    assert complaint(report).startswith(f"boots {name}: Amazon Linux 2")


def test_g02_karpenter_buys_those_types_of_a_pool_that_an_image_is_for() -> None:
    name = "amazon-eks-node-al2023-x86_64-nvidia-1.34-v20260724"
    node_class = examples.node_class(amiSelectorTerms=[{"name": name}], amiFamily="AL2023")
    assert passes(judge("NODE007", node_class, examples.node_pool(types=("g5.xlarge", "g5g.xlarge"))))
    neither = judge("NODE007", node_class, examples.node_pool(types=("g5g.xlarge", "g5g.2xlarge")))
    assert complaint(neither) == f"boots {name}, which is for amd64 and does not run on g5g.xlarge, g5g.2xlarge"


@pytest.mark.parametrize(
    "term",
    [
        {"id": "ami-0123"},
        {"tags": {"team": "ml"}},
        {"name": "amazon-eks-node-al2023-x86_64-nvidia-1.34-v20260724"},
        {"ssmParameter": "/acme/gpu"},
    ],
)
def test_g02_an_image_chosen_for_all_types_needs_a_pool_of_gpu_types_only(term: object) -> None:
    assert passes(judge("NODE007", *pool(term, amiFamily="AL2023")))
    report = judge("NODE007", *pool(term, amiFamily="AL2023", requirements=OPEN_POOL))
    assert "boots on every type that the pool may buy" in complaint(report)


@pytest.mark.parametrize(
    "requirement",
    [
        {"key": labels.INSTANCE_GPU_COUNT, "operator": "Gt", "values": ["0"]},
        {"key": labels.INSTANCE_GPU_NAME, "operator": "Exists"},
        {"key": labels.INSTANCE_GPU_MANUFACTURER, "operator": "In", "values": ["nvidia"]},
        {"key": labels.INSTANCE_FAMILY, "operator": "In", "values": ["g5", "g6e"]},
        {"key": labels.INSTANCE_CATEGORY, "operator": "In", "values": ["g", "p"]},
    ],
)
def test_g02_any_of_these_limits_a_pool_to_gpu_types(requirement: object) -> None:
    assert passes(judge("NODE007", *pool({"id": "ami-0123"}, amiFamily="AL2023", requirements=[requirement])))


def test_g02_a_requirement_that_lets_others_in_does_not() -> None:
    for key, values in ((labels.INSTANCE_FAMILY, ["g5", "m5"]), (labels.INSTANCE_CATEGORY, ["g", "c"])):
        requirement = {"key": key, "operator": "In", "values": values}
        report = judge("NODE007", *pool({"id": "ami-0123"}, amiFamily="AL2023", requirements=[requirement]))
        assert "nothing limits the pool" in complaint(report)


def test_n07_a_name_of_a_standard_image_fails() -> None:
    found = messages(
        judge("NODE007", *pool({"name": "amazon-eks-node-al2023-x86_64-standard-1.34-*"}, amiFamily="AL2023"))
    )
    assert found == {
        "g5": ["boots amazon-eks-node-al2023-x86_64-standard-1.34-*, which brings no NVIDIA driver"],
    }


def test_an_unknown_type_is_left_open() -> None:
    nodes = unknown(examples.node_group(TEMPLATE), "amiType")
    assert left_open(judge("NODE007", TEMPLATE, nodes)) == ["amiType"]


def test_a_template_that_is_not_in_the_stack_leaves_open_whether_it_has_an_image() -> None:
    nodes = examples.node_group(launchTemplate={"id": "lt-1", "version": "1"}, amiType=None)
    assert set(left_open(judge("NODE007", nodes))) == {"launchTemplate"}


def test_cpu_groups_are_not_concerned() -> None:
    assert not_concerned(judge("NODE007", *group(instanceTypes=["m5.large"], amiType="AL2023_x86_64_STANDARD")))
