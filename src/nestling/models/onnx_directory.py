"""Any sentence embedding model in a local directory: a sentence-transformers directory with an ONNX file in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nestling.errors import ModelError
from nestling.models.embedder import Vectors
from nestling.models.onnx_text import OnnxText, Pooling
from nestling.models.spec_text import write_languages, write_spec
from nestling.models.vectors import check_texts

# Read where no file of the directory says how many tokens the model reads.
MAX_TOKENS = 512
# Modules whose work is done here; any other must be inside the ONNX file.
MODULES = frozenset({"Transformer", "Pooling", "Normalize"})


class OnnxDirectory:
    """An `Embedder` on a local directory. Making one loads the model. Safe to use from several threads.

    Read, as far as they exist: ``model.onnx`` or ``onnx/model.onnx``; ``tokenizer.json``; the most tokens from
    ``sentence_bert_config.json``, ``tokenizer_config.json`` or ``config.json``, else 512; mean or cls pooling
    from ``1_Pooling/config.json``, else mean; the prompts ``query`` and ``document`` (or ``passage``) of
    ``config_sentence_transformers.json`` as prefixes. Vectors are normalised. Nothing is downloaded.

    Args:
        path: The directory.
        query_prefix: Put before every question, in place of the directory's own.
        document_prefix: Put before every text to be found, in place of the directory's own.
        languages: ISO 639-1 codes the model can represent, or None for any.

    Raises:
        ModelError: A file is missing or damaged, or the model needs what is not done here.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
        languages: Iterable[str] | None = None,
    ) -> None:
        self._path = Path(path).absolute()
        model, tokenizer = find_files(self._path)
        pooling = read_pooling(self._path)
        prompts = read_json(self._path / "config_sentence_transformers.json").get("prompts") or {}
        document = prompts.get("document", prompts.get("passage", ""))
        self._query_prefix: str = prompts.get("query", "") if query_prefix is None else query_prefix
        self._document_prefix: str = document if document_prefix is None else document_prefix
        self.max_tokens: int = read_max_tokens(self._path)
        self.languages: frozenset[str] | None = None if languages is None else frozenset(languages)
        self._model = OnnxText(model, tokenizer, max_tokens=self.max_tokens, pooling=pooling)
        self.dimension: int = self._model.embed(["dimension"]).shape[1]
        settings = [pooling, str(self.max_tokens), self._query_prefix, self._document_prefix]
        self.fingerprint: str = f"onnx/{digest([model, tokenizer], settings)[:16]}"
        options = {
            "query_prefix": query_prefix,
            "document_prefix": document_prefix,
            "languages": write_languages(self.languages),
        }
        self.spec: str | None = write_spec("onnx", str(self._path), options)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: shape ``(len(texts), dimension)``, float32, rows of length 1, in order.

        Raises:
            InputError: ``texts`` is not a list of strings.
            ModelError: The model cannot be run.
        """
        return self._embed(texts, self._document_prefix)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: same shape and promises as `embed_documents`."""
        return self._embed(texts, self._query_prefix)

    def count_tokens(self, text: str) -> int:
        """The number of tokens of ``text``, without prefix and special tokens and without cutting."""
        return self._model.count_tokens(text)

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        check_texts(texts)
        return self._model.embed([prefix + text for text in texts]).reshape(len(texts), self.dimension)

    def __repr__(self) -> str:
        return f"OnnxDirectory({str(self._path)!r})"


def find_files(path: Path) -> tuple[Path, Path]:
    """The ONNX file and the tokenizer of a directory.

    Raises:
        ModelError: There is none.
    """
    models = [path / "model.onnx", path / "onnx" / "model.onnx"]
    model = next((each for each in models if each.is_file()), None)
    if model is None:
        raise ModelError(
            f"{path} holds neither model.onnx nor onnx/model.onnx; give a directory with an ONNX export"
        )
    tokenizer = path / "tokenizer.json"
    if not tokenizer.is_file():
        raise ModelError(f"{path} holds no tokenizer.json; save the model's fast tokenizer there")
    return model, tokenizer


def read_pooling(path: Path) -> Pooling:
    """How the directory pools token vectors: ``mean`` where it does not say.

    Raises:
        ModelError: In a way that is not done here, or it has further modules.
    """
    listed = read_json(path / "modules.json", list)
    kinds = {
        str(module.get("type", "")).rpartition(".")[2] for module in listed if isinstance(module, Mapping)
    }
    if kinds - MODULES:
        raise ModelError(
            f"{path} has the module {', '.join(sorted(kinds - MODULES))}, which is not done here; "
            "export the whole of it to one ONNX file, and remove modules.json"
        )
    facts = read_json(path / "1_Pooling" / "config.json")
    modes = [
        name.removeprefix("pooling_mode_") for name, on in facts.items() if on is True and "mode_" in name
    ]
    match modes or [facts.get("pooling_mode", "mean")]:
        case ["mean_tokens"] | ["mean"]:
            return "mean"
        case ["cls_token"] | ["cls"]:
            return "cls"
        case others:
            raise ModelError(
                f"{path} pools by {others}; only mean and cls are done here: export the model with pooling inside"
            )


def read_max_tokens(path: Path) -> int:
    """How many tokens the model of a directory reads, special tokens included."""
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    ):
        value = read_json(path / name).get(key)
        if isinstance(value, int) and 0 < value < 1_000_000:  # tokenizers without a limit name 10 ** 30
            return value
    return MAX_TOKENS


def read_json(path: Path, kind: type = dict) -> Any:
    """The value in a JSON file, or an empty one of ``kind`` where there is no file.

    Raises:
        ModelError: It is not JSON, or of another kind.
    """
    if not path.is_file():
        return kind()
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}; get the model again") from error
    if not isinstance(value, kind):
        raise ModelError(f"{path} holds no JSON {kind.__name__}; get the model again")
    return value


def digest(files: Sequence[Path], settings: Sequence[str]) -> str:
    """The sha256 of the files, of the weights kept beside an ONNX file, and of the settings."""
    total = hashlib.sha256(json.dumps(settings).encode())
    beside = [file.with_name(file.name + end) for file in files for end in ("_data", ".data")]
    for file in [*files, *(each for each in beside if each.is_file())]:
        with file.open("rb") as opened:
            total.update(hashlib.file_digest(opened, "sha256").digest())
    return total.hexdigest()
