"""The command line as it is used: real processes, the built-in model, pipes, a terminal."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CARDS = (
    {"id": "stomach", "title": "Dosage", "text": "Take it with food, never on an empty stomach."},
    {"id": "fever", "title": "Fever", "text": "See a doctor when a fever lasts for more than three days."},
    {"id": "evil", "title": "E\x1b[1mvil", "text": "harmless\x1b[31m red \x9b2J text\u202e here"},
)
NESTLING = (sys.executable, "-m", "nestling")


def environment(**more: str) -> dict[str, str]:
    """The environment of a plain user."""
    hidden = ("NESTLING_NEST", "NO_COLOR", "TERM")
    return {**{k: v for k, v in os.environ.items() if k not in hidden}, "TERM": "xterm-256color", **more}


def nestling(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*NESTLING, *arguments],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def on_terminal(folder: Path, *arguments: str, **more: str) -> str:
    """What a command writes to a terminal, stdout and stderr together."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*NESTLING, *arguments],
        cwd=folder,
        env=environment(**more),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:
        pass  # Linux says so when the other end is closed
    os.close(ours)
    process.wait(120)
    return written.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with cards and the nest made of them."""
    folder = tmp_path_factory.mktemp("process")
    (folder / "cards.jsonl").write_text("\n".join(map(json.dumps, CARDS)))
    done = nestling(folder, "add", "cards.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nest.nest: 3 added · ")
    return folder


def test_search_in_a_pipe(folder: Path) -> None:
    """The right card comes first, without colour and without a meter."""
    done = nestling(folder, "search", "can I take it on an empty stomach?")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1. Dosage\n   [cite:stomach]")
    assert "\x1b" not in done.stdout


def test_console_script(folder: Path) -> None:
    """The installed ``nestling`` is the same program."""
    script = shutil.which("nestling", path=str(Path(sys.executable).parent))
    assert script is not None
    done = subprocess.run(
        [script, "search", "fever", "-k", "1", "--json"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(done.stdout)["passages"][0]["id"] == "fever"


def test_embedder_by_name(folder: Path) -> None:
    """--embedder names the model of a new nest; an unknown one is refused with the forms, and makes no nest."""
    done = nestling(folder, "add", "cards.jsonl", "--nest", "named.nest", "--embedder", "minilm")
    assert (done.returncode, done.stderr) == (0, "")
    done = nestling(folder, "add", "cards.jsonl", "--nest", "unknown.nest", "--embedder", "wishful")
    assert done.returncode == 3
    assert "the embedder 'wishful' is not known" in done.stderr
    assert not (folder / "unknown.nest").exists()


def test_search_on_a_terminal(folder: Path) -> None:
    """Evidence is green on a terminal; NO_COLOR and a dumb terminal get the same words plain."""
    assert "\x1b[32m" in on_terminal(folder, "search", "empty stomach")
    for variable in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain = on_terminal(folder, "search", "empty stomach", **variable)
        assert "\x1b" not in plain
        assert "Take it with food" in plain


def test_stored_escapes_do_not_reach_a_terminal(folder: Path) -> None:
    """Whatever way a document is shown, its escape sequences are not obeyed."""
    for command in (
        ["search", "harmless"],
        ["context", "harmless"],
        ["show", "evil"],
        ["show", "evil", "--tree"],
        ["list"],
        ["search", "harmless", "--json"],
        ["show", "no\x1b[1mne"],
    ):
        written = on_terminal(folder, *command, NO_COLOR="1")
        assert not set(written) & {"\x1b", "\x9b", "\u202e"}, command


def test_add_on_a_terminal_shows_a_meter(folder: Path) -> None:
    """Adding draws a meter on a terminal and wipes it before the summary."""
    written = on_terminal(folder, "add", "cards.jsonl", "--nest", "metered.nest")
    assert "documents · " in written
    assert "children (" in written
    assert written.rstrip().splitlines()[-1].lstrip().startswith("metered.nest: 3 added")


def test_a_reader_that_goes_away(folder: Path) -> None:
    """``nestling list | head`` ends quietly with 141."""
    process = subprocess.Popen(
        [*NESTLING, "list"], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(120) == 141


def test_interrupt(folder: Path) -> None:
    """Ctrl-C while adding ends with 130 and no traceback, and what is stored is sound."""
    lines = (json.dumps({"id": str(n), "text": f"Sentence {n} of many. " * 40}) for n in range(3000))
    (folder / "many.jsonl").write_text("\n".join(lines))
    process = subprocess.Popen(
        [*NESTLING, "add", "many.jsonl", "--nest", "many.nest"],
        # a shell that runs the tests in the background has it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not (folder / "many.nest").exists():
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=120)
    assert (process.returncode, output) == (130, "")
    assert complaint.startswith("nestling: stopped; every document stored so far is whole")
    assert "Traceback" not in complaint
    assert nestling(folder, "check", "--nest", "many.nest").returncode == 0


def test_locked_by_another_process(folder: Path) -> None:
    """The message about a lock names the process that holds it."""
    program = (
        "import sqlite3, sys; db = sqlite3.connect('nest.nest', isolation_level=None);"
        " db.execute('BEGIN IMMEDIATE'); print(flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    done = nestling(folder, "remove", "nothing", "--timeout", "0.2")
    holder.communicate()
    assert done.returncode == 6
    assert "nest.nest is locked by " in done.stderr
    if Path("/proc/locks").exists():
        assert f"process {holder.pid}" in done.stderr


def test_output_of_another_encoding(folder: Path) -> None:
    """Where the output is not UTF-8, JSON is escaped and text is replaced; nothing fails."""
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    done = nestling(folder, "search", "empty stomach", "--json", **ascii_only)
    assert json.loads(done.stdout)["passages"][0]["id"] == "stomach"
    assert nestling(folder, "search", "empty stomach", **ascii_only).returncode == 0


def test_help_loads_nothing_heavy() -> None:
    """``nestling --help`` imports neither numpy nor a model."""
    program = (
        "import sys\nfrom nestling.apps.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'onnxruntime', 'sqlite3', 'tokenizers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
