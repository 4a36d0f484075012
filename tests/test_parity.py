"""Ten updates against two other implementations of Algorithm 1.

Both get our initial weights, batches, starts and noise, and nothing else: one
in NumPy with derivatives by hand, in float64, one in PyTorch.
"""

import numpy as np
import pytest

import srmcmc_tf
from srmcmc_tf.sampling import rng

UPDATES, N, K, SEED, RATE, NOISE = 10, 4, 5, 3, 1e-3, 0.01
SHAPE = (N, 8, 8, 1)
# (stride, padding) of the layers of the paper's network for 8x8 images.
LAYERS = [(1, 1), (2, 1), (1, 0)]


def batch(t):
    generator = np.random.default_rng(t)
    return generator.uniform(-1, 1, SHAPE).astype(np.float32)


def draws(t):
    """The start and the noise of each step of update t, from our streams."""
    stream = rng.stream(SEED).fold(rng.TRAIN, t, 0)
    chain = stream.fold(rng.CHAIN)
    start = stream.fold(rng.START).uniform(SHAPE)
    # Subtracted by the chain.
    steps = [-chain.fold(k).normal(SHAPE).numpy() for k in range(K)]
    return start.numpy(), steps


@pytest.fixture(scope="module")
def ours():
    """Initial weights, f on data and samples of each update, final weights."""
    model = srmcmc_tf.ShortRunEBM(
        srmcmc_tf.energies.convnet(8, 1, n_f=4, seed=1),
        K=K,
        noise=NOISE,
        seed=SEED,
    )
    model.compile(model.adam(RATE))
    first = [w.numpy() for w in model.weights]
    found = []
    for t in range(UPDATES):
        logs = model.train_on_batch(batch(t), return_dict=True)
        found.append([float(logs["f_data"]), float(logs["f_samples"])])
    return first, np.array(found), [w.numpy() for w in model.weights]


def assert_same(ours, found, weights):
    first, f, last = ours
    np.testing.assert_allclose(found, f, rtol=1e-3)
    assert np.abs(np.diff(f, axis=0)).min() > 1e-3  # f moves
    for before, mine, theirs in zip(first, last, weights, strict=True):
        # Adam divides by the size of a gradient, and so makes a step of a
        # rounding error where the gradient is 0, as that of the last bias is.
        if before.size > 1:
            np.testing.assert_allclose(theirs, mine, atol=0.02 * RATE)
            assert np.abs(mine - before).max() > RATE


def test_ten_updates_match_float64_derivatives_by_hand(ours):
    weights = [w.astype(np.float64) for w in ours[0]]
    adam, found = Adam(weights), []
    for t in range(UPDATES):
        x, noise = draws(t)
        x = x.astype(np.float64)
        for draw in noise:
            _, slopes, _ = derivatives(weights, x)
            x = x + slopes + NOISE * draw
        f_data, _, up = derivatives(weights, batch(t).astype(np.float64))
        f_samples, _, down = derivatives(weights, x)
        found.append([f_data.mean(), f_samples.mean()])
        adam.step([(b - a) / N for a, b in zip(up, down, strict=True)])
    assert_same(ours, found, weights)


def test_ten_updates_match_pytorch(ours):
    torch = pytest.importorskip("torch")
    weights = [torch.tensor(w) for w in ours[0]]
    for weight in weights:
        weight.requires_grad_(True)

    def f(x):
        x = x.permute(0, 3, 1, 2)
        for i, (stride, padding) in enumerate(LAYERS):
            kernel = weights[2 * i].permute(3, 2, 0, 1)
            x = torch.nn.functional.conv2d(
                x, kernel, weights[2 * i + 1], stride, padding
            )
            if i + 1 < len(LAYERS):
                x = torch.nn.functional.leaky_relu(x, 0.2)
        return x.flatten()

    optimizer = torch.optim.Adam(weights, RATE, (0.9, 0.999), eps=1e-8)
    found = []
    for t in range(UPDATES):
        start, noise = draws(t)
        x = torch.tensor(start, requires_grad=True)
        for draw in noise:
            (slopes,) = torch.autograd.grad(f(x).sum(), x)
            x = (x + slopes + NOISE * torch.tensor(draw)).detach()
            x.requires_grad_(True)
        f_data, f_samples = f(torch.tensor(batch(t))).mean(), f(x).mean()
        found.append([f_data.item(), f_samples.item()])
        optimizer.zero_grad()
        (f_samples - f_data).backward()
        optimizer.step()
    assert_same(ours, found, [w.detach().numpy() for w in weights])


def derivatives(weights, x):
    """f [n], f' by x, and the sum over images of f' by each weight."""
    inputs, slopes = [], []
    for i, (stride, padding) in enumerate(LAYERS):
        inputs.append(x)
        patches = windows(x, weights[2 * i].shape[0], stride, padding)
        x = np.einsum("nhwcij,ijco->nhwo", patches, weights[2 * i])
        x = x + weights[2 * i + 1]
        slopes.append(np.where(x > 0, 1.0, 0.2))
        if i + 1 < len(LAYERS):
            x = x * slopes[-1]
    f, back, by_weight = x.reshape(-1), np.ones_like(x), []
    for i in reversed(range(len(LAYERS))):
        stride, padding = LAYERS[i]
        if i + 1 < len(LAYERS):
            back = back * slopes[i]
        kernel = weights[2 * i]
        patches = windows(inputs[i], kernel.shape[0], stride, padding)
        by_kernel = np.einsum("nhwcij,nhwo->ijco", patches, back)
        by_weight = [by_kernel, back.sum(axis=(0, 1, 2)), *by_weight]
        back = transposed(back, kernel, stride, padding, inputs[i].shape)
    return f, back, by_weight


def windows(x, size, stride, padding):
    edges = [(0, 0), (padding, padding), (padding, padding), (0, 0)]
    view = np.lib.stride_tricks.sliding_window_view
    found = view(np.pad(x, edges), (size, size), axis=(1, 2))
    return found[:, ::stride, ::stride]


def transposed(back, kernel, stride, padding, shape):
    n, h, w, c = shape
    x = np.zeros((n, h + 2 * padding, w + 2 * padding, c))
    rows, columns = (stride * size for size in back.shape[1:3])
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            part = x[:, i : i + rows : stride, j : j + columns : stride]
            part += back @ kernel[i, j].T
    return x[:, padding : padding + h, padding : padding + w]


class Adam:
    """Kingma and Ba's Algorithm 1, in place."""

    def __init__(self, weights):
        self.weights, self.t = weights, 0
        self.m = [np.zeros_like(w) for w in weights]
        self.v = [np.zeros_like(w) for w in weights]

    def step(self, gradients):
        self.t += 1
        for w, m, v, g in zip(
            self.weights, self.m, self.v, gradients, strict=True
        ):
            m += 0.1 * (g - m)
            v += 0.001 * (g**2 - v)
            m_hat, v_hat = m / (1 - 0.9**self.t), v / (1 - 0.999**self.t)
            w -= RATE * m_hat / (np.sqrt(v_hat) + 1e-8)
