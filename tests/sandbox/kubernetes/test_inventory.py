from __future__ import annotations

from collections.abc import Mapping

import pytest

from sandbox.kubernetes.inventory import BASELINE_LABEL, Item, beyond_bare


def test_what_somebody_made_counts() -> None:
    made = [
        _item("Namespace", "monitoring"),
        _item("ConfigMap", "settings", namespace="kube-system"),
        _item("ServiceAccount", "karpenter", namespace="kube-system"),
        _item("ClusterRole", "karpenter"),
        _item("PriorityClass", "gpu"),
        _item("FlowSchema", "own"),
        _item("Service", "kubernetes", namespace="monitoring"),
    ]

    assert beyond_bare(made) == made


@pytest.mark.parametrize(
    "item",
    [
        ("Namespace", "kube-system", "", {}, {}),
        ("ConfigMap", "kube-root-ca.crt", "monitoring", {}, {}),
        ("ConfigMap", "extension-apiserver-authentication", "kube-system", {}, {}),
        ("ServiceAccount", "default", "monitoring", {}, {}),
        ("ClusterRole", "system:node", "", {"kubernetes.io/bootstrapping": "rbac-defaults"}, {}),
        ("FlowSchema", "exempt", "", {}, {"apf.kubernetes.io/autoupdate-spec": "true"}),
        ("APIService", "v1.karpenter.sh", "", {"kube-aggregator.kubernetes.io/automanaged": "true"}, {}),
        ("PriorityClass", "system-node-critical", "", {}, {}),
        ("Service", "kubernetes", "default", {}, {}),
        ("ServiceCIDR", "kubernetes", "", {}, {}),
        ("StorageClass", "gp2", "", {BASELINE_LABEL: ""}, {}),
    ],
    ids=lambda item: f"{item[0]} {item[1]}",
)
def test_what_every_cluster_has_does_not(
    item: tuple[str, str, str, Mapping[str, str], Mapping[str, str]],
) -> None:
    kind, name, namespace, labels, annotations = item
    found = Item("v1", kind, namespace, name, labels, annotations, "id", frozenset())

    assert beyond_bare([found]) == []


def test_an_account_of_a_controller_is_told_by_the_role_that_is_made_for_it() -> None:
    account = _item("ServiceAccount", "job-controller", namespace="kube-system")
    role = Item(
        *("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:controller:job-controller"),
        *({"kubernetes.io/bootstrapping": "rbac-defaults"}, {}, "role", frozenset()),
    )

    assert beyond_bare([account]) == [account]
    assert beyond_bare([account, role]) == []


def test_what_goes_with_its_owner_is_counted_with_it_and_alone_if_that_is_gone() -> None:
    owner = _item("ReplicaSet", "web")
    pod = Item("v1", "Pod", "default", "web-1", {}, {}, "pod", frozenset({owner.uid}))

    assert beyond_bare([owner, pod]) == [owner]
    assert beyond_bare([pod]) == [pod]


def test_items_are_written_with_their_place() -> None:
    assert str(_item("Deployment", "karpenter", namespace="kube-system")) == "kube-system Deployment karpenter"
    assert str(_item("NodePool", "g5")) == "cluster NodePool g5"


def _item(kind: str, name: str, *, namespace: str = "") -> Item:
    return Item("v1", kind, namespace, name, {}, {}, f"{kind} {name}", frozenset())
