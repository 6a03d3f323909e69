"""The libraries that are compared, each a module with the same few functions.

Such a module has the array functions of its library as `xp`, some functions that each
library has under its own name (`relu`, `logsumexp`, `fill_triangles`, ...), those of networks in
`layers`, a function with a derivative of its own, `own_square`, and for each kind of
workload that the library can express a function that makes a program:

gradient(formula, p, data)
    The value and gradient of ``formula(p, data)`` with respect to all of the dict `p`.
function(formula, p, data)
    The same of a single function whose value is an array: it is swept with `plain.seed_like`.
step(formula, p, data, rate, momentum)
    The same, and a step of gradient descent on `p`.
jacobian(formula, p, data), hessian(formula, p, data)
    The derivative with respect to ``p["x"]``.
derivative(formula, p, data)
    The same of a function of a number, by the library's own transform.
hvp(formula, p, data)
    The product of the Hessian with ``data["v"]``.

`nodes(formula, p, data)`, which only ours has, gives the number of nodes in place of a value, and
`calls()` of ours, compiled, the number of calls in the program that was made last, `kept()` the
bytes that it keeps between calls, and `report()` what the engine says of it.
A function of these names with ``lean_`` before it makes a program that takes less memory, which is
what memory is measured with.

A program takes nothing and gives the value and a dict of derivatives. It is what is timed, so it
does what a user would write in a loop, and whatever a user would do once is done before. `to_numpy`
turns its arrays into NumPy's, and `peak` gives the bytes that a call holds at its peak.
"""

from attrs import frozen

__all__ = [
    "BY_HAND",
    "COMPILED",
    "FORWARD",
    "LIBRARIES",
    "OURS",
    "OURS_COMPILED",
    "OURS_NATIVE",
    "PLAIN",
    "TORCH",
    "TORCH_COMPILED",
    "UNCOMPILED",
    "Library",
]


@frozen
class Library:
    """What is compared, and what it is called.

    Attributes
    ----------
    module : str
        The module in this package.
    title : str
        For tables.
    distribution : str
        What pip knows it as.
    has_functions : bool
        Whether it has the array functions that formulas are written with. Otherwise it takes part
        where a workload has a formula of its own for it, which is called without the library.
    first_calls : int
        How many calls of a program compile it; none where nothing is compiled.
    """

    module: str
    title: str
    distribution: str
    has_functions: bool = True
    first_calls: int = 0


OURS = "tape_ad"
OURS_COMPILED = "tape_ad_compiled"
OURS_NATIVE = "tape_ad_native"
PLAIN = "tape_ad_plain"
TORCH = "pytorch"
FORWARD = "numpy_forward"
BY_HAND = "numpy_by_hand"
COMPILED = "jax_jit"
TORCH_COMPILED = "torch_compile"

LIBRARIES: dict[str, Library] = {
    library.module: library
    for library in (
        Library(OURS, "tape_ad", "tape-ad"),
        Library(PLAIN, "tape_ad, layers in plain NumPy", "tape-ad"),
        Library(FORWARD, "NumPy, forward pass only", "numpy"),
        Library(BY_HAND, "NumPy, gradients by hand", "numpy", has_functions=False),
        Library(TORCH, "PyTorch eager", "torch"),
        Library("hips_autograd", "HIPS autograd", "autograd"),
        Library("my_grad", "MyGrad", "mygrad"),
        Library("micro_grad", "micrograd", "micrograd", has_functions=False),
        Library("jax_eager", "JAX without jit", "jax"),
        Library(OURS_COMPILED, "tape_ad, compiled", "tape-ad", first_calls=2),
        Library(OURS_NATIVE, "tape_ad, native", "tape-ad", first_calls=2),
        Library(COMPILED, "JAX compiled (jit)", "jax", first_calls=1),
        Library(TORCH_COMPILED, "PyTorch compiled", "torch", first_calls=1),
    )
}
"""In the order of the tables; a compiled one is in a class of its own, and stands apart."""

UNCOMPILED = {
    OURS_COMPILED: OURS,
    OURS_NATIVE: OURS,
    COMPILED: "jax_eager",
    TORCH_COMPILED: TORCH,
}
"""What a compiled library is when it does not compile."""
