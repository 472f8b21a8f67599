"""What a key may do: each right holds those before it."""

from __future__ import annotations

RIGHTS = ("read", "write", "admin")
