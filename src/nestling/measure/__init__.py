"""Measuring: golden questions, figures with intervals, comparisons, tuning."""
