"""From ranked lists to passages and contexts: pure functions on values."""
