from __future__ import annotations

import pytest

from eks_gpu.facts import labels, namespaces, resources, taints
from eks_gpu.facts.taints import Effect, Taint

TAINTS = [value for value in vars(taints).values() if isinstance(value, Taint)]


@pytest.mark.parametrize("taint", TAINTS, ids=str)
def test_n05_a_toleration_admits_exactly_its_taint(taint: Taint) -> None:
    toleration = taint.toleration()
    assert toleration["operator"] == "Equal"
    assert {key: toleration[key] for key in ("key", "value", "effect")} == taint.kubernetes()


@pytest.mark.parametrize("taint", TAINTS, ids=str)
def test_eks_spells_the_same_taint_with_its_own_effect(taint: Taint) -> None:
    assert taint.eks()["key"] == taint.key
    assert taint.eks()["value"] == taint.value
    assert taint.eks()["effect"].replace("_", "").lower() == taint.effect.value.lower()


def test_effects_are_those_of_kubernetes_and_of_the_eks_api() -> None:
    assert [effect.value for effect in Effect] == ["NoSchedule", "PreferNoSchedule", "NoExecute"]
    assert [effect.eks for effect in Effect] == ["NO_SCHEDULE", "PREFER_NO_SCHEDULE", "NO_EXECUTE"]


def test_n05_the_gpu_taint_is_the_one_that_nvidias_charts_tolerate() -> None:
    assert str(taints.GPU) == "nvidia.com/gpu=present:NoSchedule"
    assert taints.GPU.key == resources.GPU


def test_taints_are_plain_text_for_yaml() -> None:
    assert all(type(value) is str for taint in TAINTS for value in taint.kubernetes().values())
    assert all(type(value) is str for taint in TAINTS for value in taint.toleration().values())


def test_n04_every_gpu_pool_carries_the_same_labels() -> None:
    assert labels.pool_labels("a10g", "inference") == {
        "accelerator": "nvidia",
        "nvidia.com/gpu.present": "true",
        "gpu-type": "a10g",
        "workload": "inference",
    }


def test_pool_labels_are_a_new_dict_each_time() -> None:
    labels.pool_labels("a10g", "inference").clear()
    assert labels.pool_labels("a10g", "inference")


def test_karpenter_allows_every_key_of_its_domain_that_we_use() -> None:
    used = {
        value
        for name, value in vars(labels).items()
        if isinstance(value, str) and value.startswith(f"{labels.KARPENTER_AWS_DOMAIN}/") and name.isupper()
    }
    assert labels.INSTANCE_GPU_NAME in used
    assert used <= labels.KARPENTER_AWS_ALLOWED


def test_n04_labels_that_appear_after_boot_are_none_that_pools_carry() -> None:
    assert labels.AFTER_BOOT.isdisjoint(labels.pool_labels("a10g", "inference"))
    assert labels.AFTER_BOOT.isdisjoint(labels.KARPENTER_AWS_ALLOWED)


@pytest.mark.parametrize(
    ("profile", "name"), [("1g.5gb", "nvidia.com/mig-1g.5gb"), ("1g.5gb+me", "nvidia.com/mig-1g.5gb.me")]
)
def test_a_mig_profile_is_a_resource(profile: str, name: str) -> None:
    assert resources.mig(profile) == name
    assert resources.is_gpu(name)


@pytest.mark.parametrize("name", [resources.CPU, resources.MEMORY, resources.EFA, "nvidia.com/other", ""])
def test_other_resources_are_no_gpu(name: str) -> None:
    assert not resources.is_gpu(name)


def test_w13_a_quota_counts_requests() -> None:
    assert resources.quota(resources.GPU) == "requests.nvidia.com/gpu"


def test_namespaces_and_service_accounts_are_kubernetes_names() -> None:
    accounts = [value for value in vars(namespaces).values() if isinstance(value, namespaces.ServiceAccount)]
    assert accounts
    for account in accounts:
        for name in (account.namespace, account.name):
            assert name == name.lower()
            assert name.replace("-", "").isalnum()
