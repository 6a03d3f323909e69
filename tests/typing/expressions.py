"""What the checkers are asked the types of, and what a program has before it."""

__all__ = ["EXPRESSIONS", "PREAMBLE"]

PREAMBLE = """\
import numpy as np
import tape_ad as ta
from numpy.typing import NDArray

x: NDArray[np.float64] = np.array([[2.0, 0.5], [0.5, 1.0]])
v: NDArray[np.float64] = np.array([0.3, 0.7])
rec = ta.ComputationRecord()
h = rec.tensor(x)
k = rec.tensor(v)
w = rec.tensor([1.0, 2.0, 3.0])
layer = ta.nn.Sequential(ta.nn.Linear("one", 2, 3), ta.nn.relu, ta.nn.Linear("two", 3, 1))
params = ta.nn.init(layer, np.random.default_rng(0))
p = rec.bind(params)


def turned(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return z[::-1] ** 2
"""

EXPRESSIONS: tuple[str, ...] = (
    # Operators, with the handle on either side
    *("h + x", "x + h", "h - x", "x - h", "h * x", "x * h", "h / x", "x / h", "h @ x", "x @ h"),
    *(
        "x ** h",
        "h ** 2",
        "2.0 * h",
        "1 - h",
        "np.float64(2) * h",
        "-h",
        "abs(h)",
        "h > 0",
        "x < h",
    ),
    # Methods and attributes
    *("h[0]", "h[0, 1]", "h[h > 0]", "h.T", "h.sum()", "h.mean(axis=0)", "h.reshape(-1)"),
    *("h.shape", "h.dtype", "h.data.shape", "h.max()", "h.dot(k)", "h.astype(float)"),
    # Ufuncs
    *("np.exp(h)", "np.log(h)", "np.tanh(h)", "np.sqrt(h)", "np.abs(h)", "np.square(h)"),
    *("np.add(h, x)", "np.add(x, h)", "np.maximum(x, h)", "np.maximum(h, 0.0)", "np.power(h, 2)"),
    *("np.arctan2(h, x)", "np.hypot(x, h)", "np.logaddexp(h, 0.0)", "np.matmul(x, h)"),
    *("np.isnan(h)", "np.greater(h, 0)", "np.isfinite(h)", "np.floor(h)", "np.sign(h)"),
    *("np.add.reduce(h)", "np.add.outer(k, v)", "np.multiply.accumulate(h)", "np.modf(h)[0]"),
    # Reductions
    *("np.sum(h)", "np.sum(h, axis=0)", "np.sum(h, axis=0, keepdims=True)", "np.mean(h)"),
    *("np.mean(h, axis=1)", "np.var(h)", "np.std(h, axis=0)", "np.prod(h)", "np.max(h)"),
    *("np.min(h, axis=1)", "np.median(h)", "np.quantile(h, 0.5)", "np.average(k, weights=v)"),
    *("np.average(v, weights=k)", "np.ptp(h)", "np.cumsum(h)", "np.cumprod(h, axis=0)"),
    *("np.nansum(h)", "np.trapezoid(k)", "np.trapezoid(k, v)", "np.argmax(h)", "np.argsort(k)"),
    *("np.any(h)", "np.count_nonzero(h)", "np.allclose(h, x)", "np.cov(h)", "np.corrcoef(h)"),
    # Shapes
    *("np.reshape(h, (4,))", "np.transpose(h)", "np.swapaxes(h, 0, 1)", "np.moveaxis(h, 0, 1)"),
    *("np.squeeze(h)", "np.expand_dims(h, 0)", "np.broadcast_to(k, (3, 2))", "np.ravel(h)"),
    *("np.repeat(k, 2)", "np.tile(k, 2)", "np.roll(k, 1)", "np.flip(h)", "np.pad(k, 1)"),
    *("np.atleast_2d(k)", "np.diag(k)", "np.tril(h)", "np.take(k, 0)", "np.sort(k)"),
    *("np.zeros_like(h)", "np.ones_like(h)", "np.copy(h)", "np.real(h)", "np.shape(h)"),
    *("np.ndim(h)", "np.size(h)", "np.diff(k)", "np.gradient(k)", "np.delete(k, 0)"),
    # Several arrays
    *("np.concatenate([h, h])", "np.concatenate([h, x])", "np.concatenate((x, h), axis=1)"),
    *("np.stack([k, k])", "np.stack([v, k])", "np.hstack([h, x])", "np.vstack((x, h))"),
    *("np.split(h, 2)", "np.array_split(k, 2)", "np.meshgrid(k, v)", "np.append(k, v)"),
    *("np.where(x > 0, h, 0.0)", "np.where(x > 0, 0.0, h)", "np.where(h > 0, h, x)"),
    *("np.clip(h, 0, 1)", "np.interp(k, v, v)", "np.interp(v, v, k)", "np.linspace(k, v, 3)"),
    *("np.select([x > 0], [h])", "np.searchsorted(v, k)", "np.unique(k)", "np.convolve(k, v)"),
    # Products and linear algebra
    *("np.dot(x, h)", "np.dot(h, v)", "np.inner(k, v)", "np.outer(v, k)", "np.vdot(k, v)"),
    *('np.einsum("ij,j", x, k)', 'np.einsum("ij,j->i", h, v)', "np.tensordot(h, x, 1)"),
    *("np.kron(h, x)", "np.trace(h)", "np.cross(w, np.ones(3))", "np.linalg.solve(h, v)"),
    *("np.linalg.solve(x, k)", "np.linalg.inv(h)", "np.linalg.det(h)", "np.linalg.norm(h)"),
    *("np.linalg.norm(h, axis=1)", "np.linalg.cholesky(h)", "np.linalg.eigvalsh(h)"),
    *("np.linalg.eigh(h).eigenvalues", "np.linalg.svd(h).S", "np.linalg.qr(h).R"),
    *("np.linalg.slogdet(h).logabsdet", "np.linalg.slogdet(h)[1]", "np.linalg.matrix_power(h, 2)"),
    *("np.linalg.pinv(h)", "np.linalg.lstsq(h, v)[0]", "np.linalg.matrix_rank(h)"),
    *("np.linalg.multi_dot([h, x])", "np.fft.fft(k)", "np.fft.irfft(np.fft.rfft(k))"),
    *("np.polyval(k, v)", "np.vander(k)", "np.nan_to_num(h)", "np.linalg.vector_norm(k)"),
    # Layers, activations and losses
    *("params", "p", "layer(p, x)", "layer(params, x)", "layer(params, h)", "layer(p, x)[:, 0]"),
    *('ta.nn.Linear("one", 2, 3)(p, h)', "ta.nn.Dropout(0.0)(p, x)"),
    *("ta.nn.relu(h)", "ta.nn.relu(x)", "ta.nn.gelu(h)", "ta.nn.softmax(h, axis=0)"),
    *("ta.nn.log_softmax(x)", "ta.nn.softplus(h, beta=2.0)", "ta.nn.mse_loss(h, x)"),
    *("ta.nn.mse_loss(x, h)", "ta.nn.cross_entropy(h, np.array([0, 1]))", "h.data", "h.data + 1"),
    *("ta.nn.embedding(np.array([1]), h)", 'ta.nn.huber_loss(h, x, "sum", delta=2.0)'),
    *("ta.nn.mse_loss(layer(p, x)[:, 0], v).grad().wrt(p)", "ta.nn.mse_loss(x, x)"),
    # Gradients and trees
    *("np.sum(h).grad()", "np.sum(h).grad().wrt(h)", 'np.sum(h).grad().wrt({"a": h})'),
    *("np.mean(h).grad().wrt([h, k])", "np.sum(h).grad().wrt((h, k))"),
    *('rec.bind({"a": x, "b": v})', "rec.bind([x, v])", "rec.bind((x, v))", "rec.bind(1.0)"),
    *("ta.hessian(lambda z: np.sum(z**3))(x)", "ta.hessian(lambda z: np.sum(z**3))(h)"),
    *("ta.jacobian(turned)(v)", "ta.jacobian(turned)(k)", "ta.jacobian(ta.jacobian(turned))(v)"),
    *("ta.jacobian(lambda z: z**2)(v)", "ta.jacobian(lambda z: np.sin(z))(k)"),
    *(
        "ta.jacobian(ta.jacobian(lambda z: z**2))(v)",
        "ta.jacobian(ta.grad(lambda z: np.sum(z**3)))(v)",
    ),
    *('rec.bind({"a": {"w": x}})', 'rec.bind([{"w": x}])', 'rec.bind({"a": (x, v)})["a"]'),
)
