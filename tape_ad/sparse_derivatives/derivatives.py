"""What sparse Jacobians and Hessians have in common: a way that is prepared once, and kept."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field, frozen
from scipy.sparse import coo_array, csr_array

from tape_ad.base.arrays.overridable import apart
from tape_ad.base.errors import PatternError
from tape_ad.base.naming import called, counted
from tape_ad.base.trees import map_leaves
from tape_ad.rules.maps import Array, Index
from tape_ad.sparse_derivatives.colouring import filled, same_pattern
from tape_ad.sparse_derivatives.dependencies import (
    Dependencies,
    FlatFunction,
    behind,
    structure_key,
)
from tape_ad.transforms.opaque import DESCRIPTION

Sparse = Any

CLOSE = 1e-6
"""What a product may differ by, relative to the sum of its terms' sizes."""


def as_pattern(pattern: Any) -> Sparse:
    """Take what a user gave to a `csr_array` of bools, without stored zeros; None stays None.

    Raises
    ------
    PatternError
        When it is no matrix.
    """
    if pattern is None:
        return None
    entries = pattern if hasattr(pattern, "tocsr") else np.asarray(pattern)
    if getattr(entries, "ndim", 0) != 2:
        raise PatternError(
            f"pattern has {np.ndim(entries)} axes; give a matrix, dense or of scipy.sparse, with a "
            "row for each element of the output and a column for each of the arguments"
        )
    found = coo_array(entries)
    kept = np.not_equal(found.data, 0)
    places = found.row[kept], found.col[kept]
    made = csr_array(coo_array((np.ones(len(places[0]), bool), places), found.shape))
    made.sum_duplicates()
    return made


def check_shape(pattern: Sparse, flat: FlatFunction) -> None:
    """Refuse a pattern of another shape than the Jacobian.

    Raises
    ------
    PatternError
    """
    if pattern.shape != (flat.rows, flat.columns):
        raise PatternError(
            f"pattern has shape {pattern.shape}, but {flat.traced.name} has {flat.rows} elements "
            f"of output and {flat.columns} of arguments here"
        )


def check_entries(flat: FlatFunction, result: Sparse) -> None:
    """Compare a derivative with a product along a random direction.

    Raises
    ------
    PatternError
        It names an entry that is not zero, where the pattern has none.
    """
    if not result.shape[0] or not result.shape[1]:
        return
    direction = np.random.default_rng(0).uniform(1, 2, result.shape[1])
    product = flat.pushed(direction[None])[0]
    size = abs(result) @ direction + np.abs(product)
    with np.errstate(invalid="ignore"):
        off = np.abs(product - result @ direction) > CLOSE * size
    for row in np.flatnonzero(off)[:1]:
        entries = flat.pulled(np.eye(1, result.shape[0], row))[0]
        missed = entries.astype(float)
        missed[result.indices[result.indptr[row] : result.indptr[row + 1]]] = 0
        column = int(np.argmax(np.abs(missed)))
        raise PatternError(
            f"the derivative of output {row} by argument {column} of {flat.traced.name} is "
            f"{entries[column]:.6g}, but the pattern has no entry ({row}, {column}); leave out "
            "pattern=, and it is found"
        )


Function = Callable[..., Any]

KEPT = 16
"""How many patterns are kept, for functions that take one branch or another."""


@frozen(eq=False)
class Sweeps:
    """Tangents and cotangents for the colours of rows and of columns.

    Attributes
    ----------
    tangents, cotangents : array, shape (colours, n) and (colours, m)
        Each a sum of the unit vectors of one colour.
    pushed_at, pulled_at : array of int
        For each entry that is pushed, the place of its colour and row among all products, one
        behind the other; for each term of one that is pulled, that of its colour and column.
    order : array of int
        Where each entry is, if those that are pulled come behind those that are pushed.
    places : dict of int to slice, or None
        Where the elements of each copy of inputs are, if it is to those that cotangents are pulled.
    sums : Index or None
        Which of the pulled entries each term is of, if some have several.
    """

    tangents: Array
    cotangents: Array
    pushed_at: Array
    pulled_at: Array
    order: Array
    places: dict[int, slice] | None = None
    sums: Index | None = None

    @property
    def count(self) -> int:
        """The number of seeds."""
        return len(self.tangents) + len(self.cotangents)

    def entries(self, flat: FlatFunction) -> Array:
        """Sweep, and read each entry off."""
        parts = []
        if len(self.pushed_at):
            parts.append(flat.pushed(self.tangents).reshape(-1)[self.pushed_at])
        if len(self.pulled_at):
            parts.append(self.pulled(flat))
        if len(parts) < 2:
            return parts[0] if parts else np.zeros(0, flat.dtype)
        return np.concatenate(parts)[self.order]

    def pulled(self, flat: FlatFunction) -> Array:
        """Pull, and read off each entry that is found that way."""
        if self.places is None:
            return flat.pulled(self.cotangents).reshape(-1)[self.pulled_at]
        terms = flat.pulled_to_copies(self.cotangents, self.places).reshape(-1)[self.pulled_at]
        return terms if self.sums is None else self.sums.pull(terms)

    def explain(self) -> str:
        """Describe how many sweeps of either direction there are."""
        parts = (
            (self.tangents, "tangent", "pushed"),
            (self.cotangents, "cotangent", "pulled"),
        )
        found = [f"{counted(len(seeds), what)} {how}" for seeds, what, how in parts if len(seeds)]
        return ", ".join(found) or "nothing to sweep"


@frozen(eq=False)
class Prepared:
    """A pattern, the structure key of the record that it was found in, and the way for it."""

    key: list[Any] | None
    pattern: Sparse
    way: Sweeps


@define(eq=False, repr=False)
class SparseDerivative:
    """A function that computes a sparse matrix of derivatives.

    Where a call records other functions, shapes or indices than any before, the pattern is found
    and coloured anew; those of the last few are kept.

    Attributes
    ----------
    function : callable
    argnums : int or tuple of int
    given : csr_array of bool or None
        The pattern that the user gave.
    check : bool
        Whether results are compared with a product.
    """

    function: Function
    argnums: int | tuple[int, ...]
    given: Sparse
    check: bool
    _known: list[Prepared] = field(factory=list, init=False)

    def traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> FlatFunction:
        """Record what is differentiated once more."""
        raise NotImplementedError

    def found(self, flat: FlatFunction) -> Dependencies:
        """Find the sparsity pattern of the derivative at a point."""
        raise NotImplementedError

    def way(self, found: Dependencies) -> Sweeps:
        """Colour a pattern and choose the direction of the sweeps."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Sparse:
        """Compute the matrix at some arguments.

        Returns
        -------
        csr_array

        Raises
        ------
        OutputError, PatternError
        """
        flat = self.traced(args, kwargs)
        known = self.prepared_for(flat)
        result = filled(known.pattern, known.way.entries(flat))
        if self.check:
            check_entries(flat, result)
        return result

    def prepared_for(
        self, flat: FlatFunction, plain: Callable[[], FlatFunction] | None = None
    ) -> Prepared:
        """Give the pattern and the colours, anew where no record before was like this one.

        Parameters
        ----------
        flat : FlatFunction
        plain : callable, optional
            What gives it without captured arrays, of which no pattern can be found.
        """
        flat.check_plain()
        key = None if self.given is not None else structure_key(flat.traced.record)
        known = next((each for each in self._known if each.key == key), None)
        if known is None:
            known = self.prepared(key, flat, flat if plain is None else plain())
        check_shape(known.pattern, flat)
        others = [each for each in self._known if each is not known]
        self._known = [known, *others[: KEPT - 1]]
        return known

    def prepared(self, key: Any, flat: FlatFunction, plain: FlatFunction) -> Prepared:
        """Find the pattern of a function, by what it does with plain arrays, and colour it."""
        with apart():
            found = self.found(plain) if self.given is None else Dependencies.direct(self.given)
            check_shape(found.pattern, plain)
            if found.places is not None and flat.copies.nodes != plain.copies.nodes:
                found = Dependencies.direct(found.pattern)
            return Prepared(key, found.pattern, self.way(found))

    def compiled_by(self, compiler: Function) -> "CompiledDerivative":
        """Make what `tape_ad.compile` gives for this function.

        Parameters
        ----------
        compiler : callable
            `tape_ad.compile`, with its options.
        """
        return CompiledDerivative(self, compiler)

    @property
    def pattern(self) -> Sparse:
        """Where entries may be other than zero, a `csr_array` of bools; None before a call."""
        return self._known[0].pattern if self._known else None

    @property
    def colors(self) -> int | None:
        """How many seeds a call sweeps; None before a call."""
        return self._known[0].way.count if self._known else None

    def explain(self) -> str:
        """Describe how the entries are computed.

        Examples
        --------
        >>> import numpy as np, tape_ad as ta
        >>> jacobian = ta.sparse_jacobian(lambda x: np.convolve(x, [1.0, -1.0], "valid"))
        >>> _ = jacobian(np.zeros(1000))
        >>> print(jacobian.explain())
        999 x 1000 with 1998 entries (0.2 %)
        2 colours, 500.0 times fewer than columns: 2 tangents pushed
        """
        if not self._known:
            return "not called yet: the first call finds the pattern"
        pattern, way = self._known[0].pattern, self._known[0].way
        (m, n), count = pattern.shape, pattern.nnz
        share = 100 * count / max(m * n, 1)
        gain = n / max(way.count, 1)
        return (
            f"{m} x {n} with {count} entries ({share:.2g} %)\n"
            f"{counted(way.count, 'colour')}, {gain:.1f} times fewer than columns: {way.explain()}"
        )

    def __repr__(self) -> str:
        first = self.explain().partition("\n")[0]
        return f"<{type(self).__name__} of {called(self.function)}: {first}>"


@define(eq=False, repr=False)
class CompiledDerivative:
    """A sparse derivative whose entries are computed by a compiled function.

    What is asked of a sparse derivative or of a compiled function can be asked of it.

    Attributes
    ----------
    derivative : SparseDerivative
    compiler : callable
        What made it.
    """

    derivative: SparseDerivative
    compiler: Function
    _entries: Any = field(init=False)
    _patterns: list[Sparse] = field(factory=list, init=False)

    @_entries.default
    def _compiled(self) -> Any:
        @functools.wraps(self.derivative.function)
        def numbered(*args: Any, **kwargs: Any) -> tuple[Array, int]:
            return self._numbered(args, kwargs)

        return self.compiler(numbered)

    def _numbered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Array, int]:
        """Compute the entries, and say which pattern they are of."""
        before = DESCRIPTION.set(structure_key)
        try:
            flat = self.derivative.traced(args, kwargs)
            known = self.derivative.prepared_for(flat, lambda: self._plain_traced(args, kwargs))
            return known.way.entries(flat), self._number_of(known.pattern)
        finally:
            DESCRIPTION.reset(before)

    def _number_of(self, pattern: Sparse) -> int:
        """Number a pattern; equal ones have one number, whatever records they are of.

        A captured record may have another structure key than a plain one, where an array stands for
        a number, and the same pattern.
        """
        if not any(same_pattern(each, pattern) for each in self._patterns):
            self._patterns.append(pattern)
        known = enumerate(self._patterns)  # another thread may have been quicker
        return next(number for number, each in known if same_pattern(each, pattern))

    def _plain_traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> FlatFunction:
        """Record it with the arrays that stand behind captured ones, to look at indices."""
        with apart():
            return self.derivative.traced(map_leaves(behind, args), map_leaves(behind, kwargs))

    def __call__(self, *args: Any, **kwargs: Any) -> Sparse:
        """Compute the matrix at some arguments; see `SparseDerivative`."""
        entries, number = self._entries(*args, **kwargs)
        return filled(self._patterns[number], entries)

    def __reduce__(self) -> Any:
        return type(self), (self.derivative, self.compiler)

    def explain(self) -> str:
        """Say how the entries are computed, and how that is compiled."""
        return f"{self.derivative.explain()}\n{self._entries.explain()}"

    def __getattr__(self, name: str) -> Any:
        """Ask the derivative, or else the compiled function."""
        if name.startswith("_"):
            raise AttributeError(name)
        asked = self.derivative if hasattr(self.derivative, name) else self._entries
        return getattr(asked, name)

    def __repr__(self) -> str:
        return f"<compiled {repr(self.derivative)[1:]}"
