"""SEC003: GPU services are not public."""

from __future__ import annotations

from eks_gpu.facts import load_balancers
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes, unknown

SERVER = examples.deployment()
SPEC = {"containers": [examples.container()]}


def service(
    selector: object = None, *, annotations: object = None, namespace: str | None = None, **spec: object
) -> Resource:
    metadata = {"name": "llm", "annotations": annotations or {}} | ({"namespace": namespace} if namespace else {})
    chosen = {"app": "llm"} if selector is None else selector
    ports = [{"name": "http", "port": 8000}, {"name": "grpc", "port": 8001}]
    props = {"metadata": metadata, "spec": {"type": "LoadBalancer", "selector": chosen, "ports": ports, **spec}}
    return examples.resource(tokens.SERVICE, "front", props)


def test_w14_a_public_load_balancer_before_gpu_pods_fails_with_port_and_selector() -> None:
    assert complaint(judge("SEC003", service(), SERVER)) == (
        "opens ports 8000, 8001 of llm, which it selects by app=llm: its load balancer faces the internet and has no "
        "source ranges"
    )


def test_w14_internal_and_restricted_ones_pass() -> None:
    assert passes(judge("SEC003", service(annotations={load_balancers.INTERNAL: "true"}), SERVER))
    nlb = {load_balancers.TYPE: "external", load_balancers.SCHEME: "internal"}
    assert passes(judge("SEC003", service(annotations=nlb), SERVER))
    assert passes(judge("SEC003", service(loadBalancerClass="service.k8s.aws/nlb"), SERVER))
    assert passes(judge("SEC003", service(loadBalancerSourceRanges=["10.0.0.0/8"]), SERVER))


def test_w14_ranges_for_everybody_are_none() -> None:
    message = complaint(judge("SEC003", service(loadBalancerSourceRanges=["0.0.0.0/0"]), SERVER))
    assert message.endswith("its source ranges admit everybody (0.0.0.0/0)")


def test_a_load_balancer_of_somebody_unknown_is_left_open() -> None:
    assert left_open(judge("SEC003", service(loadBalancerClass="tailscale"), SERVER)) == ["spec.loadBalancerClass"]
    assert passes(
        judge("SEC003", service(loadBalancerClass="tailscale", annotations={load_balancers.INTERNAL: "true"}), SERVER)
    )


def test_w14_labels_that_controllers_set_are_selected_by_too() -> None:
    pod = {"metadata": {"labels": {"role": "leader"}}, "spec": SPEC}
    kind = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
    metadata = {"name": "vllm"}
    group = examples.resource(
        kind, "g", {"metadata": metadata, "spec": {"leaderWorkerTemplate": {"leaderTemplate": pod}}}
    )
    name = "leaderworkerset.sigs.k8s.io/name"
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    chosen = {name: "vllm", "role": "leader"}
    assert "by leaderworkerset.sigs.k8s.io/name=vllm, role=leader" in complaint(judge("SEC003", service(chosen), group))
    assert not_concerned(judge("SEC003", service({**chosen, name: "other"}), group))
    assert not_concerned(judge("SEC003", service({**chosen, "role": "worker"}), group))
    later = judge("SEC003", service({**chosen, index: "0"}), group)
    assert left_open(later) == ["spec.leaderWorkerTemplate.leaderTemplate.spec"]
    assert not_concerned(judge("SEC003", service({index: "0"}), group))


def test_other_types_of_services_are_not_concerned() -> None:
    assert not_concerned(judge("SEC003", service(type="ClusterIP"), SERVER))
    assert not_concerned(judge("SEC003", service(type="NodePort"), SERVER))


def test_gpu_pods_without_a_service_are_not_concerned() -> None:
    assert not_concerned(judge("SEC003", SERVER))


def test_services_before_other_pods_are_not_concerned() -> None:
    web = examples.deployment(examples.container(resources={}), name="web")
    assert not_concerned(judge("SEC003", service({"app": "web"}), web, SERVER))
    assert not_concerned(judge("SEC003", service({"app": "llm", "tier": "front"}), SERVER))
    assert not_concerned(judge("SEC003", service({}), SERVER))


def test_a_service_without_any_gpu_pod_in_the_stack_is_not_concerned() -> None:
    assert not_concerned(judge("SEC003", unknown(service(), "spec.type")))
    assert judge("SEC003", unknown(service(), "spec.type")).not_evaluated == ()


def test_pods_of_another_namespace_are_not_behind_it() -> None:
    there = changed(SERVER, "metadata.namespace", "inference")
    assert not_concerned(judge("SEC003", service(namespace="web"), there))
    assert "opens" in complaint(judge("SEC003", service(namespace="inference"), there))


def test_pods_that_claim_devices_are_gpu_pods() -> None:
    claiming = examples.deployment(examples.container(resources={"claims": [{"name": "gpu"}]}))
    assert "opens" in complaint(judge("SEC003", service(), claiming))


def test_unknown_types_labels_and_annotations_are_left_open() -> None:
    assert left_open(judge("SEC003", unknown(service(), "spec.type"), SERVER)) == ["spec.type"]
    assert left_open(judge("SEC003", unknown(service(), "metadata.annotations"), SERVER)) == ["metadata.annotations"]
    nameless = unknown(SERVER, "spec.template.metadata.labels")
    assert left_open(judge("SEC003", service(), nameless)) == ["spec.template.metadata.labels"]
    assert passes(judge("SEC003", service(loadBalancerSourceRanges=["10.0.0.0/8"]), nameless))


def test_pods_that_may_ask_for_gpus_are_left_open() -> None:
    assert left_open(judge("SEC003", service(), unknown(SERVER, "spec.template.spec.containers.0.resources"))) == [
        "spec.template.spec.containers[0].resources"
    ]
    assert len(left_open(judge("SEC003", service(), unknown(SERVER, "spec")))) == 1
    web = unknown(examples.deployment(name="web"), "spec.template.spec.containers")
    assert not_concerned(judge("SEC003", service(), web))


def test_an_unknown_namespace_is_left_open() -> None:
    assert left_open(judge("SEC003", service(), changed(SERVER, "metadata.namespace", UNKNOWN))) == [
        "metadata.namespace"
    ]
