"""The cases in which pods meet pools. Their expected outcomes are what the documentation of the project promises."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import labels, resources, storage, taints
from tests.e2e.scheduling.case import Case, On, Pending, those
from tests.e2e.scheduling.emitted import SYSTEM, Block, Manifest, servers, stack_pools
from tests.e2e.scheduling.pods import GPU_TOLERATION, claim, daemon_set, gpu_pod, mounted, pod, required, where
from tests.e2e.scheduling.world import NAMESPACE

SPOT: Final = "spot"
ON_DEMAND: Final = "on-demand"
RESERVED: Final = "reserved"

NO_SPOT_ZONE: Final = "us-east-1c"
"""In this zone the market of the tests has no spot instance."""

RESERVED_ZONE: Final = "us-east-1b"
RESERVATION: Final = "cr-0123456789abcdef0"
"""A reservation of p4d.24xlarge that the market of the tests has in that zone."""

PROD: Final = {name: {**block, "validate_new_nodes": False} for name, block in stack_pools("prod").items()}
"""The pools of production. Nobody proves GPUs here, and new nodes would stay closed."""

G5, P4D = PROD["g5"], PROD["p4d"]
ONLY_G5: Final = {"g5": G5}

CHEAP: Final[Block] = {"instance_types": ("g4dn.xlarge",), "max_gpus": 1}
MIDDLE: Final[Block] = {"instance_types": ("g5.xlarge",), "max_gpus": 1}
GUARDED: Final[Block] = {"instance_types": ("p4d.24xlarge",), "max_gpus": 8}
"""A dear pool is dedicated if nobody says otherwise."""
DEAR: Final[Block] = {**GUARDED, "dedicated": False}

LARGE_AND_SMALL: Final[Block] = {"instance_types": ("g5.xlarge", "g5.12xlarge"), "max_gpus": 8}

GPU_TAINT: Final = f"did not tolerate taint (taint={taints.GPU})"
A100_TAINT: Final = f"did not tolerate taint (taint={taints.dedicated('a100')})"
TAKEN: Final = "what pods that run already take of a limit"
"""The planning module answers as for a pod that is alone."""
NO_ROOM: Final = "no instance type has enough resources"
FULL: Final = "all available instance types exceed limits for nodepool"

FOR_A100: Final = (taints.dedicated("a100").toleration(),)
EVERYTHING: Final = (taints.TOLERATE_EVERYTHING,)

TYPES: Final = (
    Case(
        name="n08: one GPU gets the cheapest type that has one, and spot before on-demand",
        pools=PROD,
        pods=those((gpu_pod("one", tolerations=[GPU_TOLERATION]), On("g5", "g5.xlarge", SPOT))),
    ),
    Case(
        name="n05: whoever asks for GPUs needs no toleration, because EKS adds one",
        pools=PROD,
        pods=those((gpu_pod("one"), On("g5", "g5.xlarge", SPOT))),
    ),
    Case(
        name="n03: a pod that needs all the cores that a type can give gets that type",
        pools=ONLY_G5,
        pods=those((gpu_pod("fits", cpu="3920m"), On("g5", "g5.xlarge"))),
    ),
    Case(
        name="n03: a pod that needs a millicore more gets the next one",
        pools=ONLY_G5,
        pods=those((gpu_pod("over", cpu="3921m"), On("g5", "g5.2xlarge"))),
    ),
    Case(
        name="n03: a pod that needs all the memory that a type can give gets that type",
        pools=ONLY_G5,
        pods=those((gpu_pod("fits", memory="14162Mi"), On("g5", "g5.xlarge"))),
    ),
    Case(
        name="n03: a pod that needs a mebibyte more gets the next one",
        pools=ONLY_G5,
        pods=those((gpu_pod("over", memory="14163Mi"), On("g5", "g5.2xlarge"))),
    ),
    Case(
        name="n03: a pod that no type of the pool has room for is pending",
        pools=ONLY_G5,
        pods=those(
            (gpu_pod("cores", cpu="9"), Pending(NO_ROOM)),
            (gpu_pod("memory", memory="30Gi"), Pending(NO_ROOM)),
            (gpu_pod("gpus", 2), Pending(NO_ROOM)),
        ),
    ),
    Case(
        name="n08: four GPUs get the type with four",
        pools={"g5": LARGE_AND_SMALL},
        pods=those((gpu_pod("four", 4), On("g5", "g5.12xlarge"))),
    ),
    Case(
        name="n08: eight GPUs get a p4d, when the pod consents to the pool's own taint",
        pools=PROD,
        pods=those((gpu_pod("eight", 8, tolerations=FOR_A100), On("p4d", "p4d.24xlarge", RESERVED, RESERVED_ZONE))),
    ),
    # Karpenter packs what is pending together as long as one type can hold it, then buys the cheapest of those: four
    # g5.xlarge would cost $4.02 an hour, the g5.12xlarge costs $5.67. A pool that should not lists no such type.
    Case(
        name="n08: four pods at once share a type with four GPUs, dear as it is, when the pool lists one",
        pools={"g5": LARGE_AND_SMALL},
        pods=those(*((gpu_pod(f"one-{n}"), On("g5", "g5.12xlarge")) for n in range(4))),
        pools_last=True,
    ),
)

TAINTS: Final = (
    Case(
        name="n05: slices and shares of a GPU need a toleration of their own",
        pools=PROD,
        pods=those(
            (pod("slice", asks={resources.mig("1g.5gb"): "1"}), Pending(GPU_TAINT)),
            (pod("share", asks={resources.GPU_SHARED: "1"}), Pending(GPU_TAINT)),
        ),
    ),
    Case(
        name="g04: slices of a GPU are never bought for, whatever the pod tolerates",
        pools=ONLY_G5,
        pods=those(
            (pod("slice", asks={resources.mig("1g.5gb"): "1"}, tolerations=[GPU_TOLERATION]), Pending(NO_ROOM)),
        ),
    ),
    Case(
        name="g04: nor are shares",
        pools=ONLY_G5,
        pods=those(
            (pod("share", asks={resources.GPU_SHARED: "1"}, tolerations=[GPU_TOLERATION]), Pending(NO_ROOM)),
        ),
    ),
    Case(
        name="n05: a pod without GPUs never makes Karpenter buy any",
        pools=PROD,
        pods=those((pod("plain"), Pending(GPU_TAINT, A100_TAINT))),
    ),
    Case(
        name="n05: a pod without GPUs stays off a GPU node that has cores to spare",
        pools=ONLY_G5,
        before=those((gpu_pod("server", cpu="5"), On("g5", "g5.2xlarge"))),
        pods=those((pod("plain", cpu="100m"), Pending(GPU_TAINT))),
    ),
    # As it is: no taint stops consent to everything. A rule refuses such tolerations on workloads.
    Case(
        name="n05: a pod without GPUs that tolerates everything gets a GPU node, if only the cheapest",
        pools=PROD,
        pods=those((pod("agent", tolerations=EVERYTHING), On("g5", "g5.xlarge", SPOT))),
    ),
)

_AGENT: Final = daemon_set("agent", cpu="500m", tolerations=[taints.TOLERATE_EVERYTHING])
_STRANGER: Final = daemon_set("stranger", cpu="500m")

DAEMON_SETS: Final = (
    Case(
        name="n05: what a DaemonSet takes of every node is not there for pods",
        pools=ONLY_G5,
        objects=(_AGENT,),
        pods=those((gpu_pod("one", cpu="3500m"), On("g5", "g5.2xlarge"))),
    ),
    Case(
        name="n05: a DaemonSet that does not tolerate the pool takes nothing of it",
        pools=ONLY_G5,
        objects=(_STRANGER,),
        pods=those((gpu_pod("one", cpu="3500m"), On("g5", "g5.xlarge"))),
    ),
)

SELECTORS: Final = (
    Case(
        name="n04: the gpu-type label picks the pool",
        pools=PROD,
        pods=those(
            (gpu_pod("small", nodeSelector={labels.GPU_TYPE: "a10g"}), On("g5", "g5.xlarge")),
            (
                gpu_pod("large", nodeSelector={labels.GPU_TYPE: "a100"}, tolerations=FOR_A100),
                On("p4d", "p4d.24xlarge"),
            ),
        ),
    ),
    Case(
        name="n04: so does Karpenter's own name of the GPU, which is known before a node is",
        pools=PROD,
        pods=those(
            (gpu_pod("small", nodeSelector={labels.INSTANCE_GPU_NAME: "a10g"}), On("g5", "g5.xlarge")),
            (
                gpu_pod("large", nodeSelector={labels.INSTANCE_GPU_NAME: "a100"}, tolerations=FOR_A100),
                On("p4d", "p4d.24xlarge"),
            ),
            (gpu_pod("unheard-of", nodeSelector={labels.INSTANCE_GPU_NAME: "h100"}), Pending("requirement")),
        ),
    ),
    Case(
        name="n04: one GPU name can have two memory sizes, and the size picks the pool",
        pools={"p4d": DEAR, "p4de": {**DEAR, "instance_types": ("p4de.24xlarge",)}},
        pods=those(
            (gpu_pod("40", nodeSelector={labels.INSTANCE_GPU_MEMORY: "40960"}), On("p4d", "p4d.24xlarge")),
            (gpu_pod("80", nodeSelector={labels.INSTANCE_GPU_MEMORY: "81920"}), On("p4de", "p4de.24xlarge")),
        ),
    ),
    Case(
        name="n04: a label that appears after boot never makes Karpenter buy",
        pools=ONLY_G5,
        pods=those((gpu_pod("waits", nodeSelector={labels.GFD_PRODUCT: "NVIDIA-A10G"}), Pending(labels.GFD_PRODUCT))),
    ),
    Case(
        name="n04: the workload label keeps servers off pools for training",
        pools={"g5": {**G5, "purpose": "training", "capacity": ("on-demand",)}},
        pods=those((gpu_pod("server", nodeSelector={labels.WORKLOAD: "inference"}), Pending(labels.WORKLOAD))),
    ),
    Case(
        name="n04: a pod may name the node pool",
        pools={"g5": G5, "g6": {"instance_types": ("g6.xlarge",), "max_gpus": 8}},
        pods=those((gpu_pod("named", nodeSelector={labels.KARPENTER_NODEPOOL: "g5"}), On("g5", "g5.xlarge"))),
    ),
    Case(
        name="n04: one of several affinity terms is enough",
        pools=PROD,
        pods=those(
            (
                gpu_pod(
                    "either",
                    affinity=required(
                        [where(labels.GPU_TYPE, "In", "h100")],
                        [where(labels.GPU_TYPE, "In", "a10g"), where(labels.INSTANCE_CPU, "Gt", "4")],
                    ),
                ),
                On("g5", "g5.2xlarge"),
            ),
        ),
    ),
    Case(
        name="the zone that a pod wants is the zone it gets, within those of the pool",
        pools=ONLY_G5,
        pods=those(
            (gpu_pod("inside", nodeSelector={labels.ZONE: "us-east-1b"}), On("g5", "g5.xlarge", zone="us-east-1b")),
            (gpu_pod("outside", nodeSelector={labels.ZONE: "us-east-1d"}), Pending(labels.ZONE)),
        ),
    ),
)

ORDER: Final = (
    Case(
        name="n12: with weights the cheapest pool comes first, whatever the names",
        pools={"a-cheap": CHEAP, "m-middle": MIDDLE, "z-dear": DEAR},
        pods=those((gpu_pod("one"), On("a-cheap", "g4dn.xlarge"))),
    ),
    Case(
        name="n12: when the cheapest is full the next one follows, not the last",
        pools={"a-cheap": CHEAP, "m-middle": MIDDLE, "z-dear": DEAR},
        before=those((gpu_pod("first"), On("a-cheap", "g4dn.xlarge"))),
        pods=those((gpu_pod("second"), On("m-middle", "g5.xlarge"))),
    ),
    Case(
        name="n12: one GPU never gets a dedicated p4d, not even when the cheap pool is full",
        pools={"g5": MIDDLE, "p4d": GUARDED},
        before=those((gpu_pod("first"), On("g5", "g5.xlarge"))),
        pods=those((gpu_pod("second"), Pending(FULL, A100_TAINT))),
        overlooked=TAKEN,
    ),
    Case(
        name="n12: nor one that is there already and has GPUs to spare",
        pools={"g5": MIDDLE, "p4d": {**GUARDED, "max_gpus": 16}},
        before=those(
            (gpu_pod("job", 4, tolerations=FOR_A100), On("p4d", "p4d.24xlarge")),
            (gpu_pod("first"), On("g5", "g5.xlarge")),
        ),
        pods=those((gpu_pod("second"), Pending(FULL, A100_TAINT))),
        overlooked=TAKEN,
    ),
    # As it is, and the reason why dear pools are dedicated: weights give an order, they keep nobody off.
    Case(
        name="n12: without a taint of its own the p4d is spilled into",
        pools={"g5": MIDDLE, "p4d": DEAR},
        before=those((gpu_pod("first"), On("g5", "g5.xlarge"))),
        pods=those((gpu_pod("second"), On("p4d", "p4d.24xlarge"))),
    ),
    Case(
        name="n12: pools of one price are tried by name from Z to A",
        pools={"alpha": {**MIDDLE, "max_gpus": 4}, "omega": {**MIDDLE, "max_gpus": 4}},
        pods=those((gpu_pod("one"), On("omega", "g5.xlarge"))),
    ),
)

LIMITS: Final = (
    Case(
        name="m05: a pool never holds more GPUs than its limit",
        pools={"g5": {**MIDDLE, "max_gpus": 2}},
        before=those((gpu_pod("first"), On("g5", "g5.xlarge")), (gpu_pod("second"), On("g5", "g5.xlarge"))),
        pods=those((gpu_pod("third"), Pending(FULL, "g5"))),
        overlooked=TAKEN,
    ),
    Case(
        name="m05: what is left of the limit must hold the whole instance",
        pools={"g5": {**LARGE_AND_SMALL, "max_gpus": 6}},
        before=those((gpu_pod("four", 4), On("g5", "g5.12xlarge"))),
        pods=those(
            (gpu_pod("another-four", 4), Pending(NO_ROOM)),
            (gpu_pod("one", nodeSelector={labels.INSTANCE_TYPE: "g5.xlarge"}), On("g5", "g5.xlarge")),
        ),
        overlooked=TAKEN,
    ),
)

CAPACITY: Final = (
    Case(
        name="n09: where there is no spot instance to be had, on-demand takes its place",
        pools={"g5": {**G5, "zones": (NO_SPOT_ZONE,)}},
        pods=those((gpu_pod("one"), On("g5", "g5.xlarge", ON_DEMAND, NO_SPOT_ZONE))),
    ),
    Case(
        name="n09: a pool of spot alone has nothing then",
        pools={"g5": {**G5, "capacity": (SPOT,), "zones": (NO_SPOT_ZONE,)}},
        pods=those((gpu_pod("one"), Pending("requirement"))),
        overlooked="what EC2 has at hand",
    ),
    Case(
        name="n09: a pod that refuses spot gets on-demand although spot is cheaper",
        pools=ONLY_G5,
        pods=those((gpu_pod("one", nodeSelector={labels.CAPACITY_TYPE: ON_DEMAND}), On("g5", "g5.xlarge", ON_DEMAND))),
    ),
    Case(
        name="n11: reserved capacity comes before any other, in the zone where it is",
        pools={
            "p4d": {
                **DEAR,
                "capacity": ("on-demand", "reserved"),
                "reservation": {"capacity_block_id": RESERVATION},
            }
        },
        pods=those((gpu_pod("job", 8), On("p4d", "p4d.24xlarge", RESERVED, RESERVED_ZONE))),
    ),
)

VOLUMES: Final = (
    Case(
        name="s01: a pod follows its EBS volume into its zone",
        pools=ONLY_G5,
        objects=tuple(claim("disk", NAMESPACE, driver=storage.EBS_DRIVER, zone="us-east-1b")),
        pods=those((gpu_pod("one", volumes=mounted("disk")), On("g5", "g5.xlarge", zone="us-east-1b"))),
    ),
    Case(
        name="s01: a volume in a zone without the pool keeps its pod pending",
        pools={"g5": {**G5, "zones": ("us-east-1a",)}},
        objects=tuple(claim("disk", NAMESPACE, driver=storage.EBS_DRIVER, zone="us-east-1b")),
        pods=those((gpu_pod("one", volumes=mounted("disk")), Pending(labels.ZONE))),
    ),
)

_CACHE: Final = "model-cache"
_FILES: Final = tuple(claim(_CACHE, NAMESPACE, driver=storage.EFS_DRIVER))
_MISTRAL: Final = {"model": "mistralai/Mistral-7B-Instruct-v0.3"}


def _server(kind: str, **block: object) -> Manifest:
    (deployment,) = servers({kind: block}, namespace=NAMESPACE, claim=_CACHE)
    return deployment


WORKLOADS: Final = (
    Case(
        name="w07: a vLLM server as we emit it gets a node with the memory it needs, in a zone that sells it as spot",
        pools=PROD,
        objects=_FILES,
        pods=those((_server("vllm", **_MISTRAL, gpu_types=("a10g",)), On("g5", "g5.2xlarge", SPOT))),
    ),
    Case(
        name="w07: with three cores and less memory it fits the smallest",
        pools=PROD,
        objects=_FILES,
        pods=those(
            (
                _server(
                    "vllm", **_MISTRAL, gpu_types=("a10g",), cpu_per_gpu=3, memory_gib_per_gpu=12, shared_memory_gib=4
                ),
                On("g5", "g5.xlarge"),
            )
        ),
    ),
    Case(
        name="w02: a server on four GPUs gets one node that has them",
        pools={"g5": {"instance_types": ("g5.xlarge", "g5.12xlarge", "g5.24xlarge"), "max_gpus": 8}},
        objects=_FILES,
        pods=those((_server("vllm", **_MISTRAL, gpu_types=("a10g",), gpus=4), On("g5", "g5.12xlarge"))),
    ),
    Case(
        name="w02: the first of a server's GPU models is preferred, though another pool is cheaper",
        pools={"g5": G5, "g6": {"instance_types": ("g6.2xlarge",), "max_gpus": 8}},
        objects=_FILES,
        pods=those((_server("vllm", **_MISTRAL, gpu_types=("a10g", "l4")), On("g5", "g5.2xlarge"))),
    ),
    Case(
        name="w02: the second model is fallen back on when the first has none left",
        pools={
            "g5": {**MIDDLE, "instance_types": ("g5.2xlarge",)},
            "g6": {"instance_types": ("g6.2xlarge",), "max_gpus": 8},
        },
        objects=_FILES,
        before=those((gpu_pod("taken", nodeSelector={labels.GPU_TYPE: "a10g"}), On("g5", "g5.2xlarge"))),
        pods=those((_server("vllm", **_MISTRAL, gpu_types=("a10g", "l4")), On("g6", "g6.2xlarge"))),
    ),
    Case(
        name="n04: a server stays off training pools even if it names their GPU",
        pools=PROD,
        objects=_FILES,
        pods=those((_server("vllm", **_MISTRAL, gpu_types=("a100",)), Pending(labels.WORKLOAD))),
    ),
    Case(
        name="w10: a Triton server as we emit it is placed, too",
        pools=PROD,
        objects=_FILES,
        pods=those(
            (
                _server("triton", gpu_types=("a10g",), model_size_gb=10, full_image_reason="every backend is used"),
                On("g5", "g5.2xlarge"),
            )
        ),
    ),
)

_GPU_GROUP: Final[Block] = {"instance_types": ("g5.2xlarge",), "count": 1}

GROUPS: Final = (
    Case(
        name="n05: a pod without GPUs runs on a system node, though a GPU node has more room",
        pools=ONLY_G5,
        groups={SYSTEM: {"instance_types": ("m7i.xlarge",)}},
        before=those((gpu_pod("server", cpu="5"), On("g5", "g5.2xlarge"))),
        pods=those((pod("plain", cpu="500m"), On(SYSTEM, "m7i.xlarge"))),
    ),
    Case(
        name="n08: a GPU of a managed group that is free is taken before one is bought",
        pools=PROD,
        groups={"inference": _GPU_GROUP},
        pods=those((gpu_pod("one"), On("inference", "g5.2xlarge"))),
    ),
    Case(
        name="n08: Karpenter buys when the managed group has no GPU left",
        pools=PROD,
        groups={"inference": _GPU_GROUP},
        before=those((gpu_pod("first"), On("inference", "g5.2xlarge"))),
        pods=those((gpu_pod("second"), On("g5", "g5.xlarge"))),
    ),
    Case(
        name="w02: a server as we emit it runs on a managed group as well as on a pool",
        pools={"p4d": P4D},
        groups={"inference": _GPU_GROUP},
        objects=_FILES,
        pods=those((_server("vllm", **_MISTRAL, gpu_types=("a10g",)), On("inference", "g5.2xlarge"))),
    ),
)

CASES: Final = (*TYPES, *TAINTS, *DAEMON_SETS, *SELECTORS, *ORDER, *LIMITS, *CAPACITY, *VOLUMES, *WORKLOADS, *GROUPS)
