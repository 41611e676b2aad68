"""Searches for texts of com.microsoft on small decoders of random weights, against ONNX Runtime."""

import dataclasses

import numpy as np
import onnx
import onnx.parser
from case import Case
from onnx import TensorProto as T
from onnx import helper, numpy_helper

N, F = np.int32, np.float32
WORDS, HEADS, SIZE, WIDTH = 11, 2, 4, 8


class Weights:
    """Initialisers of random numbers, by name."""

    def __init__(self, seed):
        self.random, self.tensors = np.random.default_rng(seed), []

    def __call__(self, name, *shape):
        self.tensors.append(numpy_helper.from_array((self.random.standard_normal(shape) * 0.7).astype(F), name))
        return name


def value(name, dtype, *shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def contrib(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, domain="com.microsoft", **attributes)


def gpt(layers=2, seed=0):
    """A decoder as convert_generation wraps it."""
    weights = Weights(seed)
    nodes = [helper.make_node("Gather", [weights("words", WORDS, WIDTH), "input_ids"], ["e"]), helper.make_node("Gather", [weights("places", 32, WIDTH), "position_ids"], ["p"]),
             helper.make_node("Add", ["e", "p"], ["x0"])]
    inputs = [value("input_ids", T.INT32, "B", "S"), value("position_ids", T.INT32, "B", "S"), value("attention_mask", T.INT32, "B", "A")]
    outputs = [value("logits", T.FLOAT, "B", "S", WORDS)]
    for n in range(layers):
        qkv = [weights(f"w{n}", WIDTH, 3 * WIDTH), weights(f"b{n}", 3 * WIDTH)]
        nodes += [contrib("Attention", [f"x{n}", *qkv, "attention_mask", f"past_{n}"], [f"a{n}", f"present_{n}"], num_heads=HEADS, unidirectional=1),
                  helper.make_node("MatMul", [f"a{n}", weights(f"o{n}", WIDTH, WIDTH)], [f"m{n}"]), helper.make_node("Add", [f"x{n}", f"m{n}"], [f"x{n + 1}"])]
        inputs.append(value(f"past_{n}", T.FLOAT, 2, "B", HEADS, "P", SIZE))
        outputs.append(value(f"present_{n}", T.FLOAT, 2, "B", HEADS, "A", SIZE))
    nodes.append(helper.make_node("MatMul", [f"x{layers}", weights("head", WIDTH, WORDS)], ["logits"]))
    return helper.make_graph(nodes, "decoder", inputs, outputs, weights.tensors)


def cross_attention(weights, nodes, n, x, mask):
    """Adds that of layer n of the decoder to `x`."""
    nodes += [helper.make_node("MatMul", [x, weights(f"cq{n}", WIDTH, WIDTH)], [f"cq_{n}"]),
              contrib("MultiHeadAttention", [f"cq_{n}", f"past_key_cross_{n}", f"past_value_cross_{n}", "", mask] if mask else [f"cq_{n}", f"past_key_cross_{n}", f"past_value_cross_{n}"],
                      [f"c{n}"], num_heads=HEADS),
              helper.make_node("MatMul", [f"c{n}", weights(f"co{n}", WIDTH, WIDTH)], [f"cm{n}"]), helper.make_node("Add", [x, f"cm{n}"], [f"d{n + 1}"])]


def self_attention(weights, nodes, n, x, pasts):
    """And that to the words before."""
    nodes += [helper.make_node("MatMul", [x, weights(f"s{part}{n}", WIDTH, WIDTH)], [f"s{part}_{n}"]) for part in "qkv"]
    presents = [f"present_key_self_{n}", f"present_value_self_{n}"]
    nodes += [contrib("MultiHeadAttention", [f"sq_{n}", f"sk_{n}", f"sv_{n}", "", "", "", *pasts], [f"s{n}", *presents], num_heads=HEADS, unidirectional=1),
              helper.make_node("MatMul", [f"s{n}", weights(f"so{n}", WIDTH, WIDTH)], [f"sm{n}"]), helper.make_node("Add", [x, f"sm{n}"], [f"t{n}"])]


def t5(layers=2, seed=1, features=False):
    """(encoder, decoder): the encoder makes keys and values for the decoder, of words or of frames of sound."""
    weights = Weights(seed)
    source = value("encoder_input_ids", T.FLOAT, "B", WIDTH, "E") if features else value("encoder_input_ids", T.INT32, "B", "E")
    nodes = [helper.make_node("Transpose", ["encoder_input_ids"], ["h"], perm=[0, 2, 1])] if features else [
        helper.make_node("Gather", [weights("source", WORDS, WIDTH), "encoder_input_ids"], ["h"])]
    outputs = []
    for n in range(layers):
        for part in ("key", "value"):
            nodes += [helper.make_node("MatMul", ["h", weights(f"x{part}{n}", WIDTH, WIDTH)], [f"{part}{n}"]),
                      helper.make_node("Reshape", [f"{part}{n}", "split"], [f"{part}_{n}"]),
                      helper.make_node("Transpose", [f"{part}_{n}"], [f"present_{part}_cross_{n}"], perm=[0, 2, 1, 3])]
            outputs.append(value(f"present_{part}_cross_{n}", T.FLOAT, "B", HEADS, "E", SIZE))
    weights.tensors.append(numpy_helper.from_array(np.array([0, 0, HEADS, SIZE]), "split"))
    encoder = [nodes, [source] if features else [source, value("encoder_attention_mask", T.INT32, "B", "E")], outputs, weights.tensors]

    def decoder(first):
        """The layers; the first word has no past."""
        weights = Weights(seed + 1)
        ids = "decoder_input_ids" if first else "input_ids"
        nodes = [helper.make_node("Gather", [weights("words", WORDS, WIDTH), ids], ["d0"])]
        inputs, outputs = [], []
        for n in range(layers):
            self_attention(weights, nodes, n, f"d{n}", [] if first else [f"past_key_self_{n}", f"past_value_self_{n}"])
            cross_attention(weights, nodes, n, f"t{n}", "" if features else "encoder_attention_mask")
            inputs += [value(f"past_{part}_self_{n}", T.FLOAT, "B", HEADS, "P", SIZE) for part in ("key", "value")]
            outputs += [value(f"present_{part}_self_{n}", T.FLOAT, "B", HEADS, "Q", SIZE) for part in ("key", "value")]
        inputs += [value(f"past_{part}_cross_{n}", T.FLOAT, "B", HEADS, "E", SIZE) for n in range(layers) for part in ("key", "value")]
        nodes.append(helper.make_node("MatMul", [f"d{layers}", weights("head", WIDTH, WORDS)], ["logits"]))
        return nodes, inputs, [value("logits", T.FLOAT, "B", "L", WORDS), *outputs], weights.tensors

    nodes, inputs, outputs, tensors = decoder(first=False)
    masks = [] if features else [value("encoder_attention_mask", T.INT32, "B", "E")]
    return (helper.make_graph(encoder[0], "encoder", *encoder[1:]),
            helper.make_graph(nodes, "decoder", [value("input_ids", T.INT32, "B", 1), *masks, *inputs], outputs, tensors)), encoder, decoder


def with_first_words(encoder, decoder, features):
    """An encoder that computes the first words, too, as earlier converters write it."""
    nodes, inputs, outputs, tensors = encoder
    first, _, made, more = decoder(first=True)
    # Its keys and values are those that it makes itself.
    for node in first:
        for k, name in enumerate(node.input):
            if name.startswith("past_") and "cross" in name:
                node.input[k] = name.replace("past", "present", 1)
    hidden = [helper.make_node("Identity", ["h"], ["encoder_hidden_states"])]
    return helper.make_graph([*nodes, *hidden, *first], "encoder", [*inputs, value("decoder_input_ids", T.INT32, "B", "L" if features else 1)],
                             [made[0], value("encoder_hidden_states", T.FLOAT, "B", "E", WIDTH), *made[1:], *outputs], [*tensors, *more])


def search(op, names, given, constants, outputs=1, symbols=(), **attributes):
    """A model of one node; inputs `symbols` have no fixed sizes."""
    def info(name, array):
        shape = [f"{name}_{axis}" for axis in range(array.ndim)] if name in symbols else array.shape
        return value(name, helper.np_dtype_to_tensor_dtype(array.dtype), *shape)

    results = [f"y{n}" for n in range(outputs)]
    node = contrib(op, [name if name in given or name in constants else "" for name in names], results, name="/search", **attributes)
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph([node], "g", [info(name, array) for name, array in given.items()], [onnx.ValueInfoProto(name=name) for name in results], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    def defined(words):
        """None behind the end of all rows."""
        length = given["ids"].shape[1]
        ends = [k for k in range(length, words.shape[1]) if (words[:, k] == attributes["pad_token_id"]).all()]
        return np.broadcast_to(np.arange(words.shape[1]) <= (ends[0] if ends else words.shape[1]), words.shape)

    return Case(op, list(given.values()), model, defined=defined if op in ("GreedySearch", "Sampling") else None)


def one(number, dtype=N):
    return np.array([number], dtype)


GREEDY = ["ids", "longest", "least", "penalty", "words", "first", "mask"]
BEAMS = ["ids", "longest", "least", "beams", "returned", "by_length", "penalty", "words", "first", "mask", "begun", "processor"]


def prompts():
    yield np.array([[9, 1, 2, 4], [5, 6, 7, 8]], N), {"pad_token_id": 9, "eos_token_id": 3}
    yield np.array([[9, 9, 2, 4], [9, 6, 7, 8], [1, 2, 1, 2]], N), {"pad_token_id": 9, "eos_token_id": 10}
    yield np.array([[5]], N), {"pad_token_id": 0, "eos_token_id": 5}


def rules(ids):
    """Inputs that say which words are allowed."""
    rows, allowed = len(ids), np.ones(WORDS, N)
    allowed[[1, 3]] = 0
    begun = np.ones((rows, WORDS), N)
    begun[:, 4:] = 0
    seen = np.ones(ids.shape, N)
    seen[0, 0] = ids.shape[1] == 1
    yield {}, {}
    yield {"least": one(9)}, {"no_repeat_ngram_size": 2}
    yield {"penalty": one(1.7, F)}, {"no_repeat_ngram_size": 1}
    yield {"words": allowed, "first": begun, "mask": seen}, {}


def some(cases, every):
    """Of these, every so many: each compiles a decoder twice."""
    return (one for n, one in enumerate(cases) if n % every == 0)


def greedy():
    for ids, attributes in prompts():
        for given, more in rules(ids):
            yield search("GreedySearch", GREEDY, {"ids": ids}, {"longest": one(12), **given}, decoder=gpt(layers=1), **attributes, **more)
    for given, more in rules(ids):
        yield search("GreedySearch", GREEDY, {"ids": ids, "longest": one(11), **given}, {}, symbols=("ids",), decoder=gpt(), **attributes, **more)
    yield search("GreedySearch", GREEDY, {"ids": ids}, {"longest": one(ids.shape[1] + 1)}, decoder=gpt(), **attributes)
    yield search("GreedySearch", GREEDY, {"ids": ids}, {"longest": one(10)}, decoder=gpt(), init_decoder=gpt(), **attributes)


SAMPLES = [*GREEDY, "presence", "seed"]


def chain(scores):
    """A decoder whose scores depend on the last word alone."""
    text = f"""decoder (int32[B, S] input_ids, int32[B, S] position_ids, int32[B, A] attention_mask, float[2, B, {HEADS}, P, {SIZE}] past_0)
        => (float[B, S, {WORDS}] logits, float[2, B, {HEADS}, A, {SIZE}] present_0) {{
        logits = Gather(scores, input_ids) b = Shape<start: int = 0, end: int = 1>(input_ids) s = Shape<start: int = 1, end: int = 2>(input_ids)
        shape = Concat<axis: int = 0>(two, b, heads, s, size) new = ConstantOfShape(shape) present_0 = Concat<axis: int = 3>(past_0, new) }}"""
    graph = onnx.parser.parse_graph(text)
    constants = {"scores": scores, "two": np.array([2]), "heads": np.array([HEADS]), "size": np.array([SIZE])}
    graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    return graph


def drawn(seed, number):
    """Number `number` of the stream of a seed, in [0, 1), by SplitMix64."""
    z, mask = (seed + 0x9E3779B97F4A7C15 * (number + 1)) & (2**64 - 1), 2**64 - 1
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return F(((z ^ z >> 31) >> 40) * 2.0**-24)


def sampling():
    # Where one word is left, as the best, in ONNX Runtime.
    for ids, attributes in prompts():
        for given, more in rules(ids):
            for rest in ({"custom": 1}, {"min_tokens_to_keep": 1, "temperature": 0.5}):
                yield search("Sampling", SAMPLES, {"ids": ids}, {"longest": one(10), "seed": one(3), **given}, decoder=gpt(layers=1), top_p=1e-6, **rest, **attributes, **more)
    # Of several, by numbers of our own.
    scores = np.random.default_rng(7).standard_normal((WORDS, WORDS)).astype(F)
    ids, longest, rows = np.array([[3, 1], [4, 2], [5, 6]], N), 20, 3
    for seed, temperature, share, custom in [(1, 1.0, 0.9, 1), (9, 0.7, 0.5, 1), (9, 1.5, 0.8, 0)]:
        texts = np.zeros((rows, longest), N)
        texts[:, :2], ended = ids, np.zeros(rows, bool)
        for step, at in enumerate(range(2, longest)):
            for row in range(rows):
                own = scores[texts[row, at - 1]] / F(temperature)
                order = np.argsort(-own if custom else own, kind="stable")
                p = np.exp(own[order] - own.max())
                sums = np.cumsum(p / p.sum())
                out = np.concatenate([[0], sums[:-1]]) > share if custom else (sums <= 1 - F(share)) & (np.arange(WORDS) < WORDS - 2)
                own[order[out]] = -1e20
                p = np.exp(own - own.max())
                word = int((np.cumsum(p / p.sum())[:-1] <= drawn(seed, step * rows + row)).sum())
                ended[row] |= word == 10
                texts[row, at] = 9 if ended[row] else word
            if ended.all():
                break
        made = search("Sampling", SAMPLES, {"ids": ids}, {"longest": one(longest), "seed": one(seed)}, decoder=chain(scores), pad_token_id=9, eos_token_id=10, top_p=share, custom=custom,
                      temperature=temperature, min_tokens_to_keep=2)
        yield dataclasses.replace(made, expected=[texts])


def counts(beams, returned, by_length=1.0):
    """Those that ONNX Runtime's kernel asks for though its schema does not."""
    return {"beams": one(beams), "returned": one(returned), "by_length": one(by_length, F), "least": one(0)}


def beams():
    for ids, attributes in prompts():
        for given, more in rules(ids):
            yield search("BeamSearch", BEAMS, {"ids": ids}, {"longest": one(12), **counts(3, 2, 1.0), **given}, 3, decoder=gpt(), **attributes, **more)
        for sizes in (counts(1, 1), counts(4, 4, 2.0), counts(4, 1, 0.0), counts(2, 1, -1.0)):
            for early in (0, 1):
                yield search("BeamSearch", BEAMS, {"ids": ids}, {"longest": one(12), **sizes}, 2, early_stopping=early, decoder=gpt(seed=early), **attributes)
            # All of it is told when the model runs.
            yield search("BeamSearch", BEAMS, {"ids": ids, "longest": one(10), **sizes}, {}, 3, symbols=("ids",), decoder=gpt(), **attributes)


def encoded():
    ids = np.array([[0, 0, 4, 5, 6, 1], [7, 8, 0, 3, 0, 1]], N)
    attributes = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "model_type": 1}
    (encoder, decoder), parts, layers = t5()
    for whole in (encoder, with_first_words(parts, layers, features=False)):
        for given in ({}, {"mask": (np.arange(6) > 0).astype(N) * np.ones((2, 1), N)}, {"least": one(5), "penalty": one(1.5, F)}):
            for sizes in (counts(3, 2), counts(1, 1), counts(4, 2, 1.5)):
                yield search("BeamSearch", BEAMS, {"ids": ids}, {"longest": one(11), **sizes, **given}, 2, encoder=whole, decoder=decoder, **attributes)
        yield search("BeamSearch", BEAMS, {"ids": ids, "longest": one(9), **counts(3, 2, 1.0)}, {}, 3, symbols=("ids",), encoder=whole, decoder=decoder, no_repeat_ngram_size=2, **attributes)


def sound():
    """As Whisper: what is encoded are frames, the first words are given."""
    frames = np.random.default_rng(5).standard_normal((2, WIDTH, 7)).astype(F)
    (_, decoder), parts, layers = t5(features=True)
    encoder = with_first_words(parts, layers, features=True)
    attributes = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 2, "model_type": 2, "encoder": encoder, "decoder": decoder}
    words = np.array([[2, 5, 7], [2, 5, 8]], N)
    for op in ("BeamSearch", "WhisperBeamSearch"):
        for sizes in (counts(3, 2, 1.0), counts(1, 1, 1.0)):
            yield search(op, BEAMS, {"ids": frames, "begun": words}, {"longest": one(12), **sizes}, 2, **attributes)
            yield search(op, BEAMS, {"ids": frames, "begun": words, "longest": one(10), **sizes}, {}, 2, symbols=("ids", "begun"), **attributes)


def cases():
    for family, every in ((greedy, 1), (sampling, 2), (beams, 3), (encoded, 2), (sound, 2)):
        yield from some(family(), every)
