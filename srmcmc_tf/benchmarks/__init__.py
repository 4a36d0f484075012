"""What bin/benchmark measures: a module a question, a function a table."""
