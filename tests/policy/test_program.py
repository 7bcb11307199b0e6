"""Finding resources: by name, and by what was computed from them."""

from __future__ import annotations

import dataclasses

from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.program import Program, once


def test_objects_are_found_by_the_name_that_kubernetes_knows() -> None:
    first, second, unclear = examples.node_class("a"), examples.node_class("b"), examples.node_class("c")
    unclear = dataclasses.replace(unclear, props={"metadata": UNKNOWN})
    program = Program((first, second, unclear))
    assert program.named(tokens.NODE_CLASS, "b") == (second,)
    assert program.named(tokens.NODE_CLASS, "c") == ()
    assert program.named(tokens.CONFIG_MAP, "b") == ()


def test_users_are_found_by_origin_directly_or_as_its_component() -> None:
    component = examples.resource("my:index:Storage", "storage", {})
    models = dataclasses.replace(examples.resource(tokens.FILE_SYSTEM, "models", {}), parent=component.urn)
    other = examples.resource(tokens.FILE_SYSTEM, "other", {})
    direct = examples.resource(tokens.MOUNT_TARGET, "direct", {}, fileSystemId=(models,))
    through = examples.resource(tokens.MOUNT_TARGET, "through", {}, fileSystemId=(component,))
    program = Program((component, models, other, direct, through))
    assert program.users_of(models, "fileSystemId", tokens.MOUNT_TARGET) == (direct, through)
    assert program.users_of(other, "fileSystemId", tokens.MOUNT_TARGET) == ()


def test_what_is_asked_of_a_program_is_found_once_even_when_it_is_not_known() -> None:
    asked: list[Program] = []

    @once
    def count(program: Program) -> int:
        asked.append(program)
        return len(program.by_urn)

    @once
    def unclear(program: Program) -> int:
        asked.append(program)
        raise NotKnownError(NotKnown("urn", "spec"))

    small, large = Program(()), Program((examples.node_class("a"),))
    assert [count(small), count(large), count(small), count(large)] == [0, 1, 0, 1]
    assert [attempt(unclear, small), attempt(unclear, small)] == [NotKnown("urn", "spec")] * 2
    assert asked == [small, large, small]
