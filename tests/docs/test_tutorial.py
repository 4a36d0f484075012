"""The tutorial runs from top to bottom, and is committed with its results."""

import os
import re

import matplotlib.pyplot as plt
import nbclient
import nbformat
import pytest
from helpers import ROOT

TUTORIAL = ROOT / "docs" / "tutorial.ipynb"


def outputs(notebook):
    return [out for cell in notebook.cells for out in cell.get("outputs", [])]


@pytest.fixture
def notebook():
    return nbformat.read(TUTORIAL, as_version=4)


def test_the_code_of_the_tutorial_runs(
    notebook, few_signatures, tmp_path, monkeypatch, capsys
):
    """In this process, with few updates and iterations."""
    monkeypatch.setenv("TUTORIAL_UPDATES", "2")
    monkeypatch.setattr(plt, "show", plt.close)
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    names = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(re.sub(r"\b100\b", "2", cell.source), names)
    assert "same bits as model.sample: True" in capsys.readouterr().out


@pytest.mark.slow
def test_the_tutorial_runs_in_jupyter(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("TUTORIAL_UPDATES", "2")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    (tmp_path / "docs").mkdir()
    resources = {"metadata": {"path": tmp_path / "docs"}}
    nbclient.NotebookClient(notebook, resources=resources).execute()
    text = "".join(out.get("text", "") for out in outputs(notebook))
    assert "same bits as model.sample: True" in text


def test_the_tutorial_is_committed_with_its_pictures(notebook):
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    kinds = [out.output_type for out in outputs(notebook)]
    assert "error" not in kinds
    pictures = [out for out in outputs(notebook) if "image/png" in str(out)]
    assert len(pictures) >= 6


def test_the_tutorial_names_no_path_of_a_machine(notebook):
    texts = [out.get("text", "") for out in outputs(notebook)]
    assert not any(
        "/home/" in t or "/tmp/" in t or "/work/" in t for t in texts
    )
