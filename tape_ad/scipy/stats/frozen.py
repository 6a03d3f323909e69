"""Distributions with their parameters."""

from typing import Any

from attrs import frozen

from tape_ad.scipy.stats.methods import METHODS

__all__ = ["FrozenDistribution"]


@frozen(eq=False, repr=False)
class FrozenDistribution:
    """A distribution with its parameters.

    Attributes
    ----------
    dist : Distribution
    parameters : tuple
        The shapes, loc and scale.

    Examples
    --------
    >>> from tape_ad.scipy import stats
    >>> stats.norm(1.0, 2.0).mean()
    np.float64(1.0)
    """

    dist: Any
    parameters: tuple[Any, ...]

    def __repr__(self) -> str:
        pairs = zip(self.dist.parameters, self.parameters, strict=True)
        return f"{self.dist!r}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def __getattr__(self, name: str) -> Any:
        """Give a method of the distribution with these parameters."""
        method = getattr(self.dist, name)
        if name == "expect":
            shapes, *place = self.dist.split(self.parameters, {})
            named = dict(zip(("loc", "scale"), place, strict=False))
            return lambda func=None, **options: method(func, shapes, **named, **options)
        if name in METHODS or name in LEADING:
            return lambda x, **options: method(x, *self.parameters, **options)
        if callable(method):
            return lambda *args, **options: method(*args, *self.parameters, **options)
        return method


LEADING = {"interval", "moment"}
"""Methods besides those of `METHODS` that take one argument before the parameters."""
