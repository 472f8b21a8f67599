"""Where a nest keeps its rows."""
