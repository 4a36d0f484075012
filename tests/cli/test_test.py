import os
import sys

import pytest
from helpers import ROOT

from srmcmc_tf.cli import test as command


def test_arguments_are_passed_to_pytest(monkeypatch):
    started = []
    monkeypatch.chdir(ROOT.parent)
    monkeypatch.setattr(sys, "argv", ["test", "-k", "flags"])
    monkeypatch.setattr(os, "execv", lambda *call: started.append(call))
    command.main()
    ((_, args),) = started
    assert args[1:] == ["-m", "pytest", "-k", "flags"]
    assert os.getcwd() == str(ROOT)


def test_a_missing_pytest_is_explained(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pytest is missing"):
        command.main()
