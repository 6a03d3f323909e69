"""Values and gradients against PyTorch's functions, where JAX has nothing to compare with."""

import operator
from collections.abc import Sequence
from typing import Any

from tests.oracle.oracles import oracle
from tests.rules.checks import close, recorded
from tests.rules.grouping import for_each
from tests.rules.rows import ROWS
from tests.rules.table import Case, Row

torch: Any = oracle("torch")

CASES = [Case(row, kind) for row in ROWS for kind in row.kinds_in_torch]


def counterpart(row: Row) -> Any:
    return row.torch(torch) if callable(row.torch) else operator.attrgetter(row.torch)(torch)


def tensors(arrays: Sequence[Any]) -> list[Any]:
    return [torch.tensor(array) for array in arrays]


def value_and_pulled(case: Case, cotangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Compute by PyTorch; its cotangents belong to the same real inner product as ours."""
    leaves = [leaf.requires_grad_() for leaf in tensors(case.leaves())]
    operands = tensors(case.primals())
    for position, leaf in zip(case.row.differentiable, leaves, strict=True):
        operands[position] = leaf
    outputs = case.row.apply(operands, counterpart(case.row))
    pulled = torch.autograd.grad(outputs, leaves, tensors(cotangents))
    return [out.detach().numpy() for out in outputs], [p.resolve_conj().numpy() for p in pulled]


@for_each(CASES)
def test_values_and_gradients_are_those_of_pytorch(case: Case) -> None:
    run = recorded(case.row, case.primals())
    cotangents = case.cotangents(run.outputs)
    values, pulled = value_and_pulled(case, cotangents)
    close(run.values, values, 1e-13)
    close(run.pull(cotangents), pulled, 1e-12)


def test_pytorch_is_compared_with_where_it_can_be() -> None:
    assert len({case.row.function for case in CASES}) >= 15
