"""What search costs as a nest grows, beside other engines; see `__main__`."""
