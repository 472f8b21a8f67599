"""Who may import whom: read from the imports of every module."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import nestling

ROOT = Path(nestling.__file__).parent
ROOMS = ("ingest", "models", "stores", "retrieve", "measure")
# the modules that join the rooms: the flow with what it is made of, how a nest is opened, how it is kept, tuning,
# which builds nests to measure them, watching, which syncs a nest when a folder changes, and the nest behind a
# server, which reads files as adding does
JOINTS = {
    f"nestling.{name}"
    for name in (
        *("nest", "adding", "asking", "changes", "editions", "indexing", "querying", "rebuilding", "syncing"),
        *("opening", "keeping", "tuning", "watching", "client", "sending"),
    )
}


def imports() -> dict[str, set[str]]:
    """Every module of the package and the modules of the package that it imports."""
    found: dict[str, set[str]] = {}
    for file in ROOT.rglob("*.py"):
        name = ".".join(("nestling", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name} has a relative import"
                wanted.add(node.module or "")
                wanted |= {f"{node.module}.{alias.name}" for alias in node.names}
        found[name] = {module for module in wanted if module.startswith("nestling")}
    return {name: {module for module in wanted if module in found} for name, wanted in found.items()}


def room(module: str) -> str:
    """The folder a module is in, or "" for the modules on top."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or ((ROOT / parts[-1]).is_dir() and len(parts) == 2) else ""


def test_rooms_do_not_know_each_other() -> None:
    """Ingest, models, stores, retrieve and measure import only themselves and the values on top."""
    for module, wanted in imports().items():
        if room(module) in ROOMS:
            others = {other for other in wanted if room(other) not in ("", room(module))}
            assert not others, f"{module} imports {others}"
            assert not wanted & JOINTS, f"{module} imports {wanted & JOINTS}"


def test_values_know_no_room() -> None:
    """The modules on top, but for the joints and the package itself, import no room."""
    for module, wanted in imports().items():
        if not room(module) and module not in JOINTS | {"nestling", "nestling.__main__"}:
            assert not {other for other in wanted if room(other)}, module


def test_apps_use_public_names() -> None:
    """Apps import the package and its defaults, never a room or a joint behind it."""
    for module, wanted in imports().items():
        if room(module) == "apps":
            behind = {other for other in wanted if room(other) != "apps"} - {"nestling", "nestling.settings"}
            assert not behind, f"{module} imports {behind}"


def test_no_circles() -> None:
    """The imports of the package have an order (the package's own lazy names aside)."""
    graph = {module: wanted - {"nestling"} for module, wanted in imports().items() if module != "nestling"}
    TopologicalSorter(graph).prepare()
