"""From files, folders, cards and documents to documents; what cannot be read does not stop the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from nestling.ingest.load import load
from nestling.types import Document, Failure


def _documents(item: object, root: object = None) -> list[Document]:
    found = list(load(item, root))  # type: ignore[arg-type]
    assert not [each for each in found if isinstance(each, Failure)]
    return [each for each in found if isinstance(each, Document)]


def _failure(item: object) -> Failure:
    (found,) = load(item)  # type: ignore[arg-type]
    assert isinstance(found, Failure)
    return found


def test_a_folder_is_read_in_order_with_relative_ids(tmp_path: Path) -> None:
    """Ids are POSIX paths under the folder; hidden files and junk are left out."""
    for name in ("b.txt", "a/z.md", "a/b/c.txt", ".hidden.txt", ".git/x.txt", "node_modules/y.txt", "README"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}")
    found = _documents(tmp_path)
    assert [document.id for document in found] == ["README", "a/b/c.txt", "a/z.md", "b.txt"]
    assert found[3].source == str(tmp_path / "b.txt")
    assert found[3].title == "b"


def test_a_single_file_is_named_by_its_name_or_from_the_root(tmp_path: Path) -> None:
    """With a root, a file has the id it has when the folder is read."""
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / "x.txt"
    path.write_text("text")
    assert _documents(str(path))[0].id == "x.txt"
    assert _documents(path, tmp_path)[0].id == "sub/x.txt"


def test_other_files_in_a_folder_are_reported(tmp_path: Path) -> None:
    """A file of no readable kind is named with a reason, and the others are read."""
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "b.txt").write_text("text")
    failed, read = load(tmp_path)
    assert isinstance(read, Document)
    assert failed == Failure(
        str(tmp_path / "a.pdf"),
        ".pdf files are not read; convert it to text or Markdown, or leave it out",
        skipped=True,
    )


def test_folder_links_do_not_loop(tmp_path: Path) -> None:
    """A link to a folder above is not followed."""
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    read, failed = load(tmp_path)
    assert isinstance(read, Document)
    assert isinstance(failed, Failure)
    assert failed.name.endswith("gone.txt")


@pytest.mark.parametrize("text", ["a\r\nb\rc\n", "a\u2028b\x85c\x0bd", "", " \n", "x"])
def test_s8_text_is_read_as_it_stands(tmp_path: Path, text: str) -> None:
    """S8: line ends are not translated, and an empty file is an empty document."""
    path = tmp_path / "t.txt"
    path.write_bytes(text.encode())
    assert _documents(path)[0].text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_s8_byte_order_marks_name_the_encoding_and_are_dropped(tmp_path: Path, encoding: str) -> None:
    """S8: a BOM is no text."""
    path = tmp_path / "t.txt"
    path.write_bytes("Grüße\r\n".encode(encoding))
    assert _documents(path)[0].text == "Grüße\r\n"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"a\0b", "binary"),
        ("Grüße".encode("latin-1"), "not UTF-8 text (byte 2"),
        (b"%PDF-1.4 text", "PDF"),
        (b"\xff\xfea", "not UTF-16-LE"),
    ],
)
def test_s8_what_is_no_text_is_reported(tmp_path: Path, raw: bytes, reason: str) -> None:
    """S8: binary and wrongly encoded files fail with a reason and a next step."""
    path = tmp_path / "t.txt"
    path.write_bytes(raw)
    failure = _failure(path)
    assert failure.name == str(path)
    assert reason in failure.reason


def test_front_matter_becomes_metadata(tmp_path: Path) -> None:
    """Keys go to the metadata, the title to the title, dates to text; the text keeps all of it."""
    text = "---\ntitle: The title\ndate: 2024-02-03\ntags: [a, b]\n1: one\n---\n# Heading\n\nBody\n"
    (tmp_path / "x.md").write_text(text)
    (document,) = _documents(tmp_path / "x.md")
    assert document == Document(
        "x.md",
        text,
        "The title",
        {"date": "2024-02-03", "tags": ["a", "b"], "1": "one"},
        str(tmp_path / "x.md"),
    )


@pytest.mark.parametrize(
    "front",
    [
        "a: [",
        "- list\n- only",
        "a: &x 1\nb: *x",
        "d: 2024-13-45",
        "!!python/object:os.system x: 1",
        "a: {b: .nan}",
    ],
)
def test_broken_front_matter_is_not_fatal(tmp_path: Path, front: str) -> None:
    """YAML that cannot be read or stored leaves the document without metadata."""
    (tmp_path / "x.md").write_text(f"---\n{front}\n---\n# Heading\n")
    (document,) = _documents(tmp_path / "x.md")
    assert document.metadata == {}
    assert document.title == "Heading"


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("x.md", "intro\n\n## Low\n\n# The *Title* #\n", "The Title"),
        ("x.markdown", "no heading", "x"),
        ("x.txt", "# not a heading", "x"),
        ("x.md", "---\ntitle:\n---\ntext", "x"),
        ("x.md", "---\ntitle: 2024\n---\ntext", "2024"),
    ],
)
def test_titles(tmp_path: Path, name: str, text: str, title: str) -> None:
    """Front matter, else the first level-1 heading, else the file's name."""
    (tmp_path / name).write_text(text)
    assert _documents(tmp_path / name)[0].title == title


def test_cards_are_read_line_by_line(tmp_path: Path) -> None:
    """Lines end at line feeds only; other keys join the metadata; whole numbers become ids."""
    cards = [
        {"id": 7, "text": "one\u2028two\x85three", "title": "Seven", "metadata": {"a": 1}, "b": None},
        {"id": "x", "text": "t", "source": "https://x.y", "a": 1, "metadata": {"a": 2}},
    ]
    path = tmp_path / "cards.jsonl"
    path.write_text("\n\n".join(json.dumps(card, ensure_ascii=False) for card in cards), encoding="utf-8")
    assert _documents(path) == [
        Document("7", "one\u2028two\x85three", "Seven", {"b": None, "a": 1}, str(path)),
        Document("x", "t", "", {"a": 2}, "https://x.y"),
    ]


def test_a_bad_line_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    """Each line that holds no card is reported with its number."""
    bad = ["{", "[]", '{"id": "a"}', '{"text": "t"}', '{"id": true, "text": "t"}', '{"id": "a", "text": NaN}']
    bad += [
        '{"id": "a", "text": 3}',
        '{"id": "a", "text": "t", "metadata": []}',
        '{"id": "a", "text": "\\ud800"}',
        "\xff",
    ]
    path = tmp_path / "cards.jsonl"
    path.write_bytes(b"\n".join([*(line.encode("latin-1") for line in bad), b'{"id": "good", "text": "t"}']))
    *failed, good = load(path)
    assert isinstance(good, Document)
    assert len(failed) == len(bad)
    for number, each in enumerate(failed, 1):
        assert isinstance(each, Failure)
        assert each.name == str(path)
        assert each.reason.startswith(f"line {number}: ")


def test_anything_nested_is_read_in_order(tmp_path: Path) -> None:
    """Documents, cards, paths and iterables of them mix."""
    (tmp_path / "a.txt").write_text("a")
    items = [Document("d", "t"), [{"id": "c", "text": "t"}, iter([tmp_path / "a.txt"])]]
    assert [document.id for document in _documents(items)] == ["d", "c", "a.txt"]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("no/such/file.txt", "no such file"),
        ("some text\0 that is no path", "no such file"),
        ("long " * 2000, "no such file"),
        (b"bytes", "no document"),
        (7, "no document"),
        (None, "no document"),
        ({"id": "x"}, "no 'text'"),
        (Document("", "t"), "at least one character"),
    ],
)
def test_what_is_no_source_is_reported(item: object, reason: str) -> None:
    """A wrong input is a failure that names it, not an exception."""
    assert reason in _failure(item).reason


@pytest.mark.skipif(os.name == "nt", reason="names are text on Windows")
def test_a_file_name_that_is_no_text_is_reported(tmp_path: Path) -> None:
    """A name that is no UTF-8 cannot be an id; its failure can be printed."""
    path = os.fsencode(tmp_path) + b"/\xff.txt"
    try:
        with open(path, "w") as file:  # noqa: PTH123
            file.write("x")
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")
    failure = _failure(tmp_path)
    failure.name.encode()
    failure.reason.encode()


def test_load_is_lazy(tmp_path: Path) -> None:
    """Nothing is read before it is asked for."""
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(name)
    found = load(tmp_path)
    assert isinstance(next(found), Document)
    (tmp_path / "b.txt").unlink()
    assert [type(each) for each in found] == [Failure, Document]
