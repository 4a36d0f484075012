"""The paper's tables and figures: what to run, how to set it beside ours."""
