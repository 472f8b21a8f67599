"""Keys are kept hashed, beside the nest, for its owner only."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest
from commands import Run

import nestling
from nestling.apps.server.keys import Key, Keys


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    """The keys of a nest that has none yet."""
    return Keys(str(tmp_path / "a.nest"))


def test_a_key_is_found_and_its_file_does_not_hold_it(keys: Keys) -> None:
    """What is stored tells who it is, and not the key."""
    assert not keys.wanted
    assert keys.list() == []
    made = keys.add("web", "write", {"tenant": "acme", "year": 2024}, 60)
    found = keys.find(made)
    assert found == Key(found.number, "web", "write", {"tenant": "acme", "year": 2024}, 60, found.made)  # type: ignore[union-attr]
    assert list(keys.list()) == [found]
    raw = keys.path.read_bytes()
    assert made.rpartition("_")[2].encode() not in raw
    assert b"web" in raw
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600


def test_only_the_key_itself_is_found(keys: Keys) -> None:
    """Any change of it, and anything else, is none."""
    made, other = keys.add("a", "read"), keys.add("b", "read")
    number, secret = made.split("_", 2)[1:]
    other_number = other.split("_")[1]
    wrong = ("", "nk", "nk_", "nk__", f"nk_{number}_", f"nk_{other_number}_{secret}", f"xx_{number}_{secret}")
    for text in (*wrong, made[:-1], made + "x", made.upper(), f" {made}", "nk_é_\udcff'--"):
        assert keys.find(text) is None, text


def test_removing(keys: Keys) -> None:
    """A removed key is none any more, and a key is still needed when none is left."""
    made = keys.add("a", "read")
    keys.remove("a")
    assert keys.find(made) is None
    assert keys.wanted
    with pytest.raises(nestling.NotFoundError, match="nestling keys list"):
        keys.remove("a")


def test_what_is_no_key(keys: Keys) -> None:
    """Names are told apart, and values are in their range."""
    keys.add("a", "read")
    for name, rights, scope, rate in (
        ("a", "read", None, None),
        (" ", "read", None, None),
        ("b", "root", None, None),
        ("b", "read", None, 0),
        ("b", "admin", {"tenant": "acme"}, None),
    ):
        with pytest.raises(nestling.SettingError):
            keys.add(name, rights, scope, rate)
    assert len(keys.list()) == 1


def test_a_file_that_was_put_in_place_counts(keys: Keys, tmp_path: Path) -> None:
    """Another file under the same name is read from then on, by those who had the old one open."""
    made = keys.add("a", "read")
    assert keys.find(made) is not None
    others = Keys(str(tmp_path / "b.nest"))
    other = others.add("b", "read")
    others.close()
    others.path.replace(keys.path)
    assert keys.find(made) is None
    assert keys.find(other) is not None


def test_a_file_that_is_none(keys: Keys) -> None:
    """A damaged file lets nobody in, and is named."""
    keys.path.write_bytes(b"not a database" * 100)
    for call in (keys.list, lambda: keys.find("nk_1_x"), lambda: keys.add("a", "read")):
        with pytest.raises(nestling.StoreError, match=r"a\.nest\.keys cannot be used"):
            call()


def test_several_make_keys_at_once(keys: Keys) -> None:
    """Nothing is lost, whoever makes the file."""
    threads = [
        threading.Thread(target=Keys(str(keys.path)[:-5]).add, args=(f"k{n}", "read")) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [key.name for key in keys.list()] == [f"k{n}" for n in range(8)]


def test_the_commands(run: Run, cards: Path) -> None:
    """A key is printed once on stdout, listed without itself, and removed."""
    made = run("keys", "add", "web", "--rights", "write", "--scope", "tenant=acme", "--rate", "60")
    key = made.stdout.strip()
    assert key.startswith("nk_")
    assert "shown only now" in made.stderr
    found = Keys(str(cards)).find(key)
    assert found is not None
    assert (found.scope, found.rate) == ({"tenant": "acme"}, 60)
    listed = run("keys", "list").stdout
    assert listed.startswith("web\twrite\ttenant=acme\t60\t")
    assert key not in listed
    value = json.loads(run("keys", "list", "--json").stdout)
    assert value["keys"][0]["scope"] == {"tenant": "acme"}
    value = json.loads(run("keys", "add", "other", "--json").stdout)
    assert (value["name"], value["key"][:3]) == ("other", "nk_")
    assert "is removed" in run("keys", "remove", "web").stdout
    assert run("keys", "remove", "web").exit_code == 4
    assert json.loads(run("keys", "remove", "other", "--json").stdout)["removed"] == ["other"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["add", "a", "--scope", "tenant"], 3),
        (["add", "a", "--scope", '{"tenant": ["acme"]}'], 3),
        (["add", "a", "--scope", "tenant=a", "--scope", "tenant=b"], 3),
        (["add", "a", "--scope", "a.b=1"], 3),
        (["add", "a", "--rights", "root"], 2),
        (["add", "a", "--rate", "0"], 2),
        (["add", "a", "--nest", "nothing.nest"], 4),
        (["list", "--nest", "http://localhost:1"], 3),
        (["list", "--bad", "--json"], 2),
    ],
)
def test_commands_that_are_refused(run: Run, cards: Path, arguments: list[str], code: int) -> None:
    """They end with their code, and make nothing."""
    assert run("keys", *arguments).exit_code == code
    assert not list(Path().glob("*.keys"))
