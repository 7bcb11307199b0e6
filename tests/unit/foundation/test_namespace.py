from __future__ import annotations

import pulumi
import pytest

from eks_gpu.foundation.namespace import Namespace, NamespaceArgs, PodSecurity
from eks_gpu.recording import record

NAMESPACE = "kubernetes:core/v1:Namespace"


@pytest.mark.parametrize("level", PodSecurity)
def test_a_namespace_enforces_its_level_and_warns_of_the_strictest(level: PodSecurity) -> None:
    namespace = record(lambda: Namespace("team", NamespaceArgs(namespace="research", pod_security=level)))
    assert namespace.one(NAMESPACE)["metadata"] == {
        "name": "research",
        "labels": {
            "pod-security.kubernetes.io/enforce": level.value,
            "pod-security.kubernetes.io/warn": "restricted",
        },
    }


def test_its_name_is_known_before_there_is_a_cluster() -> None:
    def program() -> None:
        args = NamespaceArgs(namespace="research", pod_security=PodSecurity.BASELINE)
        assert Namespace("team", args).namespace == "research"

    record(program)


def test_a_namespace_without_a_name_is_refused() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match="namespace: is missing"):
        record(lambda: Namespace("team", NamespaceArgs(namespace="", pod_security=PodSecurity.BASELINE)))
