"""Primitives, spaces and helpers of HIPS autograd, for programs that extend it."""

import warnings
from typing import Any

import numpy as np
import pytest

import tape_ad.interop.autograd as ag
import tape_ad.interop.autograd.numpy as anp
from tape_ad.errors import NoModeError, OutputError, UnsupportedArgumentError
from tape_ad.interop.autograd import core, extend
from tape_ad.interop.autograd.misc import flatten
from tape_ad.interop.autograd.misc.fixed_points import fixed_point
from tape_ad.interop.autograd.misc.flatten import flatten_func
from tape_ad.interop.autograd.numpy.numpy_vjps import (
    match_complex,
    repeat_to_match_shape,
    unbroadcast_f,
)
from tape_ad.interop.autograd.test_util import check_grads
from tests.interop.autograd.running import same

VECTOR = np.array([2.0, 3.0])


# Primitives


def test_a_primitive_without_a_derivative_says_so() -> None:
    plain = extend.primitive(lambda x: x**2)
    with pytest.raises(NotImplementedError, match=r"VJP .* not defined") as error:
        ag.grad(plain)(2.0)
    assert isinstance(error.value, NoModeError)
    with pytest.raises(NotImplementedError, match=r"JVP .* not defined"):
        ag.make_jvp(plain)(2.0)(1.0)


def test_a_derivative_of_some_arguments_says_so_for_the_others() -> None:
    product = extend.primitive(lambda x, y: x * y)
    extend.defvjp(product, lambda ans, x, y: lambda g: g * x, argnums=[1])
    extend.defjvp(product, lambda g, ans, x, y: g * x, argnums=[1])
    assert ag.grad(product, 1)(2.0, 3.0) == 2.0
    with pytest.raises(NotImplementedError, match=r"VJP .*\(0,\) not defined"):
        ag.grad(product, 0)(2.0, 3.0)
    with pytest.raises(NotImplementedError, match=r"JVP .*\(0,\) not defined"):
        ag.deriv(product, 0)(2.0, 3.0)


def test_none_is_for_arguments_that_nothing_depends_on() -> None:
    product = extend.primitive(lambda x, y: x * 1.0)
    extend.defvjp(product, lambda ans, x, y: lambda g: g, None)
    extend.defjvp(product, "same", None)
    assert ag.grad(lambda x: product(x, x))(2.0) == 1.0
    assert ag.deriv(lambda x: product(x, x))(2.0) == 1.0


def test_a_primitive_takes_structures_and_gives_them() -> None:
    @extend.primitive
    def split(tree: Any) -> Any:
        return {"sum": tree[0] + tree[1], "product": tree[0] * tree[1]}

    def vjp(ans: Any, tree: Any) -> Any:
        x, y = tree
        return lambda g: (g["sum"] + y * g["product"], g["sum"] + x * g["product"])

    extend.defvjp(split, vjp)
    f = lambda x, y: split((x, y))["sum"] + 10 * split((x, y))["product"]  # noqa: E731 - as above
    assert ag.grad(f, (0, 1))(2.0, 3.0) == (31.0, 21.0)


def test_a_vjp_may_be_sparse() -> None:
    first = extend.primitive(lambda x: x[0])

    def vjp(ans: Any, x: Any) -> Any:
        def pulled(g: Any) -> Any:
            def add(total: Any) -> Any:
                total[0] += g
                return total

            return extend.SparseObject(extend.vspace(x), add)

        return pulled

    extend.defvjp(first, vjp)
    assert ag.grad(lambda x: first(x) * 3)(VECTOR).tolist() == [3.0, 0.0]


def test_a_linear_primitive_pushes_tangents_by_itself() -> None:
    product = extend.primitive(lambda x, y: x * y)
    extend.def_linear(product)
    same(ag.deriv(lambda x: product(x, x**2))(VECTOR), 3 * VECTOR**2)


def test_a_primitive_may_be_constant() -> None:
    silent = extend.notrace_primitive(float)
    assert ag.grad(lambda x: x * silent(x))(2.2) == 2.2


def test_a_handle_by_keyword_is_refused_by_a_primitive() -> None:
    plain = extend.primitive(lambda x, y=1.0: x * y)
    extend.defvjp(plain, lambda ans, x, y=1.0: lambda g: g * y)
    assert ag.grad(lambda x: plain(x, y=2.0))(3.0) == 2.0
    with pytest.raises(UnsupportedArgumentError, match="by position"):
        ag.grad(lambda x: plain(3.0, y=x))(3.0)


def test_numpys_functions_get_no_other_derivatives() -> None:
    with pytest.raises(UnsupportedArgumentError, match="sin is no primitive"):
        extend.defvjp(anp.sin, lambda ans, x: lambda g: g)


def test_a_vjp_that_gives_the_wrong_number_of_cotangents_is_refused() -> None:
    pair = extend.primitive(lambda x, y: x * y)
    extend.defvjp_argnums(pair, lambda argnums, ans, args, kwargs: lambda g: [g])
    with pytest.raises(OutputError, match="1 cotangents for the 2 arguments"):
        ag.grad(pair, (0, 1))(2.0, 3.0)


# Spaces, flattening, fixed points, checks


def test_spaces_know_their_vectors() -> None:
    tree = {"a": [VECTOR, 1.0], "b": 2j}
    space = extend.vspace(tree)
    assert space.size == 5
    assert len(list(space.standard_basis())) == 5
    assert space == extend.vspace({"a": [VECTOR + 1, 5.0], "b": 0j})
    assert space != extend.vspace({"a": [VECTOR, 1.0], "b": 2.0})
    total = space.add(tree, space.scalar_mul(space.ones(), 2.0))
    same(total["a"][0], VECTOR + 2)
    assert total["b"] == 2 + 4j
    assert space.inner_prod(tree, space.covector(tree)) == 4 + 9 + 1 - 4
    assert extend.vspace(VECTOR).mut_add(None, VECTOR).tolist() == VECTOR.tolist()
    with pytest.raises(TypeError, match="no space for 3 "):
        extend.vspace(3)


def test_flattening_goes_there_and_back_and_is_differentiated() -> None:
    tree = {"b": (1.0, np.arange(4.0).reshape(2, 2)), "a": [np.array([7.0])]}
    vector, unflatten = flatten(tree)
    assert vector.tolist() == [7.0, 1.0, 0.0, 1.0, 2.0, 3.0]
    back = unflatten(vector)
    assert list(back) == ["b", "a"]
    assert type(back["b"]) is tuple
    same(back["b"][1], tree["b"][1])
    slope = ag.grad(lambda v: np.sum(unflatten(v)["b"][1] ** 2) * unflatten(v)["b"][0])(vector)
    assert slope.tolist() == [0.0, 14.0, 0.0, 2.0, 4.0, 6.0]
    of_tree = ag.grad(lambda tree: np.sum(flatten(tree)[0] ** 2))(tree)
    same(of_tree["b"][1], 2 * tree["b"][1])
    assert flatten([])[0].size == 0
    func, _, start = flatten_func(lambda tree: {"x": tree["a"] * 2}, {"a": VECTOR})
    same(func(start), 2 * VECTOR)


def test_a_fixed_point_has_the_derivative_of_what_it_solves() -> None:
    def root(a: Any) -> Any:
        step = lambda a: lambda x: (x + a / x) / 2  # noqa: E731 - as above
        return fixed_point(step, a, 10.0, lambda x, y: np.abs(x - y), 1e-12)

    same(ag.grad(root)(2.0), 0.5 / np.sqrt(2.0))
    np.testing.assert_allclose(ag.grad(ag.grad(root))(2.0), -0.25 * 2.0**-1.5, rtol=1e-9)


def test_the_checks_find_a_wrong_derivative() -> None:
    check_grads(lambda x, y: np.sin(x) * y, (0, 1), order=3)(VECTOR, 2.0)
    check_grads(np.sin)(1 + 2j)
    check_grads(lambda tree: {"a": tree[0] * tree[1], "b": 1j * tree[0]})((VECTOR, 2.0))
    np.random.seed(0)  # noqa: NPY002 - whose directions the checks draw, as autograd's do
    wrong = extend.primitive(np.sin)
    extend.defvjp(wrong, lambda ans, x: lambda g: g * np.cos(x) * 1.01)
    extend.defjvp(wrong, lambda g, ans, x: g * np.cos(x) * 1.01)
    with pytest.raises(AssertionError, match=r"order 1, rev: .* off by"):
        check_grads(wrong, modes=["rev"])(0.5)
    with pytest.raises(AssertionError, match=r"order 1, fwd: .* off by"):
        check_grads(wrong, modes=["fwd"])(0.5)


def test_helpers_for_vjps_undo_broadcasting() -> None:
    pull = unbroadcast_f(np.ones((2, 1)), lambda g: g * 3)
    assert pull(np.ones((4, 2, 3))).tolist() == [[36.0], [36.0]]
    assert repeat_to_match_shape(np.ones(2), (2, 3), float, 1, False)[0].shape == (2, 3)
    assert repeat_to_match_shape(np.ones((2, 1)), (2, 3), float, -1, True)[1] == 3
    assert match_complex(1.0, 2 + 3j) == 2.0
    assert match_complex(1j, 2.0) == 2 + 0j


def test_nothing_is_said_without_a_reason() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vjp, _ = core.make_vjp(lambda x: {"a": x, "b": 3.0}, 2.0)
        assert vjp({"a": 1.0, "b": 1.0}) == 1.0
