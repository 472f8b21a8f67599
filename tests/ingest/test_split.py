"""The promises of the splitter: exact spans, hard maxima, whole graphemes and words, local boundaries."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from nestling.errors import SettingError
from nestling.ingest.split import split
from nestling.settings import Recipe
from nestling.types import Document, Parent

_ODD = "👨‍👩‍👧‍👦 🇩🇪🇫🇷 é क्षि กำ 각 \r\n \t\n\n # |---| ``` - 1. Dr. 。，！ ' \u2028 \x85 \x00 \ufeff \x0b"
_SNIPPETS = [
    *_ODD.split(" "),
    " ",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "word",
    "Sentence. ",
    "# Head\n\n",
    "| a | b |\n",
]
_TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from([*_SNIPPETS, "## Sub\n", "|---|---|\n", "```\n", "> quote\n", "    code\n"]),
        max_size=120,
    ).map("".join),
)
_WORDS = [
    f"{a}{b}{c}" for a in ("ber", "lo", "tan", "mi") for b in ("da", "ke", "ri") for c in ("n", "s", "", "mo")
]
_SIZES = st.tuples(st.integers(1, 60), st.integers(0, 100), st.integers(0, 59)).map(
    lambda drawn: Recipe(drawn[0], drawn[0] + drawn[1], min(drawn[2], drawn[0] - 1))
)


def _document(text: str, markdown: bool = False) -> Document:
    return Document("doc", text, "Title", source="doc.md" if markdown else None)


def _spans(parents: tuple[Parent, ...]) -> list[tuple[int, int]]:
    return [(child.start, child.end) for parent in parents for child in parent.children]


def _check(text: str, parents: tuple[Parent, ...], recipe: Recipe) -> None:
    if not text.strip():
        assert parents == ()
        return
    clusters = [found.span() for found in regex.finditer(r"\X", text)]
    edges = {0, *(end for _, end in clusters)}
    largest = max(end - start for start, end in clusters)
    assert [parent.start for parent in parents] == [0, *(parent.end for parent in parents[:-1])]
    assert parents[-1].end == len(text)
    for parent in parents:
        assert parent.end - parent.start <= max(recipe.parent_size, largest)
        assert parent.children[0].start == parent.start
        assert parent.children[-1].end == parent.end
        for before, after in pairwise(parent.children):
            assert before.start < after.start <= before.end < after.end
            assert before.end - after.start <= recipe.overlap
        for child in parent.children:
            assert {child.start, child.end} <= edges
            assert child.end - child.start <= max(recipe.child_size, largest)
            assert len(child.lead) <= 200


@settings(max_examples=400, deadline=None)
@given(_TEXTS, _SIZES, st.booleans())
def test_spans_are_exact_and_within_their_sizes(text: str, recipe: Recipe, markdown: bool) -> None:
    """Parents cover the text, children their parent; no size is exceeded and no grapheme is cut."""
    _check(text, split(_document(text, markdown), recipe), recipe)


@settings(max_examples=300, deadline=None)
@given(_TEXTS, _SIZES, st.booleans())
def test_words_are_whole_where_they_fit(text: str, recipe: Recipe, markdown: bool) -> None:
    """A cut lies inside a word only where the piece it ends holds nothing but part of that word."""
    clusters = max((len(found) for found in regex.findall(r"\X", text)), default=0)
    for start, end in _spans(split(_document(text, markdown), recipe))[:-1]:
        if text[end - 1].isspace() or text[end].isspace() or text[end - 1] in "。！？｡．、，；：､،":
            continue
        piece = text[start:end]
        word = text[start:].split(maxsplit=1)[0] if not piece[0].isspace() else ""
        inside = not any(character.isspace() for character in piece)
        assert (inside and len(word) > recipe.child_size) or clusters > 1


@settings(max_examples=200, deadline=None)
@given(_TEXTS, _SIZES, st.booleans())
def test_the_same_document_is_split_the_same_way(text: str, recipe: Recipe, markdown: bool) -> None:
    """Splitting depends on nothing but the document and the recipe."""
    assert split(_document(text, markdown), recipe) == split(_document(text, markdown), recipe)


@settings(max_examples=200, deadline=None)
@given(_TEXTS, st.integers(1, 12), st.integers(0, 20), st.integers(0, 5), st.booleans())
def test_token_sizes_are_never_exceeded(
    text: str, size: int, more: int, overlap: int, markdown: bool
) -> None:
    """With a counter of tokens the maxima hold in tokens, and nothing is lost."""

    def count(piece: str) -> int:
        return sum(1 + len(word) // 4 for word in piece.split())

    recipe = Recipe(size, size + more, min(overlap, size - 1), "tokens")
    parents = split(_document(text, markdown), recipe, count)
    covered = 0
    for parent in parents:
        assert parent.start == covered
        covered = parent.end
        assert parent.children[0].start == parent.start
        assert parent.children[-1].end == parent.end
        for child in parent.children:
            piece = text[child.start : child.end]
            assert count(piece) <= size or len(regex.findall(r"\X", piece)) == 1
    assert covered == (len(text) if text.strip() else 0)


def test_tokens_need_a_counter() -> None:
    """A recipe in tokens without a counter is refused, saying what to pass."""
    with pytest.raises(SettingError, match="token counter"):
        split(_document("text"), Recipe(unit="tokens"))


def test_ids_and_headings() -> None:
    """A document that fits is one parent with its id; else parents and children are numbered."""
    text = (
        "# Title\n\nintro of some length, to stand alone\n\n## One\n\n"
        + "first words. " * 20
        + "\n\n## Two\n\n"
        + "second words. " * 20
    )
    (card,) = split(_document(text, True), Recipe(1000, 1000))
    assert (card.id, card.heading) == ("doc", ("Title",))
    assert card.children[0].id == "doc::00"
    parents = split(_document(text, True), Recipe(100, 300))
    assert [parent.id for parent in parents] == ["doc§1", "doc§2", "doc§3"]
    assert [parent.heading for parent in parents] == [("Title",), ("Title", "One"), ("Title", "Two")]
    assert parents[1].children[1].id == "doc§2::01"
    assert [parent.metadata for parent in parents] == [{}, {}, {}]


def test_children_say_where_they_stand() -> None:
    """A child that begins with its heading does not repeat it in the lead; later ones carry the path."""
    text = "# Guide\n\n## Install\n\n" + "Run the program. " * 60
    children = split(Document("d", text, "Guide", source="d.md"), Recipe())[0].children
    assert children[0].lead == ""
    assert {child.lead for child in children[1:]} == {"Guide › Install: "}


def test_small_sections_share_a_parent_under_their_common_heading() -> None:
    """Short sections are joined up to the budget; a large one stands alone."""
    small = "".join(f"## S{n}\n\nshort text {n}.\n\n" for n in range(6))
    text = f"# T\n\n{small}## Large\n\n" + "Long sentence here. " * 50
    parents = split(_document(text, True), Recipe(200, 600))
    assert parents[0].heading == ("T",)
    assert text[parents[0].start : parents[0].end].count("## S") == 6
    assert all(parent.heading == ("T", "Large") for parent in parents[1:])


def test_a_heading_stays_with_the_text_after_it() -> None:
    """No child ends with a heading whose text is in the next."""
    text = "".join(
        f"## Head {n}\n\n" + f"Words of section {n} go on. " * (3 + n % 7) + "\n\n" for n in range(60)
    )
    for start, end in _spans(split(_document(text, True), Recipe(300, 900))):
        assert not text[start:end].rstrip().splitlines()[-1].startswith("## ")


def test_s1_repeated_text_has_true_offsets() -> None:
    """S1: spans are of each occurrence, not of the first that reads the same."""
    for text, recipe in (
        ("chunk chunk", Recipe(5, 5, 4)),
        ("a b a b", Recipe(2, 4)),
        ("The same sentence. " * 1000, Recipe(100, 400)),
    ):
        parents = split(_document(text), recipe)
        _check(text, parents, recipe)


def test_s2_overlap_makes_progress() -> None:
    """S2: an overlap of nearly the whole size ends, and every child is new text."""
    text = "abc\n" * 50
    recipe = Recipe(50, 1600, 49)
    parents = split(_document(text), recipe)
    _check(text, parents, recipe)
    spans = _spans(parents)
    assert len(spans) <= 50
    assert all(text[start - 1] == "\n" for start, _ in spans[1:])
    with pytest.raises(SettingError, match="overlap"):
        Recipe(50, 1600, 50)


def test_overlap_repeats_whole_words() -> None:
    """A child begins with words of the one before, at most the overlap, never in the middle of a word."""
    text = " ".join(f"word{n}" for n in range(400))
    recipe = Recipe(100, 2000, 30)
    spans = _spans(split(_document(text), recipe))
    _check(text, split(_document(text), recipe), recipe)
    assert all(text[start - 1] == " " for start, _ in spans[1:])
    overlaps = [before[1] - after[0] for before, after in pairwise(spans)]
    assert sum(overlap > 15 for overlap in overlaps) > len(overlaps) * 0.8


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "क्षि", "กำ", "𝔘"])
def test_s3_graphemes_are_never_cut(cluster: str) -> None:
    """S3: no offset falls inside a cluster, at any size."""
    text = cluster * 40
    for size in range(1, 25):
        recipe = Recipe(size, size * 3)
        parents = split(_document(text), recipe)
        _check(text, parents, recipe)


def test_s4_text_without_spaces_is_cut_at_its_marks() -> None:
    """S4: Chinese is cut at full stops first, at commas where there is none."""
    text = ("春天来了" * 9 + "，" + "花开了" * 8 + "。") * 150
    recipe = Recipe()
    spans = _spans(split(_document(text), recipe))
    _check(text, split(_document(text), recipe), recipe)
    assert all(text[end - 1] == "。" for _, end in spans)
    commas = "春天来了，" * 2000
    assert all(commas[end - 1] == "，" for _, end in _spans(split(_document(commas), recipe)))


def test_s6_table_rows_are_whole_and_later_pieces_carry_the_header() -> None:
    """S6: a table longer than a child is cut between rows; each piece is embedded with its header row."""
    header = "| Drug | Dose in mg |\n|---|---|\n"
    rows = [f"| Drug number {n}. With a note. | {n} mg |\n" for n in range(60)]
    text = "# Doses\n\nSee:\n\n" + header + "".join(rows) + "\nAfter.\n"
    children = [c for p in split(_document(text, True), Recipe(200, 800)) for c in p.children]
    assert "".join(text[c.start : c.end] for c in children) == text
    assert text[children[0].start : children[0].end].startswith("# Doses\n\nSee:\n\n" + header + rows[0])
    for child in children[1:]:
        piece = text[child.start : child.end]
        assert piece.startswith("| Drug number")
        assert child.lead == "Title › Doses:\n" + header
        assert all(line.endswith("|") for line in piece.splitlines() if line.startswith("|"))


def test_s6_two_row_header() -> None:
    """S6: both rows of a two-row header go before the later pieces."""
    header = "| | Year | |\n|---|---|---|\n| | 2018 | 2019 |\n"
    text = header + "".join(f"| Item {n} | {n} | {n + 1} |\n" for n in range(40))
    children = split(_document(text, True), Recipe(200, 2000))[0].children
    assert text[children[0].start : children[0].end].startswith(header + "| Item 0")
    assert {child.lead for child in children[1:]} == {"Title:\n" + header}


def test_code_that_fits_is_kept_whole() -> None:
    """A fence that fits a child is not cut, and its lines are whole where it does not fit."""
    code = "```python\n" + "".join(f"value_{n} = compute({n})  # Note. More.\n" for n in range(6)) + "```\n\n"
    text = (
        ("Some prose goes here, and on. " * 8 + "\n\n") + code + ("More prose follows the code. " * 8 + "\n")
    )
    pieces = [text[start:end] for start, end in _spans(split(_document(text, True), Recipe()))]
    assert code in pieces
    long = "```\n" + "".join(f"line {n}. Sentence in it. Another one\n" for n in range(40)) + "```\n"
    for start, end in _spans(split(_document(long, True), Recipe(200, 2000))):
        assert long[end - 1] == "\n"
        assert long[start:end].strip() != "```"


@pytest.mark.parametrize(
    "text", ["word " * 2000, "x" * 5000, "a" * 5000 + " b", "QUJD" * 4000, "{" + '"k":1,' * 900 + "}"]
)
def test_s7_hard_maximum_holds_without_separators(text: str) -> None:
    """S7: no punctuation, one long word, base64, minified JSON."""
    recipe = Recipe()
    parents = split(_document(text), recipe)
    _check(text, parents, recipe)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u2028\x85", "\r\n" * 10])
def test_s8_text_without_words_has_no_parents(text: str) -> None:
    """S8: an empty document, or one of white space, is nothing to find."""
    assert split(_document(text), Recipe()) == ()


@pytest.mark.parametrize("text", ["x", "short", "\ufeffbom", "a\r\nb", "a\rb", "a\0b", "a\u2028b", "a\x85b"])
def test_s8_a_short_document_is_one_parent_with_one_child(text: str) -> None:
    """S8: odd characters stay where they are."""
    (parent,) = split(_document(text), Recipe())
    assert [(child.start, child.end) for child in parent.children] == [(0, len(text))]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\u2028", "\x85"])
def test_s8_every_line_end_is_a_place_to_cut(end: str) -> None:
    """S8: pieces end after a line end of any kind, never inside CRLF."""
    text = (f"one line of words without a stop{end}") * 60
    assert all(text[:cut].endswith(end) for _, cut in _spans(split(_document(text), Recipe())))


def test_s9_a_long_path_never_shortens_the_body() -> None:
    """S9: with a title and headings longer than a child, leads are cut and bodies are not."""
    text = f"# {'Very long heading ' * 40}\n\n## {'Sub heading ' * 60}\n\n" + "Body text here. " * 100
    document = Document("d", text, "A title that goes on " * 50, source="d.md")
    children = [c for p in split(document, Recipe()) for c in p.children]
    assert "".join(text[c.start : c.end] for c in children) == text
    assert all(len(child.lead) <= 200 for child in children)
    assert "…" in children[-1].lead


def test_s10_abbreviations_and_numbers_do_not_end_sentences() -> None:
    """S10: no cut after Dr., e.g., initials or inside 3.5 while there is another place."""
    sentence = "Dr. Smith paid 3.5 million to J. Doe, e.g. this month and No. 7 as well. "
    text = sentence * 100
    assert all(text[:end].endswith("well. ") for _, end in _spans(split(_document(text), Recipe())))


def test_last_piece_is_balanced_with_its_neighbour() -> None:
    """A document a few words over the budget does not end in a child of a few words."""
    text = "Some words make a sentence of this. " * 12
    assert min(end - start for start, end in _spans(split(_document(text), Recipe()))) > 100


def _changed(document: Document, edited: Document) -> int:
    def embedded(each: Document) -> list[tuple[str, str]]:
        return [(c.lead, each.text[c.start : c.end]) for p in split(each, Recipe()) for c in p.children]

    known = set(embedded(document))
    return sum(child not in known for child in embedded(edited))


def _long_text(seed: int, markdown: bool) -> str:
    draw = random.Random(seed)
    parts = []
    for section in range(250):
        if markdown and section % 3 == 0:
            parts.append(f"## Section {section}")
        sentences = [
            " ".join(draw.choice(_WORDS) for _ in range(draw.randint(5, 25))).capitalize() + "."
            for _ in range(draw.randint(3, 14))
        ]
        parts.append(" ".join(sentences))
    return "\n\n".join(parts)


@pytest.mark.parametrize("markdown", [False, True])
def test_l10_one_word_changes_few_children(markdown: bool) -> None:
    """L10: a word inserted at the start of 200 pages changes the children near it, not the rest."""
    changes = []
    for seed in range(8):
        text = _long_text(seed, markdown)
        edited = text.replace(". ", ". Moreover ", 1)
        changes.append(_changed(_document(text, markdown), _document(edited, markdown)))
    assert sorted(changes)[4] <= 5
    assert max(changes) <= 25


def test_l10_holds_without_sentences() -> None:
    """L10: text without any punctuation falls back into step, too."""
    draw = random.Random(5)
    text = " ".join(draw.choice(_WORDS) for _ in range(20_000))
    assert _changed(_document(text), _document("extra " + text)) <= 25


@pytest.mark.parametrize("folder", ["chroma_chunking", "legalbench_rag_small", "financebench_md"])
def test_l10_on_real_documents(folder: str) -> None:
    """L10: on real texts the median change is a handful of children, and children stay near their size."""
    corpus = Path(__file__).parents[2].parent / "shared" / "data" / folder / "corpus.jsonl"
    if not corpus.exists():
        pytest.skip(f"the shared corpus {folder} is not here")
    with corpus.open(encoding="utf-8", newline="\n") as lines:
        cards = sorted((json.loads(line) for line in lines), key=lambda card: -len(card["text"]))[1:4]
    changes, sizes = [], []
    for card in cards:
        document = Document(card["id"], card["text"][:200_000], card["title"])
        place = card["text"].index(" ") + 1
        edited = document.text[:place] + "inserted " + document.text[place:]
        changes.append(_changed(document, replace(document, text=edited)))
        sizes += [end - start for start, end in _spans(split(document, Recipe()))]
    assert sorted(changes)[1] <= 10
    assert sum(sizes) / len(sizes) > 270
