"""PodDisruptionBudgets: which pods they select, and whether they ever let one go."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary, proxy

from eks_gpu.facts import labels as keys
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.requirements import Requirement
from eks_gpu_policies import tokens
from eks_gpu_policies.readers.namespaces import namespace_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget."""

    resource: Resource
    wanted: tuple[Requirement, ...]
    """What it asks of pods' labels; nothing for every pod of its namespace."""

    @property
    def said(self) -> str:
        """What it says, as its manifest does."""
        spec = self.resource.view["spec"]
        keys_of = ("maxUnavailable", "minAvailable")
        return ", ".join(f"{key} {value}" for key in keys_of if (value := spec[key].text()) is not None)

    def never_lets_go(self, pods: int) -> bool:
        """Return whether it never lets one of ``pods`` pods be evicted."""
        spec = self.resource.view["spec"]
        unavailable, available = spec["maxUnavailable"].text(), spec["minAvailable"].text()
        if unavailable is not None:
            return quantity(unavailable.removesuffix("%")) == 0
        if available is None:
            return False
        least = quantity(available.removesuffix("%"))
        if least is None:
            return False
        # Kubernetes rounds a share up: 60 % of two pods are both.
        return math.ceil(least * pods / _WHOLE if available.endswith("%") else least) >= pods


_WHOLE: Final = 100


class Budgets:
    """The PodDisruptionBudgets of a stack, found by one of the labels that they ask for."""

    def __init__(self, stack: Stack) -> None:
        """Read those of ``stack``."""
        # A cache that held its key would never be emptied.
        self._stack: Stack = proxy(stack)
        self._by_label: dict[tuple[str, str, str], list[Budget]] = {}
        self._others: dict[str, list[Budget]] = {}
        self.unclear: list[NotKnown] = []
        """Why some of them may select any pod, for all that is known."""
        for resource in stack.of_type(tokens.POD_DISRUPTION_BUDGET):
            problem = attempt(self._add, resource)
            if isinstance(problem, NotKnown):
                self.unclear.append(problem)

    def _add(self, resource: Resource) -> None:
        namespace = namespace_of(resource, self._stack)
        selector = resource.view.at("spec", "selector")
        if not selector.exists:
            return
        fixed = selector["matchLabels"].text_map()
        wanted = (*(Requirement(key, "In", (value,)) for key, value in fixed.items()), *_expressions(selector))
        budget = Budget(resource, wanted)
        indexed = {key: value for key, value in fixed.items() if _is_seen(key)}
        if indexed:
            key, value = min(indexed.items())
            self._by_label.setdefault((namespace, key, value), []).append(budget)
        else:
            self._others.setdefault(namespace, []).append(budget)

    def of(self, pod: PodTemplate) -> tuple[Budget, ...]:
        """Return those that select a pod.

        Raises:
            NotKnownError: none is known to, and one may.

        """
        owner = self._stack.by_urn[pod.urn]
        namespace = namespace_of(owner, self._stack)
        labels = labels_of(pod, owner)
        candidates = [
            *(budget for pair in labels.items() for budget in self._by_label.get((namespace, *pair), ())),
            *self._others.get(namespace, ()),
            *(self._by_owner(namespace) if isinstance(attempt(owner.kubernetes_name), NotKnown) else ()),
        ]
        verdicts = [(budget, attempt(_selects, budget, labels, pod)) for budget in candidates]
        found = tuple(budget for budget, verdict in verdicts if verdict is True)
        open_questions = [verdict for _, verdict in verdicts if isinstance(verdict, NotKnown)] + self.unclear
        if not found and open_questions:
            raise NotKnownError(open_questions[0])
        return found

    def _by_owner(self, namespace: str) -> Iterator[Budget]:
        """Yield those that ask for the name of the pods' owner."""
        for (where, key, _), found in self._by_label.items():
            if where == namespace and key in _OWNERS:
                yield from found


_OWNERS: Final = frozenset(key for given in keys.OWNER_NAME.values() for key in given)


def _is_seen(key: str) -> bool:
    """Return whether a label is one that pods are known to have or not."""
    return key in _OWNERS or not key.startswith(keys.BY_CONTROLLERS)


def _expressions(selector: View) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(item["key"].text() or "", item["operator"].text() or "", item["values"].texts())
        for item in selector["matchExpressions"].items()
    )


def labels_of(pod: PodTemplate, owner: Resource) -> Mapping[str, str]:
    """Return the labels of a workload's pods, with its name where its controller labels them with it."""
    name = attempt(owner.kubernetes_name)
    given = dict.fromkeys(_owned(pod), name) if isinstance(name, str) else {}
    return {**given, **need(pod.labels)}


def _owned(pod: PodTemplate) -> tuple[str, ...]:
    return keys.OWNER_NAME.get(pod.owner_kind, ())


def _selects(budget: Budget, labels: Mapping[str, str], pod: PodTemplate) -> bool:
    for wanted in budget.wanted:
        if wanted.key not in labels and (wanted.key.startswith(keys.BY_CONTROLLERS) or wanted.key in _owned(pod)):
            raise NotKnownError(pod.spec.not_known(f"the controller of the pods sets their label {wanted.key}"))
        if not wanted.admits(labels.get(wanted.key)):
            return False
    return True


_CACHE: Final[WeakKeyDictionary[Stack, Budgets]] = WeakKeyDictionary()


def budgets(stack: Stack) -> Budgets:
    """Return the PodDisruptionBudgets of a stack, which are read once."""
    if stack not in _CACHE:
        _CACHE[stack] = Budgets(stack)
    return _CACHE[stack]


def held_by(pod: PodTemplate, pods: int, stack: Stack) -> bool:
    """Return whether a PodDisruptionBudget never lets one of a workload's ``pods`` pods go."""
    return any(budget.never_lets_go(pods) for budget in budgets(stack).of(pod))
