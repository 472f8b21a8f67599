"""Faces of the nest: the command line."""
