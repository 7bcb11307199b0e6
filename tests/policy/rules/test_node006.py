"""NODE006: the AMI is pinned."""

from __future__ import annotations

import pytest

from eks_gpu_policies import examples, tokens
from eks_gpu_policies.rule import Environment, Level
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes, unknown

POOL = examples.node_pool()
TEMPLATE = examples.launch_template()


@pytest.mark.parametrize(
    "term",
    [
        {"alias": "al2023@v20260724"},
        {"id": "ami-0123456789abcdef0"},
        {"name": "amazon-eks-node-al2023-x86_64-nvidia-1.35-v20260724", "owner": "amazon"},
        {"name": "Xavier-gpu-1"},
        {"ssmParameter": "/acme/gpu"},
        {"ssmParameter": "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/v20260724/image_id"},
    ],
)
def test_n07_an_exact_image_passes(term: dict[str, object]) -> None:
    assert passes(judge("NODE006", examples.node_class(amiSelectorTerms=[term]), POOL))


@pytest.mark.parametrize(
    ("term", "says"),
    [
        ({"alias": "al2023@latest"}, "follows the alias al2023@latest"),
        ({"alias": "bottlerocket"}, "follows the alias bottlerocket"),
        (
            {"ssmParameter": "/aws/service/eks/optimized-ami/1.35/x/nvidia/recommended/image_id"},
            "follows the SSM parameter",
        ),
        ({"name": "amazon-eks-node-*", "owner": "amazon"}, "newest image named amazon-eks-node-*"),
        ({"name": "acme-gpu-?"}, "newest image named acme-gpu-?"),
        ({"tags": {"team": "ml"}}, "newest image with the tags team"),
    ],
)
def test_n07_an_image_that_moves_fails(term: dict[str, object], says: str) -> None:
    assert says in complaint(judge("NODE006", examples.node_class(amiSelectorTerms=[term]), POOL))


def test_n07_a_node_group_without_release_and_image_fails() -> None:
    message = complaint(judge("NODE006", TEMPLATE, examples.node_group(TEMPLATE, releaseVersion=None)))
    assert message.startswith("names no release and no image (releaseVersion, a template's imageId, amiSelectorTerms)")


def test_n07_a_launch_templates_image_is_a_pin_unless_ec2_looks_it_up() -> None:
    own = examples.launch_template(imageId="ami-0123456789abcdef0")
    assert passes(judge("NODE006", own, examples.node_group(own, releaseVersion=None, amiType=None)))
    moving = examples.launch_template(imageId="resolve:ssm:/my/image")
    group = examples.node_group(moving, releaseVersion=None, amiType=None)
    assert "follows the SSM parameter" in complaint(judge("NODE006", moving, group))


def test_an_image_outside_the_approved_ones_fails() -> None:
    approved = {"approvedImages": ["al2023@v20260101"]}
    report = judge("NODE006", examples.node_class(), POOL, options=approved)
    assert complaint(report) == ("boots al2023@v20260724, which is not among the 1 approved image (approvedImages)")
    assert report.findings[0].fix.startswith("boot one of the images in approvedImages")
    two = judge("NODE006", examples.node_class(), POOL, options={"approvedImages": ["ami-1", "ami-2"]})
    assert "the 2 approved images" in complaint(two)
    assert passes(judge("NODE006", examples.node_class(), POOL, options={"approvedImages": ["al2023@v20260724"]}))


def test_an_approved_parameter_is_spelled_with_or_without_what_has_ec2_look_it_up() -> None:
    template = examples.launch_template(imageId="resolve:ssm:/my/image:7")
    nodes = examples.node_group(template, releaseVersion=None, amiType=None)
    for spelled in ("/my/image:7", "resolve:ssm:/my/image:7"):
        assert passes(judge("NODE006", template, nodes, options={"approvedImages": [spelled]}))
    assert "boots resolve:ssm:/my/image:7" in complaint(
        judge("NODE006", template, nodes, options={"approvedImages": ["/my/image:8"]})
    )


def test_each_of_several_terms_is_judged() -> None:
    node_class = examples.node_class(amiSelectorTerms=[{"name": "a-*"}, {"id": "ami-1"}, {"tags": {"x": "y"}}])
    assert len(messages(judge("NODE006", node_class, POOL))["g5"]) == 2


def test_it_binds_in_prod_and_advises_elsewhere() -> None:
    resources = (examples.node_class(amiSelectorTerms=[{"alias": "al2023@latest"}]), POOL)
    levels = {env: judge("NODE006", *resources, environment=env).findings[0].level for env in Environment}
    assert levels == {
        Environment.DEV: Level.ADVISORY,
        Environment.STAGING: Level.ADVISORY,
        Environment.PROD: Level.MANDATORY,
    }


def test_n07_the_component_drops_the_release_beside_user_data_of_its_own() -> None:
    given = {"instanceTypes": ["g5.xlarge"], "amiType": "AL2023_x86_64_NVIDIA", "releaseVersion": "1.35.6-20260724"}
    assert passes(judge("NODE006", examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", given)))
    told = {**given, "nodeadmExtraOptions": []}
    report = judge("NODE006", examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", told))
    assert "whatever is newest of AL2023_x86_64_NVIDIA" in complaint(report)
    own = {"instanceTypes": ["g5.xlarge"], "amiId": "ami-0123", "kubeletExtraArgs": "-v=2"}
    assert passes(judge("NODE006", examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", own)))


def test_an_unknown_image_is_left_open() -> None:
    node_class = unknown(examples.node_class(), "spec.amiSelectorTerms.0.alias")
    assert set(left_open(judge("NODE006", node_class, POOL))) == {"spec.amiSelectorTerms[0].alias"}


def test_a_node_class_that_is_not_in_the_stack_is_left_open() -> None:
    assert left_open(judge("NODE006", POOL)) == ["spec.template.spec.nodeClassRef.name"]


def test_pools_without_gpus_are_not_concerned() -> None:
    node_class = examples.node_class(amiSelectorTerms=[{"alias": "al2023@latest"}])
    assert not_concerned(judge("NODE006", node_class, examples.node_pool(types=("m7i.large",), taints=())))


@pytest.mark.parametrize(
    ("parameter", "moves"),
    [
        ("/my/image:7", False),
        (
            (
                "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/"
                "amazon-eks-node-al2023-x86_64-nvidia-1.35-v20260724/image_id"
            ),
            False,
        ),
        ("/aws/service/bottlerocket/aws-k8s-1.35-nvidia/x86_64/1.65.0/image_id", False),
        ("/aws/service/bottlerocket/aws-k8s-1.35-nvidia/x86_64/latest/image_id", True),
        ("/aws/service/canonical/ubuntu/eks/24.04/1.35/stable/current/amd64/hvm/ebs-gp3/ami-id", True),
        ("/my/image", True),
    ],
)
def test_n07_a_parameter_looked_up_by_version_or_release_stays_what_it_is(parameter: str, moves: bool) -> None:
    template = examples.launch_template(imageId=f"resolve:ssm:{parameter}")
    group = examples.node_group(template, releaseVersion=None, amiType=None)
    assert (not passes(judge("NODE006", template, group))) is moves


def test_a_module_whose_input_for_the_image_is_never_used_boots_what_nobody_approved() -> None:
    approved = {"approvedImages": ["ami-0aaaaaaaaaaaaaaaa"]}
    own = examples.launch_template(imageId="ami-0bbbbbbbbbbbbbbbb")
    group = examples.node_group(own, amiType=None, releaseVersion=None)
    assert "ami-0bbbbbbbbbbbbbbbb" in complaint(judge("NODE006", own, group, options=approved))
    ignored = examples.node_group(TEMPLATE, releaseVersion=None)
    assert "names no release and no image" in complaint(judge("NODE006", TEMPLATE, ignored, options=approved))
