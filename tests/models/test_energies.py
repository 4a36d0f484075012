import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.models import energies


def paper_weights(size, channels, n_f):
    """Weight counts of the paper's tables 4 to 6, added up layer by layer."""
    strided = {
        8: [2],
        16: [2, 4],
        32: [2, 4, 8],
        64: [2, 4, 8, 8],
        128: [2, 4, 8, 8, 8],
    }
    widths = [n_f] + [n_f * factor for factor in strided[size]]
    total = 9 * channels * n_f + n_f
    total += sum(
        16 * a * b + b for a, b in zip(widths, widths[1:], strict=False)
    )
    return total + 16 * widths[-1] + 1


@pytest.mark.parametrize("n_f", [4, 32])
@pytest.mark.parametrize(
    "size, channels", [(8, 1), (16, 2), (32, 3), (64, 3), (128, 3)]
)
def test_networks_are_those_of_the_paper(size, channels, n_f):
    f = energies.convnet(size, channels, n_f=n_f)
    assert f.count_params() == paper_weights(size, channels, n_f)
    assert f(tf.zeros([2, size, size, channels])).shape == (2, 1)


def test_count_that_the_paper_prints():
    assert energies.convnet(32, 3, n_f=64).count_params() == 2_763_393


def test_kernels_and_biases_start_uniform_as_in_pytorch():
    for layer in energies.convnet(32, 3, n_f=32).layers:
        if layer.name.startswith("conv"):
            fan_in = np.prod(layer.kernel.shape[:-1])
            kernel = layer.kernel.numpy() * np.sqrt(fan_in)
            assert np.abs(kernel).max() <= 1
            assert abs(kernel.std() - 1 / np.sqrt(3)) < 0.04
            bias = layer.bias.numpy() * np.sqrt(fan_in)
            assert np.abs(bias).max() <= 1 and np.any(bias)


def test_strided_convolutions_pad_one_on_each_side_as_in_pytorch():
    layer = energies.convnet(16, 1, n_f=2).get_layer("conv_1")
    x = np.random.default_rng(0).normal(size=[1, 16, 16, 2]).astype("float32")
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    expected = tf.nn.conv2d(padded, layer.kernel, 2, "VALID") + layer.bias
    np.testing.assert_allclose(layer(x), expected, atol=1e-5)


def test_seeds_name_initial_weights():
    a, b, c = (energies.convnet(8, 1, n_f=4, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.weights[0], b.weights[0])
    assert np.abs(a.weights[0] - c.weights[0]).max() > 0


def test_mixed_precision_keeps_input_gradient_and_output_float32():
    f = energies.convnet(8, 1, n_f=4, dtype="mixed_bfloat16")
    x = tf.zeros([2, 8, 8, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.dtype == tape.gradient(y, x).dtype == tf.float32
    assert f.get_layer("conv_0").compute_dtype == "bfloat16"
    assert f.get_layer("conv_0").kernel.dtype == "float32"


@pytest.mark.parametrize("size", [4, 12, 33])
def test_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match="power of two"):
        energies.convnet(size)


def test_flop_counts_each_multiplication_and_addition_of_the_convolutions():
    network = energies.convnet(16, 3, n_f=4)
    expected = sum(
        2
        * layer.output.shape[1]
        * layer.output.shape[2]
        * layer.kernel.numpy().size
        for layer in network.layers
        if layer.name.startswith("conv")
    )
    assert energies.flop(16, 3, 4) == expected


def numpy_chain(arrays, z, K):
    """The paper's network and its gradient in float64, written anew."""
    layers = [
        (
            arrays[f"{i:02d}/kernel"].astype(float),
            arrays[f"{i:02d}/bias"].astype(float),
        )
        for i in range(len(arrays) // 2)
    ]
    settings = [(1, 1)] + [(2, 1)] * (len(layers) - 2) + [(1, 0)]

    def windows(shape, kernel, stride, pad):
        size = kernel.shape[0]
        n = (shape[1] + 2 * pad - size) // stride + 1
        for i in range(size):
            for j in range(size):
                rows = slice(i, i + stride * n, stride)
                columns = slice(j, j + stride * n, stride)
                yield i, j, (slice(None), rows, columns)

    def gradient(x):
        shapes, masks = [], []
        for (kernel, bias), (stride, pad) in zip(layers, settings, strict=True):
            padded = np.pad(x, [(0, 0), (pad, pad), (pad, pad), (0, 0)])
            shapes.append(x.shape)
            x = bias + sum(
                padded[place] @ kernel[i, j]
                for i, j, place in windows(x.shape, kernel, stride, pad)
            )
            masks.append(np.where(x > 0, 1.0, 0.2))
            x = x * masks[-1]
        g = np.ones_like(x)  # of f, before the last activation
        for index in reversed(range(len(layers))):
            kernel, (stride, pad) = layers[index][0], settings[index]
            if index < len(layers) - 1:
                g = g * masks[index]
            n, h, w, c = shapes[index]
            back = np.zeros([n, h + 2 * pad, w + 2 * pad, c])
            for i, j, place in windows(shapes[index], kernel, stride, pad):
                back[place] += g @ kernel[i, j].T
            g = back[:, pad : pad + h, pad : pad + w]
        return g

    x = z.astype(float)
    for _ in range(K):
        x = x + gradient(x)
    return x


def test_the_chain_agrees_with_numpy_after_100_steps_at_32x32():
    from srmcmc_tf import ShortRunEBM

    network = energies.convnet(32, 3, n_f=8, seed=3)
    arrays = energies.named_weights(network)
    assert list(arrays)[:3] == ["00/kernel", "00/bias", "01/kernel"]
    model = ShortRunEBM(network, K=100, noise=0.0)
    z = model.start([1, 2])
    expected = numpy_chain(arrays, z.numpy(), 100)
    x = model.sample([1, 2]).numpy()
    assert np.abs(x - z).max() > 0.05
    np.testing.assert_allclose(x, expected, atol=1e-4)
