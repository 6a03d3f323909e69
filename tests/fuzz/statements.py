"""Random lines of NumPy: views, copies, assignments and what else programs do with arrays."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define, field

__all__ = ["Drawer"]

Array = Any


def listed(text: str) -> tuple[str, ...]:
    """Take a text apart at its semicolons."""
    return tuple(part.strip() for part in text.split(";"))


VIEWS = listed(
    """
    {a}.T; np.transpose({a}); {a}.transpose(); {a}.reshape(-1); {a}.reshape({a}.shape);
    np.ravel({a}); {a}.ravel(); {a}.ravel('F'); {a}.reshape(-1, order='F');
    np.reshape({a}, {turned}); {a}.reshape({turned}); np.reshape({a}, {turned}, order='F');
    np.swapaxes({a}, 0, {axis}); {a}.swapaxes({axis}, 0); np.moveaxis({a}, {axis}, 0);
    np.moveaxis({a}, 0, -1); np.rollaxis({a}, {axis}); np.squeeze({a}); {a}.squeeze();
    np.squeeze({a}, axis={axis}); np.expand_dims({a}, {axis}); np.expand_dims({a}, (0, 1));
    np.atleast_1d({a}); np.atleast_2d({a}); np.atleast_3d({a}); {a}.real; {a}.imag; np.real({a});
    np.imag({a}); np.real_if_close({a}); {a}.conj(); {a}.conjugate(); np.diagonal({a});
    {a}.diagonal(1); np.diagonal({a}, -1); np.diag({a}); np.linalg.diagonal({a});
    np.diagonal({a}, axis1={axis}, axis2=0); {a}.mT; np.flip({a}); np.flip({a}, {axis});
    np.flipud({a}); np.fliplr({a}); np.rot90({a}); np.rot90({a}, 2); np.rot90({a}, -1);
    np.matrix_transpose({a}); np.split({a}, 1)[0]; np.array_split({a}, 2)[1];
    np.array_split({a}, 2, {axis})[0]; np.broadcast_to({a}, (2, *{a}.shape));
    np.broadcast_arrays({a}, {b})[0]; sliding({a}, 2, axis={axis}); sliding({a}, {a}.shape);
    np.einsum('ij->ji', {a}); picked({a}); np.einsum('...', {a});
    {a}.astype({a}.dtype, copy=False); np.squeeze(np.expand_dims({a}, 0), 0);
    np.permute_dims({a}); checkpointed_view({a}); ruled_view({a}); checkpointed_row({a});
    ruled_row({a}); checkpointed_tree({a})['up']
    """
)
"""What may be a view, or the array itself."""

COPIES = listed(
    """
    {a}.copy(); copy.copy({a}); copy.deepcopy({a}); np.copy({a}); {a}.flatten();
    {a}.flatten('F'); np.copy({a}, order='F'); {a}.copy('K'); +{a}; np.positive({a});
    np.conj({a}); {a}.astype({a}.dtype); np.concatenate([{a}, {b}]); np.stack([{a}, {a}]);
    np.roll({a}, 1); np.tile({a}, 2); np.repeat({a}, 2); {a}.take([0], axis={axis});
    np.where({a}.real > 0.3, {a}, {b}); np.triu({a}); np.pad({a}, 1); np.zeros_like({a});
    np.ones_like({a}); constant(np.zeros({a}.shape) + 0.5); np.full_like({a}, 0.25);
    np.clip({a}, None, None); np.sum({a}, axis=()); np.append({a}, {b}); {a}.repeat(1);
    {a} * 2.0; {a} + {b}; {a} - {b}; {a} * {b}; np.sin({a}); np.exp(0.1 * {a});
    {a} / (1.0 + {b} * {b}.conj()); np.sum({a}, axis=0); np.mean({a}, axis={axis}); {a} @ {b};
    np.cumsum({a}); np.outer({a}, {b}); {a}.sum(); np.dot({a}, {b}); np.sum({a}, where={mask});
    {a}[{key}] * {b}[{key}]; checkpointed_fill({a}); checkpointed_product({a}, {b});
    ruled_product({a}, {b}); slope({a}, {b}); filled_slope({a}, {b}); curvature({a});
    pulled({a}); pushed({a}); np.max({a}, axis={axis}); np.abs({a}); {a}.real * {b}.imag;
    np.sort({a}, axis=0); np.diag({a}); np.trace({a}); np.prod({a}, axis={axis});
    np.negative({a}); np.modf({a})[0]
    """
)
"""What makes an array of its own."""

PAIRS = listed(
    """
    np.split({a}, 2); np.array_split({a}, 2); np.hsplit({a}, 2); np.vsplit({a}, 2);
    checkpointed_pair({a}); ruled_pair({a}); np.broadcast_arrays({a}, {b}); {a}[:2];
    np.meshgrid({a}, {b}, copy=False); np.unstack({a}[:2]); {a}, {a}; checkpointed_views({a});
    np.array_split({a}, 2, axis={axis}); checkpointed_two({a}, {b})
    """
)
"""What gives two arrays."""

OFTEN = ("{a}[{key}] = {value}", "{a}[{key}] {sign} {value}", "{a} {sign} {value}")
CHANGES = OFTEN * 8 + listed(
    """
    for row in {a}: row *= 1.25; for row in {a}: row[...] = row[::-1];
    for row in {a}.T: row += {value}; for i, row in enumerate({a}): {b}[i] = row * 2;
    {a}[0], {a}[-1] = {a}[-1], {a}[0]; {a}[0], {a}[1] = {a}[1], {a}[0];
    {a}[{key}], {b}[{key}] = {b}[{key}], {a}[{key}]; {a}[:], {b}[:] = {b}, {a}; double({a});
    fill({a}, {b}); shift({a}); normalize({a}); reverse({a}); double({a}[{key}]); double({a}.T);
    fill({a}[{key}], {value}); np.add({a}, 1.0, out={a}); np.multiply({b}, 0.5, out={a});
    np.sin({b}, out={a}); np.add({a}[:-1], {a}[1:], out={a}[1:]);
    np.multiply({a}, {b}, out={a}[{key}]); np.add({b}, {value}, out={a}, where={mask});
    np.negative({a}, {a}); np.multiply({a}, 2.0, out=({a},), where=np.abs({a}) > 0.5);
    np.abs({b}, out={a}); np.sum({b}, axis=0, out={a}); np.sum({b}, out={a});
    np.mean({b}, axis={axis}, out={a}); np.cumsum({b}, axis=0, out={a});
    np.clip({b}, -0.5, 0.5, out={a}); {b}.sum(0, out={a}); np.matmul({b}, {b}, out={a});
    np.dot({b}, {b}, out={a}); np.concatenate([{b}], out={a}); np.add.accumulate({b}, out={a});
    np.add.reduce({b}, out={a}); np.modf({b}, out=(None, {a})); np.stack([{b}, {b}], out={a});
    np.take({b}, [0], axis=0, out={a}); np.max({b}, 0, out={a}); np.modf({a}, out=({b}, None));
    np.add({a}, {b}, {a}); np.einsum('...->...', {b}, out={a}); np.prod({b}, axis=0, out={a});
    {a}.real = {value}; {a}.imag[{key}] = 0.5; {a}.real[...] = {value}; {a}.T[{key}] = {b};
    {a}.real {sign} {value}; {a}.T {sign} {value}
    """
)
"""What changes an array in place, or tries."""

VALUES = listed(
    """
    2.5; 0.5; {b}; {b}; {b} * 0.5; {a}[::-1]; {a}.T; {a}[{key}]; {a}[{key}]; np.sum({b});
    {b}[{key}]; {b}[...] + 0.25; np.float64(0.75); x; x * {b}; {b}.T; np.array([0.5]); {a} * {b};
    np.ones({b}.shape); np.sin({a}); {b}.real; {a}.reshape(-1)[::2]
    """
)

SIGNS = ("+=", "-=", "*=", "/=", "**=", "//=", "%=", "@=", "+=", "*=")

GENTLE = {"**=": "2", "//=": "1.5", "%=": "1.7", "/=": "3.0"}
"""Values for signs that go astray with others, or have no derivative in most places."""

HELPERS = """
def double(a):
    a *= 2.0

def fill(a, b):
    a[...] = b

def shift(a):
    a[1:] = a[:-1]

def normalize(a):
    a -= a.mean()
    a /= 2.0

def reverse(a):
    a[...] = a[::-1]

def picked(a):
    n, m = a.shape
    return np.einsum("ii->i", a) if n == m else a  # NumPy takes 0 and 1 for equal

def energy(a):
    return np.sum(np.real(a * a.conj()) * 0.5)

def slope(a, b):
    return ta.grad(lambda y: energy(y * b))(a)

def filled_slope(a, b):
    def inner(y):
        z = y * 1.0
        z[...] = z[::-1] * b
        row = z[0]
        z *= 0.5
        return energy(row) + energy(z)
    return ta.grad(inner)(a)

def curvature(a):
    return ta.grad(lambda y: energy(ta.grad(lambda z: energy(z * z))(y)))(a * 0.25)

def pulled(a):
    out, pull = ta.vjp(lambda y: y * y, a)
    out *= 3.0
    return pull(out)[0] * 1.0

def pushed(a):
    out, push = ta.linearize(lambda y: y * y, a)
    out[...] = 0.5
    return push(out) * 1.0

def filled(a):
    b = a * 1.0
    row = b[0]
    b[...] = b[::-1] * 0.5
    row += 1.0
    return b

checkpointed_view = ta.checkpoint(lambda a: a.T)
checkpointed_row = ta.checkpoint(lambda a: a[0])
checkpointed_fill = ta.checkpoint(filled)
checkpointed_product = ta.checkpoint(lambda a, b: a * b)
checkpointed_pair = ta.checkpoint(lambda a: (a, a * 2.0))
checkpointed_views = ta.checkpoint(lambda a: [a[::-1], a[0]])
checkpointed_two = ta.checkpoint(lambda a, b: (b, a))
checkpointed_tree = ta.checkpoint(lambda a: {"up": a[::-1], "n": 3})
ruled_view = ta.custom_rule(pull=lambda ct, out, a: np.swapaxes(ct, -1, -2),
                            push=lambda ts, out, a: np.swapaxes(ts[0], -1, -2))(lambda a: a.mT)
ruled_row = ta.custom_rule(pull=lambda ct, out, a: ct, push=lambda ts, out, a: ts[0])(lambda a: a)
ruled_product = ta.custom_rule(partials=lambda out, a, b: (b, a))(lambda a, b: a * b)
ruled_pair = ta.custom_rule(pull=lambda ct, out, a: ct[0] + 2.0 * ct[1],
                            push=lambda ts, out, a: (ts[0], 2.0 * ts[0]))(lambda a: (a, a * 2.0))
"""
"""What the lines call; the same code on arrays and on handles."""


def is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


@define(eq=False)
class Drawer:
    """Draws lines, knowing which arrays there are.

    Attributes
    ----------
    rng : Generator
    names : dict of str to array
        The arrays of the program so far.
    count : int
        How many names have been given.
    """

    rng: np.random.Generator
    names: Mapping[str, Array]
    count: int = field(default=1, init=False)

    def one(self, of: Any) -> Any:
        """Choose one of a sequence."""
        return of[int(self.rng.integers(len(of)))]

    def line(self) -> str:
        """Draw a line."""
        names = [name for name, value in self.names.items() if name != "x" and is_array(value)]
        if not names:
            self.count += 1
            return f"a{self.count - 1} = x * 1.0"
        a, b = self.one(names), self.one(names)
        kind = self.rng.random()
        if kind < 0.55:
            change = self.one(CHANGES)
            shapes = {np.shape(self.names[a]), np.shape(self.names[b])}
            if (len(shapes) > 1 or () in shapes) and ("cumsum" in change or "accumulate" in change):
                change = "{a} += 1.0"  # NumPy would write beyond the end of what it is given
            return self.filled(change, a, b)
        target = f"a{self.count}"
        self.count += 1
        if kind < 0.63:
            other = f"a{self.count}"
            self.count += 1
            return f"{target}, {other} = " + self.filled(self.one(PAIRS), a, b)
        if kind < 0.66:
            return f"{target} = {a}"
        if kind < 0.74:
            return f"{target} = " + self.filled("{a}[{key}]", a, b)
        return f"{target} = " + self.filled(self.one(VIEWS if kind < 0.88 else COPIES), a, b)

    def filled(self, template: str, a: str, b: str) -> str:
        """Fill names, keys and values into a line, each drawn anew wherever it stands."""
        array = self.names[a]
        drawn: dict[str, Callable[[], str]] = {
            "{value}": lambda: self.one(VALUES),
            "{key}": lambda: self.key(np.shape(array)),
            "{axis}": lambda: str(self.rng.integers(-1, max(np.ndim(array), 1))),
            "{turned}": lambda: str(np.shape(array)[::-1]),
            "{mask}": lambda: self.mask(np.shape(array)),
            "{sign}": lambda: "",
        }
        if "{sign}" in template:
            sign = self.one(SIGNS)
            template = template.replace("{sign}", sign)
            template = template.replace("{value}", GENTLE.get(sign, "{value}"))
            if sign == "@=":
                template = template.replace("{value}", f"np.ones(({np.shape(array)[-1:] or 1})*2)")
        if template.startswith("{a}[{key}], "):
            drawn["{key}"] = lambda: self.key(np.shape(array), masks=False)
        for place, draw in drawn.items():
            while place in template:
                template = template.replace(place, draw(), 1)
        line = template.replace("{a}", a).replace("{b}", b)
        target, mark, value = line.partition(" = ")
        if mark and target.endswith(("]", "True")) and ("==" in target or "True" in target):
            line = f"{target} = np.copy({value})"  # NumPy does not look whether these overlap
        return line

    def mask(self, shape: tuple[int, ...]) -> str:
        """Draw a mask of a shape."""
        size = int(np.prod(shape))
        return f"np.arange({size}).reshape({shape}) % {self.one((2, 3))} == {self.one((0, 1))}"

    def key(self, shape: tuple[int, ...], masks: bool = True) -> str:
        """Draw an index of any kind."""
        whole = ("...", "()", "None", ":", *(("True", f"({self.mask(shape)})") if masks else ()))
        if not shape or self.rng.random() < 0.15:
            return str(self.one(whole))
        if masks and self.rng.random() < 0.1:
            return f"({self.mask(shape[:1])})"
        parts = [self.part(n) for n in shape[: int(self.rng.integers(1, len(shape) + 1))]]
        if self.rng.random() < 0.15:
            parts.insert(int(self.rng.integers(len(parts) + 1)), "None")
        if self.rng.random() < 0.2:
            parts.insert(int(self.rng.integers(len(parts) + 1)), "...")
        return ", ".join(parts)

    def part(self, n: int) -> str:
        """Draw the index of one axis."""
        i, j, k = (int(self.rng.integers(-n, max(n, 1))) for _ in range(3))
        ways = (
            *(str(i), str(i), f"{i}:", f":{i}", f"{min(i, j)}:{max(i, j)}", "::-1", "::2", ":"),
            *("1::2", "::-2", f"[{i}, {j}]", f"[{i}, {i}, {k}]", f"np.array([[{i}], [{j}]])"),
            *(f"np.int64({i})", "1:", ":-1", f"[{i}]"),
        )
        return str(self.one(ways))
