"""Nestling beside what one would use instead, with the same model, documents, questions and budgets.

Run by ``make bench-peers``, in a virtual environment of its own: ``cd benchmarks && python -m peers``.
"""
