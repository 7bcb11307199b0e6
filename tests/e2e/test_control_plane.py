from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from eks_gpu.facts import resources, taints
from sandbox.checkout import DIRECTORY_VARIABLE, ROOT, Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import control_plane, layout, ports, records, usage
from sandbox.kubernetes.api import NOT_FOUND, Api, Manifest, RefusedError, connect
from sandbox.ports import HOST
from sandbox.processes import start_time
from tests.support.cluster import Cluster, eventually

PARTS = {
    *("charts", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"),
    "node-side",
}


def test_every_part_runs_and_says_what_memory_it_takes(cluster: Cluster) -> None:
    usages = usage.of(cluster.checkout)

    assert {one.part for one in usages} >= PARTS
    for one in usages:
        assert 0 < one.resident_bytes <= one.peak_bytes
        assert one.uptime_seconds >= 0
    assert usage.total_bytes(usages) < 2 * 1024**3


def test_nothing_listens_anywhere_but_on_loopback(cluster: Cluster) -> None:
    listening = _listening([one.pid for one in usage.of(cluster.checkout)])

    assert {address for address, _ in listening} == {HOST}
    assert {port for _, port in listening} <= set(ports.reserve(cluster.checkout).values())


def test_nobody_is_let_in_without_a_token_and_nobody_into_etcd(cluster: Cluster) -> None:
    trust = ssl.create_default_context(cafile=str(layout.credentials(cluster.checkout) / "ca.crt"))
    with pytest.raises(HTTPError, match="403"):
        urlopen(f"{cluster.plane.endpoint}/api/v1/secrets", context=trust)  # noqa: S310 - https

    etcd = f"https://{HOST}:{ports.of(cluster.checkout, ports.ETCD)}/version"
    with pytest.raises(OSError, match=r"certificate required|bad certificate|Connection reset|EOF"):
        urlopen(etcd, context=trust)


def test_secrets_are_for_their_owner_alone(cluster: Cluster) -> None:
    folder = layout.folder(cluster.checkout)
    secret = [cluster.plane.kubeconfig, *layout.credentials(cluster.checkout).iterdir()]

    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(secret) > 10
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in secret} == {path.name: "0o600" for path in secret}


def test_a_secret_is_on_no_command_line(cluster: Cluster) -> None:
    lines = [Path(f"/proc/{one.pid}/cmdline").read_bytes() for one in usage.of(cluster.checkout)]

    assert not any(cluster.plane.token.encode() in line for line in lines)


def test_starting_what_runs_changes_nothing(cluster: Cluster) -> None:
    before = {record.name: record for record in records.read_all(cluster.checkout)}

    assert control_plane.start(cluster.checkout) == cluster.plane
    assert {record.name: record for record in records.read_all(cluster.checkout)} == before


def test_providers_find_it_only_if_the_run_uses_it(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EKS_GPU_SANDBOX_KUBERNETES", raising=False)
    assert control_plane.in_use() is None

    monkeypatch.setenv("EKS_GPU_SANDBOX_KUBERNETES", "/the/provider")
    assert control_plane.in_use() == cluster.plane


def test_a_bare_cluster_holds_nothing_and_what_is_put_in_is_found(cluster: Cluster, kube: Api) -> None:
    assert cluster.contents() == []

    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "one"}})
    kube.apply(_deployment("one"))
    kube.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}})
    eventually(lambda: kube.list("v1", "Pod", "one"), "a pod of the deployment")

    # Neither the pods and the replica set, which go with the deployment, nor what every namespace has.
    assert cluster.contents() == ["cluster ClusterRole reader", "cluster Namespace one", "one Deployment sleeper"]


def test_an_object_whose_owner_is_gone_counts(cluster: Cluster, kube: Api) -> None:
    owner = kube.apply(_config_map("owner"))
    kept = _config_map("kept")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    kept["metadata"]["ownerReferences"] = [reference]
    # The garbage collector would take it: a finalizer stands for whatever keeps it.
    kept["metadata"]["finalizers"] = ["eks-gpu.example/kept"]
    kube.apply(kept)
    assert cluster.contents() == ["default ConfigMap owner"]

    kube.delete("v1", "ConfigMap", "owner", "default")

    assert eventually(cluster.contents, "what is left") == ["default ConfigMap kept"]
    kube.patch({**_config_map("kept"), "metadata": {"name": "kept", "namespace": "default", "finalizers": None}})


def test_custom_resources_are_known_as_soon_as_they_are_defined(cluster: Cluster, kube: Api) -> None:
    assert kube.get("example.com/v1", "Widget", "one", "default") is None

    kube.apply(_definition())
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {"size": 3},
    }
    eventually(lambda: _accepted(kube, widget), "the kind Widget")

    assert "default Widget one" in cluster.contents()
    with pytest.raises(RefusedError, match="must be small"):
        kube.apply({**widget, "spec": {"size": 30}}, dry_run=True)
    with pytest.raises(RefusedError, match="sise"):
        kube.apply({**widget, "spec": {"sise": 3}}, dry_run=True)

    kube.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com")
    eventually(lambda: not cluster.contents(), "the end of the definition and of its objects")


def test_a_dry_run_judges_and_leaves_nothing(cluster: Cluster, kube: Api) -> None:
    assert kube.apply(_config_map("never"), dry_run=True)["metadata"]["name"] == "never"
    assert kube.get("v1", "ConfigMap", "never", "default") is None
    with pytest.raises(RefusedError, match="datta"):
        kube.create({**_config_map("never"), "datta": {}}, dry_run=True)
    assert not any(event.created for event in cluster.audited("configmaps") if event.name == "never")


def test_admission_lets_a_pod_that_asks_for_gpus_tolerate_their_taint(kube: Api) -> None:
    asking = kube.create(_pod({resources.GPU: "1"}), dry_run=True)["spec"]["tolerations"]
    other = kube.create(_pod({"cpu": "1"}), dry_run=True)["spec"]["tolerations"]

    def tolerated(found: list[Manifest]) -> set[str]:
        return {toleration["key"] for toleration in found}

    assert tolerated(asking) - tolerated(other) == {taints.GPU.key}


def test_the_audit_log_tells_who_did_what_in_which_order(cluster: Cluster, kube: Api) -> None:
    kube.apply(_config_map("first"))
    kube.create(_config_map("second"))
    kube.delete("v1", "ConfigMap", "first", "default")

    told = [
        (event.name, "created" if event.created else "deleted", event.user, event.agent)
        for event in cluster.audited("configmaps")
        if event.name in {"first", "second"} and (event.created or event.deleted)
    ]

    me = ("eks-gpu-sandbox", "eks-gpu-sandbox")
    assert told[-3:] == [("first", "created", *me), ("second", "created", *me), ("first", "deleted", *me)]


def test_objects_and_address_survive_a_stop(cluster: Cluster, kube: Api) -> None:
    kube.apply(_config_map("survivor"))
    before = [one.pid for one in usage.of(cluster.checkout)]

    assert control_plane.stop(cluster.checkout)
    assert not any(start_time(pid) for pid in before)
    assert control_plane.running(cluster.checkout) is None
    assert not control_plane.stop(cluster.checkout)

    assert control_plane.start(cluster.checkout) == cluster.plane
    assert kube.get("v1", "ConfigMap", "survivor", "default") is not None


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_part_that_was_killed_is_started_again_and_the_others_are_left_alone(
    cluster: Cluster, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {record.name: record.pid for record in records.read_all(cluster.checkout)}
    os.kill(before[name], signal.SIGKILL)
    eventually(lambda: not start_time(before[name]), f"the end of {name}")

    assert control_plane.start(cluster.checkout) == cluster.plane

    after = {record.name: record.pid for record in records.read_all(cluster.checkout)}
    assert {part for part in before if before[part] != after[part]} == {name}
    assert f"{name} had ended by itself, and is started again; its log is " in capsys.readouterr().err


def test_two_sandboxes_on_one_machine_do_not_know_of_each_other(cluster: Cluster, kube: Api, spare: Checkout) -> None:
    other = Cluster(spare, control_plane.start(spare))
    other.restore()
    kube.apply(_config_map("here"))
    with connect(other.plane) as there:
        assert there.get("v1", "ConfigMap", "here", "default") is None
        there.apply(_config_map("there"))
    assert other.contents() == ["default ConfigMap there"]
    assert cluster.contents() == ["default ConfigMap here"]
    assert not _reserved(cluster.checkout) & _reserved(other.checkout)

    control_plane.stop(other.checkout)

    assert control_plane.running(cluster.checkout) == cluster.plane
    assert kube.get("v1", "ConfigMap", "here", "default") is not None


def test_a_token_of_another_sandbox_opens_nothing(cluster: Cluster, spare: Checkout) -> None:
    other = control_plane.start(spare)
    stolen = control_plane.ControlPlane(
        other.endpoint, other.certificate_authority, cluster.plane.token, other.kubeconfig
    )

    with pytest.raises(Exception, match="401"), connect(stolen) as api:
        api.list("v1", "Secret")


def test_its_port_in_the_hands_of_another_program_is_one_sentence(spare: Checkout) -> None:
    plane = control_plane.start(spare)
    control_plane.stop(spare)
    port = ports.of(spare, ports.API_SERVER)

    with _listener(port), pytest.raises(SandboxError) as refused:
        control_plane.start(spare)

    assert str(refused.value) == (
        f"port {port} of this machine, at which the Kubernetes of this sandbox answers, is used by process "
        f"{os.getpid()}; end that program and run again, or `make clean-sandbox` to forget everything and begin at "
        "another port"
    )
    assert control_plane.start(spare) == plane


def test_any_other_port_that_is_taken_is_given_up(spare: Checkout) -> None:
    plane = control_plane.start(spare)
    control_plane.stop(spare)
    before = ports.reserve(spare)

    with _listener(before[ports.ETCD]):
        assert control_plane.start(spare) == plane

    after = ports.reserve(spare)
    assert {name for name in before if before[name] != after[name]} == {ports.ETCD}


def test_a_wipe_forgets_objects_secrets_and_processes(spare: Checkout) -> None:
    first = control_plane.start(spare)
    with connect(first) as api:
        api.apply(_config_map("forgotten"))
    pids = [one.pid for one in usage.of(spare)]

    control_plane.wipe(spare)

    assert not any(start_time(pid) for pid in pids)
    assert not layout.folder(spare).exists()
    control_plane.wipe(spare)

    second = control_plane.start(spare)
    assert second.token != first.token
    with connect(second) as api:
        assert api.get("v1", "ConfigMap", "forgotten", "default") is None


def test_a_part_that_cannot_run_is_named_with_its_log_and_the_next_start_goes_on(
    spare: Checkout,
) -> None:
    control_plane.start(spare)
    control_plane.stop(spare)
    damaged = layout.stages(spare)
    whole = damaged.read_text()
    damaged.write_text(whole.splitlines()[0] + "\nkind: Nonsense: nonsense\n")
    try:
        with pytest.raises(SandboxError) as refused:
            control_plane.start(spare)
    finally:
        damaged.unlink()

    first, *said = str(refused.value).splitlines()
    assert first == f"kwok ended with exit code 1; its log is {spare.logs / 'kwok.log'}"
    assert said
    control_plane.start(spare)
    assert damaged.read_text() == whole


def test_no_process_outlives_the_folder_of_its_sandbox(spare: Checkout) -> None:
    control_plane.start(spare)
    pids = [one.pid for one in usage.of(spare)]

    shutil.rmtree(spare.directory)

    assert eventually(lambda: not any(start_time(pid) for pid in pids), "the end of every part")


def test_an_interrupted_start_can_be_continued_and_stopped(spare: Checkout) -> None:
    control_plane.stop(spare)
    environment = {**os.environ, DIRECTORY_VARIABLE: str(spare.directory), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sandbox.kubernetes", "start"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as starting:
        eventually(lambda: records.read(spare, "kube-apiserver"), "the start of the API server")
        starting.send_signal(signal.SIGINT)
        assert starting.stderr is not None
        assert starting.stderr.read().splitlines()[-1].startswith("interrupted; the same command goes on from there")
    assert starting.returncode == 130
    begun = {record.pid for record in records.read_all(spare)}

    control_plane.start(spare)
    assert begun <= {record.pid for record in records.read_all(spare)}

    pids = [one.pid for one in usage.of(spare)]
    assert control_plane.stop(spare)
    assert not any(start_time(pid) for pid in pids)


@contextmanager
def _listener(port: int) -> Iterator[None]:
    with socket.socket() as stranger:
        # As every server does: connections that are just ending do not keep it from the port.
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind((HOST, port))
        stranger.listen()
        yield


def _listening(pids: list[int]) -> set[tuple[str, int]]:
    """Return address and port of everything that these processes listen at."""
    inodes = {
        str(link.readlink()).removeprefix("socket:[").removesuffix("]")
        for pid in pids
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if link.is_symlink() and str(link.readlink()).startswith("socket:[")
    }
    found = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                address, port = fields[1].split(":")
                # Four bytes at a time, each four in the machine's own order.
                groups = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
                found.add((socket.inet_ntop(family, b"".join(groups)), int(port, 16)))
    return found


def _reserved(checkout: Checkout) -> set[int]:
    return set(ports.reserve(checkout).values())


def _accepted(kube: Api, manifest: Manifest) -> bool:
    try:
        kube.apply(manifest)
    except RefusedError as error:
        if error.status == NOT_FOUND:
            return False
        raise
    return True


def _config_map(name: str) -> Manifest:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}


def _pod(limits: dict[str, str]) -> Manifest:
    container = {"name": "main", "image": "example.com/main:1", "resources": {"limits": limits}}
    metadata = {"name": "asking", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def _deployment(namespace: str) -> Manifest:
    labels = {"app": "sleeper"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "example.com/a:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "sleeper", "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def _definition() -> Manifest:
    rule = {"rule": "self < 10", "message": "must be small"}
    size = {"type": "integer", "x-kubernetes-validations": [rule]}
    spec = {"type": "object", "properties": {"size": size}}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
