"""What keys may do."""

from __future__ import annotations

# each includes those before it
RIGHTS = ("read", "write", "admin")
