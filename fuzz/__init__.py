"""Fuzzing; see `__main__`."""
