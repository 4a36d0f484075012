"""Links between documents lead somewhere, and no picture is left over."""

import json
import re

import documents
import pytest
from documents import DOCS, DOCUMENTS
from helpers import ROOT

TUTORIAL = DOCS / "tutorial.ipynb"


def targets(path):
    """The relative targets of the links and pictures in a document."""
    text = path.read_text()
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        texts = [c["source"] for c in cells if c["cell_type"] == "markdown"]
        text = "\n".join("".join(lines) for lines in texts)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in found if "://" not in target]


@pytest.mark.parametrize(
    "path", [*DOCUMENTS, TUTORIAL], ids=lambda path: path.name
)
def test_links_lead_to_files_and_headings(path):
    for target in targets(path):
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def anchors(path):
    """The headings of a document, as GitHub names them in links."""
    headings = re.findall(r"^#+ (.*)$", documents.prose(path), re.M)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return [text.replace(" ", "-") for text in words]


def test_every_picture_is_shown():
    shown = {
        (path.parent / target).resolve()
        for path in DOCUMENTS
        for target in targets(path)
    }
    assert set(DOCS.rglob("*.png")) <= shown


def test_every_document_is_linked_from_the_readme():
    linked = {
        (ROOT / target).resolve() for target in targets(ROOT / "README.md")
    }
    assert {*DOCS.glob("*.md"), TUTORIAL} <= linked


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130
