"""The divergence guard: its rule, and the rollback."""
