import pytest

from srmcmc_tf.reproduce import cost, experiments


def test_the_cost_of_the_papers_faces_is_what_the_paper_reports():
    text = cost.describe(experiments.plan("paper"), ["figure1"], "paper")
    # 16 hours for 100,000 updates; ours are 250,000.
    hours = float(text.splitlines()[-1].split(", ")[-1].split()[0])
    assert 36 < hours < 44


def test_a_run_of_two_tables_is_counted_once():
    plan = experiments.plan("cpu")
    once = cost.describe(plan, ["table2"], "cpu")
    both = cost.describe(plan, ["table2", "table2"], "cpu")
    assert both.splitlines()[-1] == once.splitlines()[-1]
    assert both.count("(shared)") == 6 and "(shared)" not in once


def test_points_cost_next_to_nothing():
    text = cost.describe(experiments.plan("paper"), ["toys"], "paper")
    assert "points, about a minute" in text
    assert text.splitlines()[-1].startswith("about 0 hours")


@pytest.mark.parametrize("name", ["table1", "table2", "table3a", "table3b"])
def test_a_table_at_cpu_scale_takes_at_most_two_hours(name):
    text = cost.describe(experiments.plan("cpu"), [name], "cpu")
    assert float(text.splitlines()[-1].split()[1]) <= 2.0
