"""Our values next to the paper's: Markdown, CSV, a plot, one page for all.

A report directory holds a `NAME.json` for each table and figure made so far;
the page is written from these.
"""

import base64
import csv
import html
import io
import itertools
import pathlib
from typing import Any

from matplotlib.figure import Figure

from srmcmc_tf.files import atomic, json_file

Result = dict[str, Any]
Row = dict[str, Any]

# Heading of each metric, and its digits after the decimal point.
_HEADS = {
    "fid": ("FID", 2),
    "is": ("IS", 2),
    "mse": ("MSE", 4),
    "f_prime_norm": ("norm of f'", 3),
    "kid": ("KID", 4),
    "digits_classifier_distance": ("digit classifier distance", 3),
}
METRICS = tuple(_HEADS)

_SCHEMA = {"title": str, "seconds": float, "pictures": list}
_REMEDY = "move it away, and reproduce it again"


def write(directory: pathlib.Path, name: str, result: Result) -> None:
    """Writes a table or a figure in all its forms.

    Args:
        directory: the report directory.
        name: of the experiment, such as `table2`.
        result: a dictionary of `title`, `command`, `scale`, `seconds`,
            `machine` and `notes` (lines of text). A figure has `pictures`,
            paths in the directory. A table has `rows`, each of `label`,
            `ours` and `paper`, both dictionaries of numbers or words by
            metric, and `errors` of ours. The seconds of earlier calls, which
            it resumed, are added.
    """
    path = directory / f"{name}.json"
    if before := json_file.read(path, _SCHEMA, remedy=_REMEDY):
        seconds = before["seconds"] + result["seconds"]
        result = {**result, "seconds": seconds}
    if "rows" in result:
        _write_table(directory, name, result)
        result = {**result, "pictures": [f"{name}.png"]}
    atomic.write_json(path, result)


def agreement(rows: list[Row]) -> list[str]:
    """Returns how often our values order two runs as the paper's do.

    Returns:
        A line per metric.
    """
    lines = []
    for metric, (head, _) in _HEADS.items():
        pairs = [
            (row["ours"][metric], row["paper"][metric])
            for row in rows
            if isinstance(row["ours"].get(metric), float)
            and metric in row["paper"]
        ]
        differ = [
            (a[0] - b[0]) * (a[1] - b[1])
            for a, b in itertools.combinations(pairs, 2)
            if a[1] != b[1]
        ]
        if differ:
            same = sum(d > 0 for d in differ)
            lines.append(
                f"{head} orders {same} of {len(differ)} pairs of runs as the "
                "paper's does"
            )
    return lines


def write_index(directory: pathlib.Path) -> pathlib.Path:
    """Writes everything in the directory as one file, `index.html`.

    Returns:
        Its path.
    """
    parts = []
    for path in sorted(directory.glob("*.json")):
        result = json_file.read(path, _SCHEMA, remedy=_REMEDY) or {}
        parts.append(f"<h2>{path.stem}: {html.escape(result['title'])}</h2>")
        if result.get("rows"):
            parts.append(_html_table(*_cells(result["rows"])))
        for picture in result["pictures"]:
            content = (directory / picture).read_bytes()
            code = base64.b64encode(content).decode()
            parts.append(
                f'<img alt="{picture}" src="data:image/png;base64,{code}">'
            )
        notes = "".join(f"<li>{html.escape(n)}</li>" for n in _notes(result))
        parts.append(f"<ul>{notes}</ul>")
    page = directory / "index.html"
    atomic.write_text(page, _PAGE.format(body="\n".join(parts)))
    return page


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Short-run MCMC: the paper's tables and figures, repeated</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }}
table {{ border-collapse: collapse; }}
td, th {{ border: 1px solid #bbb; padding: .2rem .7rem; text-align: right; }}
td:first-child, th:first-child {{ text-align: left; }}
img {{ max-width: 100%; display: block; margin: 1rem 0;
      image-rendering: pixelated; }}
ul {{ color: #555; }}
</style></head><body>
<h1>The paper's tables and figures, repeated</h1>
<p>Nijkamp, Hill, Zhu, Wu: Learning Non-Convergent Non-Persistent Short-Run
MCMC Toward Energy-Based Model (NeurIPS 2019). Made by bin/reproduce of
srmcmc_tf; the notes below each part say at which scale.</p>
{body}
</body></html>
"""


def _write_table(directory: pathlib.Path, name: str, result: Result) -> None:
    header, cells = _cells(result["rows"])
    lines = [
        f"# {result['title']}",
        "",
        "| " + " | ".join(header) + " |",
        "|" + "---|" * len(header),
        *("| " + " | ".join(row) + " |" for row in cells),
        "",
        *(f"- {note}" for note in _notes(result)),
    ]
    atomic.write_text(directory / f"{name}.md", "\n".join(lines) + "\n")
    text = io.StringIO()
    csv.writer(text).writerows([header, *cells])
    atomic.write_text(directory / f"{name}.csv", text.getvalue())
    _plot(directory / f"{name}.png", result["rows"])


def _cells(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Returns a table as text: its header, and the cells of each row."""
    found = {m for row in rows for m in (*row["ours"], *row["paper"])}
    metrics = [m for m in _HEADS if m in found]
    header = ["run"]
    for metric in metrics:
        head = _HEADS[metric][0]
        theirs = any(metric in row["paper"] for row in rows)
        header += [head, f"{head}, paper"] if theirs else [head]
    cells = []
    for row in rows:
        line = [row["label"]]
        for metric in metrics:
            error = row.get("errors", {}).get(metric)
            line.append(_number(row["ours"].get(metric), metric, error))
            if any(metric in other["paper"] for other in rows):
                line.append(_number(row["paper"].get(metric), metric))
        cells.append(line)
    return header, cells


def _number(
    value: float | str | None, metric: str, error: float | None = None
) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    digits = _HEADS[metric][1]
    return f"{value:.{digits}f}" + (f" ± {error:.{digits}f}" if error else "")


def _notes(result: Result) -> list[str]:
    return [
        f"scale {result['scale']}: `{result['command']}`",
        f"{result['seconds']:,.0f} s on {result['machine']}",
        *result["notes"],
    ]


def _html_table(header: list[str], cells: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(c)}</th>" for c in header)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>"
        for row in cells
    )
    return f"<table><tr>{head}</tr>{rows}</table>"


def _plot(path: pathlib.Path, rows: list[Row]) -> None:
    """Draws a panel per metric: the paper's values and ours, side by side."""
    metrics = [m for m in _HEADS if any(m in row["ours"] for row in rows)]
    figure = Figure(figsize=(4.2 * max(len(metrics), 1), 3.6))
    for i, metric in enumerate(metrics):
        axes = figure.add_subplot(1, len(metrics), i + 1)
        for side, at, color in (("paper", -0.2, "C0"), ("ours", 0.2, "C1")):
            points = [
                (x + at, row[side][metric])
                for x, row in enumerate(rows)
                if isinstance(row[side].get(metric), float)
            ]
            if points:
                x, height = zip(*points, strict=True)
                axes.bar(x, height, 0.4, label=side, color=color)
        axes.set_title(_HEADS[metric][0])
        labels = [row["label"] for row in rows]
        axes.set_xticks(range(len(rows)), labels, rotation=45, ha="right")
        axes.set_ylim(top=1.25 * axes.get_ylim()[1])  # room for the legend
        if axes.patches:
            axes.legend(loc="upper right", ncols=2)
    figure.tight_layout()
    with atomic.writer(path) as file:
        figure.savefig(file, dpi=100, format="png")
