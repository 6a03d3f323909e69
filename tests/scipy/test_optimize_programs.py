"""Integer programs, sparse and ordered least squares, and what lies between: with handles."""

import functools
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from scipy.optimize import LinearConstraint

import tape_ad as ta
from tape_ad.errors import ConvergenceWarning, SingularJacobianError, UnsupportedArgumentError
from tape_ad.scipy import optimize

checked = functools.partial(ta.testing.check_grads, order=2)

C, A, B = np.array([-1.0, -2.0, 0.5]), np.array([[1.0, 1.0, 0.2], [0.3, 1.0, -1.0]]), [4.3, 1.1]
UPPER = np.array(B)
WHOLE = [1, 0, 0]


def program(c: Any = C, a: Any = A, upper: Any = UPPER, top: Any = 3.0, whole: Any = WHOLE) -> Any:
    return optimize.milp(
        c, integrality=whole, bounds=(0.0, top), constraints=LinearConstraint(a, -np.inf, upper)
    )


def test_the_numbers_of_an_integer_program_move_and_its_integers_do_not() -> None:
    plain = scipy.optimize.milp(
        C, integrality=WHOLE, bounds=(0.0, 3.0), constraints=LinearConstraint(A, -np.inf, UPPER)
    )
    ours = program(ta.ComputationRecord().tensor(C))
    np.testing.assert_array_equal(ours.x.data, plain.x)
    assert ours.fun.data == plain.fun == program().fun
    checked(lambda c, upper: program(c, upper=upper).fun, (C, UPPER))
    ta.testing.check_grads(lambda a: program(a=a).x[1:], (A,), order=1)
    checked(lambda top: program(top=top).x, (3.4,))
    upper = ta.ComputationRecord().tensor(UPPER)
    np.testing.assert_array_equal(program(upper=upper).x[0].grad().wrt(upper), 0.0)


@pytest.mark.parametrize("whole", [None, [1, 1, 1], [3, 3, 3], [2, 0, 0]])
def test_all_kinds_of_numbers(whole: Any) -> None:
    checked(lambda c: program(c, whole=whole).fun, (C,))


def test_how_constraints_may_be_given() -> None:
    several = [(scipy.sparse.csc_array(A[:1]), -np.inf, UPPER[0]), LinearConstraint(A[1:], -9, 1.1)]
    c = ta.ComputationRecord().tensor(C)
    expected = program().x
    for given in (several, (A, -np.inf, UPPER), [A, [-np.inf, -np.inf], UPPER]):
        ours = optimize.milp(c, integrality=WHOLE, bounds=(0, 3), constraints=given)
        np.testing.assert_allclose(ours.x.data, expected)
    free = optimize.milp(ta.ComputationRecord().tensor(abs(C)))
    np.testing.assert_array_equal(free.x.data, 0.0)


def test_an_integer_program_without_a_solution() -> None:
    c = ta.ComputationRecord().tensor(C)
    with pytest.warns(ConvergenceWarning, match="milp has not succeeded"):
        assert optimize.milp(c, constraints=(A, 9.0, -9.0)).x is None
    with pytest.raises(UnsupportedArgumentError, match="milp: the argument integrality="):
        optimize.milp(C, integrality=c)


def test_a_linear_program_of_integers() -> None:
    def corner(b: Any) -> Any:
        return optimize.linprog(C, A, b, bounds=(0, 3), integrality=WHOLE)

    theirs = scipy.optimize.linprog(C, A, UPPER, bounds=(0, 3), integrality=WHOLE)
    np.testing.assert_allclose(corner(UPPER).x, theirs.x)
    checked(lambda b: corner(b).x, (UPPER,))
    checked(lambda b: corner(b).slack, (UPPER,))


# Least squares

SPARSE = scipy.sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [0, 1, 1], [2, 0, 0]]))
RIGHT = np.array([1.0, 2.0, -1.0, 0.5])


def test_sparse_least_squares() -> None:
    limits = np.array([-0.2, 0.3, -0.1])

    def fitted(b: Any, low: Any) -> Any:
        return optimize.lsq_linear(SPARSE, b, (low, 0.4), tol=1e-12)

    b = ta.ComputationRecord().tensor(RIGHT)
    plain, ours = fitted(RIGHT, limits), fitted(b, limits)
    np.testing.assert_array_equal(ours.x.data, plain.x)
    assert np.any(plain.active_mask)
    dense = ta.jacobian(lambda b: optimize.lsq_linear(SPARSE.toarray(), b, (limits, 0.4)).x)(RIGHT)
    np.testing.assert_allclose(ta.jacobian(lambda b: fitted(b, limits).x)(RIGHT), dense, atol=1e-9)
    checked(lambda b, low: fitted(b, low).x, (RIGHT, limits))
    checked(lambda b: optimize.lsq_linear(SPARSE, b).cost, (RIGHT,))
    with pytest.raises(SingularJacobianError, match="lsq_linear: the columns of A"):
        optimize.lsq_linear(scipy.sparse.csr_array(np.ones((4, 2))), b)


Y, WEIGHTS = np.array([1.0, 4.0, 2.0, 3.5, 3.0, 9.0]), np.array([1.0, 2.0, 1.0, 0.5, 1.0, 3.0])


@pytest.mark.parametrize("rising", [True, False])
def test_isotonic_regression(rising: bool) -> None:
    def fitted(y: Any, w: Any = None) -> Any:
        return optimize.isotonic_regression(y, weights=w, increasing=rising)

    theirs = scipy.optimize.isotonic_regression(Y, weights=WEIGHTS, increasing=rising)
    ours = fitted(Y, ta.ComputationRecord().tensor(WEIGHTS))
    np.testing.assert_array_equal(ours.x.data, theirs.x)
    np.testing.assert_array_equal(ours.weights.data, theirs.weights)
    np.testing.assert_array_equal(ours.blocks, theirs.blocks)
    checked(lambda y: fitted(y).x, (Y,))
    checked(lambda y, w: fitted(y, w).x, (Y, WEIGHTS))
    checked(lambda w: fitted(Y, w).weights, (WEIGHTS,))


# Quotients and steps


def test_difference_quotients() -> None:
    def bent(x: Any, p: Any) -> Any:
        return np.stack([np.sum(np.sin(x * p)), p * x[0] ** 3])

    x = np.array([0.4, -1.2])
    handle = ta.ComputationRecord().tensor(x)
    ours = optimize.approx_fprime(handle, bent, 1e-3, 1.5)
    np.testing.assert_array_equal(ours.data, scipy.optimize.approx_fprime(x, bent, 1e-3, 1.5))
    checked(lambda x, p: optimize.approx_fprime(x, bent, [1e-2, 1e-3], p), (x, 1.5), rtol=1e-4)
    checked(lambda x: optimize.approx_fprime(x, lambda x: x[0] * x[1], 1e-2), (x,), rtol=1e-4)
    one = ta.grad(lambda x: optimize.approx_fprime(x, np.cosh, 1e-3)[0])
    quotient = (np.sinh(0.501) - np.sinh(0.5)) / 1e-3
    np.testing.assert_allclose(one(0.5), quotient, rtol=1e-6)
    checked(lambda e: optimize.approx_fprime(x, bent, e, 1.5), (np.array([0.1, 0.2]),), rtol=1e-4)


def test_a_step_along_a_line() -> None:
    def bowl(x: Any) -> Any:
        return np.sum(x**4) + x[0] * x[1]

    def slope(x: Any) -> Any:
        return [4 * x[0] ** 3 + x[1], 4 * x[1] ** 3 + x[0]]

    x, p = np.array([1.8, 1.7]), np.array([-1.0, -1.0])
    ours = optimize.line_search(bowl, slope, ta.ComputationRecord().tensor(x), p)
    theirs = scipy.optimize.line_search(bowl, slope, x, p)
    assert [ours[i] if i in (1, 2) else np.ravel(ours[i]).size for i in range(5)][1:3] == [
        theirs[1],
        theirs[2],
    ]
    np.testing.assert_array_equal(ours[3].data, theirs[3])
    np.testing.assert_array_equal([each.data for each in ours[5]], theirs[5])
    checked(lambda x, p: optimize.line_search(bowl, slope, x, p)[3], (x, p))


def test_the_least_value_has_the_shape_that_it_has_in_scipy() -> None:
    start = ta.ComputationRecord().tensor([1.0])
    found = optimize.basinhopping(lambda x: (x - 0.5) ** 2, start, niter=1)
    assert found.fun.shape == ()


# Grids and graphs


def test_a_minimum_found_over_a_grid() -> None:
    def bowl(x: Any, p: Any) -> Any:
        return np.sum(np.cosh(x - p)) + 0.1 * np.sum(x) ** 2

    def found(p: Any, /, **options: Any) -> Any:
        return optimize.brute(bowl, ((-1, 1), (-1, 1)), (p,), Ns=3, **options)

    p = np.array([0.3, -0.2])
    handle = ta.ComputationRecord().tensor(p)
    theirs = scipy.optimize.brute(bowl, ((-1, 1), (-1, 1)), (p,), Ns=3)
    np.testing.assert_array_equal(found(handle).data, theirs)
    np.testing.assert_array_equal(found(p), theirs)
    x, value, *_ = found(handle, full_output=True)
    np.testing.assert_allclose(value.data, bowl(x.data, p))
    exact = functools.partial(optimize.minimize, bowl, np.zeros(2), "trust-exact", tol=1e-12)
    np.testing.assert_allclose(
        ta.jacobian(found)(p), ta.jacobian(lambda p: exact(args=(p,)).x)(p), atol=1e-4
    )
    alone = optimize.brute(lambda x: bowl(x, handle), ((-1, 1), (-1, 1)), Ns=3, finish=None)
    np.testing.assert_array_equal(alone.sum().grad().wrt(handle), 0.0)
    with pytest.raises(UnsupportedArgumentError, match="brute: the argument ranges="):
        optimize.brute(bowl, ((handle[0], 1.0),))


def test_graphs_that_are_matched() -> None:
    a, b = np.arange(9.0).reshape(3, 3) ** 1.5, np.array([[0.0, 2, 7], [1, 0, 3], [4, 4, 1]])
    rng = np.random.default_rng(0)  # without one, SciPy warns where others have seeded NumPy's
    settled: Any = {"options": {"rng": rng}}
    theirs = scipy.optimize.quadratic_assignment(a, b, **settled)
    ours = optimize.quadratic_assignment(ta.ComputationRecord().tensor(a), b, **settled)
    assert ours.fun.data == theirs.fun
    np.testing.assert_array_equal(ours.col_ind, theirs.col_ind)
    plain = optimize.quadratic_assignment(a, b, **settled)
    np.testing.assert_array_equal(plain.col_ind, theirs.col_ind)
    checked(lambda a, b: optimize.quadratic_assignment(a, b, **settled).fun, (a, b))
