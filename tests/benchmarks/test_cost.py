import pytest
import tensorflow as tf

from srmcmc_tf.benchmarks import cost


def test_the_profiler_counts_a_matrix_product():
    a, b = tf.TensorSpec([3, 5]), tf.TensorSpec([5, 7])
    assert cost.profile(tf.matmul, a, b) == 2 * 3 * 5 * 7


def test_the_profiler_ignores_what_no_output_needs():
    def function(a, b):
        tf.matmul(a, b)
        return tf.matmul(b, a)

    square = tf.TensorSpec([4, 4])
    assert cost.profile(function, square, square) == 2 * 4**3


def test_the_formula_is_what_the_profiler_counts():
    network, weights, _, step, gradient = cost._count(16, 8)
    assert network == "16x16x3, n_f=8" and int(weights.replace(",", "")) > 0
    assert float(step) == pytest.approx(1.0, abs=0.05)
    assert float(gradient) == pytest.approx(1.0, abs=0.05)


def test_an_update_has_a_peak():
    assert cost.peak(8, 4, 2) > 10.0
