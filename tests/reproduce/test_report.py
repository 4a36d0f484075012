import json

from srmcmc_tf.reproduce import report


def test_report_sets_ours_beside_the_papers_in_one_file(tmp_path):
    result = {
        "title": "Influence of K",
        "command": "bin/reproduce table2",
        "scale": "cpu",
        "seconds": 12.0,
        "machine": "a test",
        "notes": ["n=64 & more"],
        "rows": [
            {
                "label": "K=5",
                "ours": {"fid": 300.0, "f_prime_norm": "diverged"},
                "paper": {"fid": 213.08, "f_prime_norm": 7.78},
            },
            {
                "label": "K=10",
                "ours": {"fid": 250.0, "f_prime_norm": 4.0},
                "errors": {"fid": 1.5},
                "paper": {"fid": 182.5, "f_prime_norm": 3.85},
            },
        ],
    }
    report.write(tmp_path, "table2", result)
    page = report.write_index(tmp_path).read_text()
    assert "| K=5 | 300.00 | 213.08 | diverged | 7.780 |" in (
        tmp_path / "table2.md"
    ).read_text().replace("  ", " ")
    assert (
        "K=10,250.00 ± 1.50,182.50,4.000,3.850"
        in (tmp_path / "table2.csv").read_text()
    )
    assert "n=64 &amp; more" in page and "data:image/png;base64" in page
    assert "http" not in page
    assert json.loads((tmp_path / "table2.json").read_text())["pictures"]
    report.write(tmp_path, "table2", result)  # resumed: its time is added
    assert "- 24 s on a test" in (tmp_path / "table2.md").read_text()


def test_agreement_counts_the_pairs_that_are_ordered_alike():
    ours, paper = (3.0, 2.0, 2.5), (30.0, 20.0, 10.0)
    rows = [
        {"ours": {"fid": a}, "paper": {"fid": b}}
        for a, b in zip(ours, paper, strict=True)
    ]
    assert report.agreement(rows) == [
        "FID orders 2 of 3 pairs of runs as the paper's does"
    ]
