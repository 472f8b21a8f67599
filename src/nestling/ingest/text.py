"""From the bytes of a file to its text, exactly, or a reason why not."""

from __future__ import annotations

import codecs

from nestling.errors import DocumentError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FORMATS = ((b"%PDF-", "PDF"), (b"{\\rtf", "RTF"), (b"PK\x03\x04", "ZIP (also DOCX, XLSX, EPUB)"))


def decoded(raw: bytes) -> str:
    """Decode a text file.

    Args:
        raw: All of its bytes.

    Returns:
        The text with its line ends as they are, read as UTF-8 or by its byte order mark. The mark itself is
        dropped, being no part of the text.

    Raises:
        DocumentError: The file is binary, or not in that encoding.
    """
    for begin, name in _FORMATS:
        if raw.startswith(begin):
            raise DocumentError(f"this is a {name} file, not text; convert it to text or Markdown first")
    mark, encoding = next(((mark, name) for mark, name in _MARKS if raw.startswith(mark)), (b"", "utf-8"))
    body = memoryview(raw)[len(mark) :]
    if encoding == "utf-8" and b"\0" in raw:
        raise DocumentError(
            "this is a binary file (it holds NUL bytes); convert it to text or Markdown first"
        )
    try:
        return str(body, encoding)
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"this is not {encoding.upper()} text (byte {len(mark) + error.start}: {error.reason}); "
            "save it as UTF-8, or leave it out if it is not text"
        ) from error
