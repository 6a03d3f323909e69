"""An ndarray's methods, each NumPy's function of the same name."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

__all__ = ["ArrayMethods"]

Axis = int | tuple[int, ...] | None


class ArrayMethods:
    """The methods that have rules.

    A subclass gives `data`, the primal, and `_call`, which computes and records a NumPy function.
    """

    __slots__ = ()

    data: Any
    _call: Callable[..., Any]

    def sum(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Sum over axes; see `numpy.sum`."""
        return self._call(np.sum, (self, axis, *more), options)

    def mean(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Average over axes; see `numpy.mean`."""
        return self._call(np.mean, (self, axis, *more), options)

    def prod(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Multiply over axes; see `numpy.prod`."""
        return self._call(np.prod, (self, axis, *more), options)

    def max(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Take the maximum over axes; see `numpy.max`."""
        return self._call(np.max, (self, axis, *more), options)

    def min(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Take the minimum over axes; see `numpy.min`."""
        return self._call(np.min, (self, axis, *more), options)

    def var(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Compute the variance over axes; see `numpy.var`."""
        return self._call(np.var, (self, axis, *more), options)

    def std(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Compute the standard deviation over axes; see `numpy.std`."""
        return self._call(np.std, (self, axis, *more), options)

    def cumsum(self, axis: int | None = None, *more: Any, **options: Any) -> Self:
        """Add up along an axis, keeping every sum; see `numpy.cumsum`."""
        return self._call(np.cumsum, (self, axis, *more), options)

    def cumprod(self, axis: int | None = None, *more: Any, **options: Any) -> Self:
        """Multiply along an axis, keeping every product; see `numpy.cumprod`."""
        return self._call(np.cumprod, (self, axis, *more), options)

    def trace(self, offset: int = 0, *more: Any, **options: Any) -> Self:
        """Add up a diagonal; see `numpy.trace`."""
        return self._call(np.trace, (self, offset, *more), options)

    def any(self, axis: Axis = None, *more: Any, **options: Any) -> Any:
        """Tell whether any element is not zero, as plain data; see `numpy.any`."""
        return self._call(np.any, (self, axis, *more), options)

    def all(self, axis: Axis = None, *more: Any, **options: Any) -> Any:
        """Tell whether all elements are not zero, as plain data; see `numpy.all`."""
        return self._call(np.all, (self, axis, *more), options)

    def argmax(self, axis: int | None = None, *more: Any, **options: Any) -> Any:
        """Find the maximum, as plain indices; see `numpy.argmax`."""
        return self._call(np.argmax, (self, axis, *more), options)

    def argmin(self, axis: int | None = None, *more: Any, **options: Any) -> Any:
        """Find the minimum, as plain indices; see `numpy.argmin`."""
        return self._call(np.argmin, (self, axis, *more), options)

    def argsort(self, axis: int | None = -1, *more: Any, **options: Any) -> Any:
        """Find the order, as plain indices; see `numpy.argsort`."""
        return self._call(np.argsort, (self, axis, *more), options)

    def argpartition(self, kth: Any, *more: Any, **options: Any) -> Any:
        """Find a partial order, as plain indices; see `numpy.argpartition`."""
        return self._call(np.argpartition, (self, kth, *more), options)

    def searchsorted(self, v: Any, *more: Any, **options: Any) -> Any:
        """Find where values belong, as plain indices; see `numpy.searchsorted`."""
        return self._call(np.searchsorted, (self, v, *more), options)

    def nonzero(self) -> Any:
        """Find what is not zero, as plain indices; see `numpy.nonzero`."""
        return self._call(np.nonzero, (self,))

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Round, as plain data; see `numpy.round`."""
        return self._call(np.round, (self, decimals), {"out": out} if out is not None else {})

    def reshape(self, *shape: Any, **options: Any) -> Self:
        """Reshape, to ``reshape(2, 3)`` or ``reshape((2, 3))``; see `numpy.reshape`."""
        if not shape:
            raise TypeError("reshape() takes a shape; write reshape(()) for no axes")
        return self._call(np.reshape, (self, shape[0] if len(shape) == 1 else shape), options)

    def ravel(self, order: str = "C") -> Self:
        """Flatten; see `numpy.ravel`."""
        return self._call(np.ravel, (self, order))

    def flatten(self, order: str = "C") -> Self:
        """Flatten into a copy; see `ndarray.flatten`."""
        return self._call(np.copy, (self._call(np.ravel, (self, order)),))

    def transpose(self, *axes: Any) -> Self:
        """Permute the axes, ``transpose(1, 0)`` or ``transpose((1, 0))``; see `numpy.transpose`."""
        order = axes[0] if len(axes) == 1 else axes or None
        return self._call(np.transpose, (self, order))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Swap two axes; see `numpy.swapaxes`."""
        return self._call(np.swapaxes, (self, axis1, axis2))

    def squeeze(self, axis: Axis = None) -> Self:
        """Remove axes of length one; see `numpy.squeeze`."""
        return self._call(np.squeeze, (self, axis))

    def take(self, indices: Any, *more: Any, **options: Any) -> Self:
        """Take elements along an axis; see `numpy.take`."""
        return self._call(np.take, (self, indices, *more), options)

    def compress(self, condition: Any, *more: Any, **options: Any) -> Self:
        """Select slices along an axis; see `numpy.compress`."""
        return self._call(np.compress, (condition, self, *more), options)

    def choose(self, choices: Any, *more: Any, **options: Any) -> Any:
        """Choose among arrays with this one as the index; see `numpy.choose`."""
        return self._call(np.choose, (self, choices, *more), options)

    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """Repeat elements; see `numpy.repeat`."""
        return self._call(np.repeat, (self, repeats, axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """Take a diagonal; see `numpy.diagonal`."""
        return self._call(np.diagonal, (self, offset, axis1, axis2))

    def dot(self, b: Any, out: Any = None) -> Self:
        """Multiply; see `numpy.dot`."""
        return self._call(np.dot, (self, b), {"out": out} if out is not None else {})

    def clip(
        self,
        min: Any = None,  # noqa: A002 - ndarray's name
        max: Any = None,  # noqa: A002 - ndarray's name
        out: Any = None,
        **options: Any,
    ) -> Self:
        """Limit the values; see `numpy.clip`."""
        if out is not None:
            options["out"] = out
        return self._call(np.clip, (self, min, max), options)

    def conjugate(self) -> Self:
        """Give the complex conjugate, which for a real handle is the handle."""
        return self._call(np.conjugate, (self,)) if self.data.dtype.kind == "c" else self

    def conj(self) -> Self:
        """Give the complex conjugate, which for a real handle is the handle."""
        return self.conjugate()

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = "unsafe", *more: Any, **options: Any
    ) -> Any:
        """Cast: a handle for floating and complex dtypes, plain data for others."""
        names = ("subok", "copy")
        options = {"order": order, **dict(zip(names, more, strict=False)), **options}
        return self._call(np.astype, (self, np.dtype(dtype)), {"casting": casting, **options})
