import logging
import subprocess
import sys

import keras
import pytest
import tensorflow as tf
from helpers import ROOT

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.errors import UserError


def test_the_module_itself_does_not_import_tensorflow():
    code = (
        "import sys; import srmcmc_tf.compat.tensorflow; "
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("kind", ["plain", "loss_scaled"])
def test_gradients_given_as_sums_are_not_summed_again(kind):
    optimizer = inner = keras.optimizers.SGD(1.0)
    if kind == "loss_scaled":
        optimizer = keras.optimizers.LossScaleOptimizer(inner)
    compat.expect_summed_gradients(optimizer)
    pairs = [(tf.constant(1.0), tf.Variable(0.0))]
    assert inner._all_reduce_sum_gradients(pairs) is pairs


def test_functions_of_one_line_are_not_taken_for_a_retraced_one(caplog):
    def function():
        made = tf.function(lambda x: x + 1)
        return compat.without_retracing_warning(made)

    # Commands that ran in this process may have changed level and handlers.
    logger = tf.get_logger()
    with caplog.at_level(logging.WARNING, logger.name):
        logger.addHandler(caplog.handler)
        for _ in range(12):
            function()(tf.constant(1.0))
        assert "retracing" not in caplog.text
        for _ in range(12):  # the warning that is switched off
            tf.function(lambda x: x + 1)(tf.constant(1.0))
        assert "retracing" in caplog.text
        logger.removeHandler(caplog.handler)


def test_a_private_name_that_is_gone_is_reported_with_tested_versions():
    with pytest.raises(UserError, match="tested with keras 3") as error:
        compat.expect_summed_gradients(object())
    assert keras.__version__ in str(error.value)
    assert "\n" not in str(error.value)


def test_the_heartbeat_timeout_reaches_the_coordination_service(monkeypatch):
    from tensorflow.python.eager import context

    given = []

    def configure(service_type, heartbeat_timeout_in_ms=0):
        given.append((service_type, heartbeat_timeout_in_ms))

    name = "configure_coordination_service"
    monkeypatch.setattr(context.context(), name, configure)
    compat.set_heartbeat_timeout(60)
    context.context().configure_coordination_service("standalone")
    assert given == [("standalone", 60_000)]


def test_a_timeout_that_cannot_be_set_is_reported(monkeypatch):
    from tensorflow.python.eager import context

    name = "configure_coordination_service"
    monkeypatch.setattr(context.context(), name, lambda service_type: None)
    with pytest.raises(UserError, match="heartbeat timeout"):
        compat.set_heartbeat_timeout(60)


def test_the_metrics_of_tensorflow_gan_are_imported():
    metrics = compat.tensorflow_gan_metrics()
    assert metrics is compat.tensorflow_gan_metrics()
    logits = tf.constant([[100.0, 0.0], [0.0, 100.0]])
    score = metrics.classifier_score_from_logits(logits)
    assert float(score) == pytest.approx(2.0)


def test_the_source_of_a_dataset_is_found():
    source = tf.data.Dataset.range(3)
    chain = compat.chain_of_datasets(source.repeat().prefetch(2))
    assert any(found is source for found in chain)
    assert list(compat.chain_of_datasets("no dataset")) == ["no dataset"]
