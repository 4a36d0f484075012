"""Inverse optimal control: the weights of a cost, learned from demonstrations.

    python docs/examples/inverse_optimal_control.py --out=control.png

A cart at position 1 with velocity 0 is pushed for T steps by forces u, at the
cost w_1 sum p^2 + w_2 sum v^2 + w_3 sum u^2. Demonstrations are drawn from
exp(-cost), a Gaussian, exactly. The energy f(u) = -<w, features of u> is a
model of whole control sequences, learned by short-run chains from uniform
noise; its three weights are the cost.
"""

import argparse

import keras
import matplotlib.pyplot as plt
import numpy as np

import srmcmc_tf

T, DT = 10, 0.2
TRUE = np.array([3.0, 1.0, 2.0])  # of position, velocity and force


def system():
    """The states of all steps are G u + g: positions, then velocities."""
    A = np.array([[1.0, DT], [0.0, 1.0]])
    B = np.array([0.5 * DT**2, DT])
    power = [np.linalg.matrix_power(A, t) for t in range(T + 1)]
    g = np.stack([power[t + 1] @ [1.0, 0.0] for t in range(T)], axis=1)
    G = np.zeros([2, T, T])
    for t in range(T):
        for s in range(t + 1):
            G[:, t, s] = power[t - s] @ B
    return G.reshape(2 * T, T), g.reshape(2 * T)


def gaussian(w):
    """The mean and the precision of exp(-cost)."""
    G, g = system()
    weights = np.repeat(w[:2], T)
    precision = 2 * (G.T @ (weights[:, None] * G) + w[2] * np.eye(T))
    return np.linalg.solve(precision, -2 * G.T @ (weights * g)), precision


def demonstrate(n, seed=0):
    mean, precision = gaussian(TRUE)
    noise = np.random.default_rng(seed).normal(size=(n, T))
    root = np.linalg.cholesky(np.linalg.inv(precision))
    return (mean + noise @ root.T).astype("float32")


def energy():
    """f(u) = <theta, h(u)> with theta = -w, at first -1 each."""
    layers = keras.layers
    G, g = system()
    u = keras.Input([T])
    to_states = layers.Dense(2 * T, trainable=False)
    states = to_states(u)
    to_states.set_weights([G.T, g])
    squares = layers.Concatenate()([states, u])
    squares = layers.Multiply()([squares, squares])
    sums = layers.Dense(3, use_bias=False, trainable=False)
    h = sums(squares)
    sums.set_weights([np.repeat(np.eye(3), T, axis=0)])
    start = keras.initializers.Constant(-1.0)
    theta = layers.Dense(1, use_bias=False, kernel_initializer=start)
    return keras.Model(u, theta(h))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="control.png")
    parser.add_argument("--demonstrations", type=int, default=4096)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--K", type=int, default=100)
    args = parser.parse_args(argv)
    keras.utils.set_random_seed(0)  # the order of the data

    data = demonstrate(args.demonstrations)
    s = 0.02  # Langevin at temperature 1, as in the paper's text
    model = srmcmc_tf.ShortRunEBM(
        energy(), K=args.K, step_size=s / 2, noise=s**0.5
    )
    batch = min(256, len(data))
    updates = args.epochs * (len(data) // batch)
    rate = keras.optimizers.schedules.CosineDecay(0.05, updates)
    model.compile(keras.optimizers.Adam(rate))
    path = []
    note = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda *_: path.append(-model.trainable_weights[0][:, 0])
    )
    history = model.fit(
        data, batch_size=batch, epochs=args.epochs, callbacks=[note], verbose=0
    ).history
    path = np.array(path)
    found = path[-1]
    samples = model.sample(range(200)).numpy()
    draw(args.out, data, samples, path, history["gradient_norm"])
    worst = np.abs(found / TRUE - 1).max()
    best, other = gaussian(TRUE)[0], gaussian(found)[0]
    print("cost weights", TRUE, "recovered", np.round(found, 3))
    print(f"largest relative error {worst:.3f}")
    print(f"optimal forces differ by at most {np.abs(best - other).max():.4f}")
    return found


def draw(path, data, samples, weights, gap):
    G, g = system()
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6))
    for u, color, name in ((data, "0.6", "data"), (samples, "r", "chains")):
        positions = (u[:40] @ G.T + g)[:, :T]
        axes[0].plot(DT * np.arange(1, T + 1), positions.T, color, lw=0.5)
        axes[0].plot([], [], color, label=name)
    axes[0].set(title="positions", xlabel="time")
    axes[0].legend()
    for i, name in enumerate(("position", "velocity", "force")):
        axes[1].plot(weights[:, i], f"C{i}", label=name)
        axes[1].axhline(TRUE[i], color=f"C{i}", ls=":")
    axes[1].set(title="weights of the cost (dotted: true)", xlabel="epoch")
    axes[1].legend()
    axes[2].semilogy(gap)
    axes[2].set(title="|E_q h - E_data h|", xlabel="epoch")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main()
