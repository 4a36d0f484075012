import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import VALUES

from srmcmc_tf.config import config, presets
from srmcmc_tf.errors import UserError


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("K", "0", "--K=0: must be a whole number, 1 to 100,000"),
        ("K", "ten", "--K=ten: must be a whole number, 1 to 100,000"),
        ("K", "1.5", "--K=1.5: must be a whole number"),
        ("sigma", "-0.1", "must be a number, 0.0 to 10.0"),
        ("sigma", "nan", "must be a number, 0.0 to 10.0"),
        ("image_size", "48", "must be a power of two, 8 to 1,024"),
        ("channels", "2", "must be one of 1, 3"),
        ("dataset", "cifar", "did you mean 'cifar10'?"),
        ("sigma", "Auto", "must be a number, 0.0 to 10.0, or auto"),
        ("ema", "1", "must be a number, 0.0 to 0.99999"),
        ("guard", "yes", "must be one of on, off"),
        ("precision", "float16", "must be one of float32, mixed_bfloat16"),
    ],
)
def test_a_wrong_value_is_answered_with_the_range(name, text, message):
    with pytest.raises(UserError) as error:
        config.parse(name, text)
    assert message in str(error.value)


def test_values_take_the_type_of_their_field():
    assert config.parse("K", "50") == 50
    assert config.parse("learning_rate", "1e-3") == 1e-3
    assert config.parse("data_dir", "12") == "12"


def test_sigma_auto_needs_the_guard():
    assert config.parse("sigma", "auto") == "auto"
    with pytest.raises(UserError, match="needs --guard=on"):
        config.Config(sigma="auto", guard="off")


def test_a_config_survives_json():
    one = dataclasses.replace(presets.load("cifar10"), sigma="auto")
    values = json.loads(json.dumps(dataclasses.asdict(one)))
    assert config.from_dict(values) == one


def test_an_unknown_setting_gets_a_suggestion():
    with pytest.raises(UserError, match="did you mean 'sigma'"):
        config.from_dict({"sigmma": 1})


def test_a_missing_setting_is_an_error():
    values = dataclasses.asdict(presets.load("digits"))
    del values["K"], values["ema"]
    with pytest.raises(UserError, match="lacks K, ema"):
        config.from_dict(values)


@pytest.mark.parametrize("name", ["K", "sigma", "channels", "ema"])
def test_a_bool_is_no_number(name):
    with pytest.raises(UserError, match=f"--{name}=True: must be"):
        dataclasses.replace(presets.load("digits"), **{name: True})


@given(st.sampled_from(sorted(config.FIELDS)), st.text() | VALUES.map(str))
def test_any_text_is_a_value_of_a_setting_or_one_error(name, text):
    try:
        value = config.parse(name, text)
    except UserError:
        return
    field = config.FIELDS[name]
    assert type(value) is field.type or value == field.metadata["word"]
