"""Cases of sequences whose length only the run tells, of elements of different shapes."""

import numpy as np
from case import I, f, graph

JOINED = "y = ConcatFromSequence <axis: int = 0> (s) n = SequenceLength (s)"


def positions():
    for at in (-2, -1, 0, 2):
        position = np.array(at, I)
        yield graph("SequenceOfShapes", [f(2, 3), f(4, 3), f(1, 3), position], """g (float[A,3] x, float[B,3] y, float[C,3] z, int64 p) => (float[D,3] a, float[E,3] b, float[F,3] c, int64 n) {
            s = SequenceConstruct (x, y, z) a = SequenceAt (s, p) e = SequenceErase (s, p) b = ConcatFromSequence <axis: int = 0> (e)
            i = SequenceInsert (e, a, p) c = ConcatFromSequence <axis: int = 0> (i) n = SequenceLength (i) }""")
        yield graph("SequenceOfShapesAlongAnAxis", [f(3, 2, 2), f(3, 4, 2), f(3, 1, 2), position], """g (float[N,A,M] x, float[N,B,M] y, float[N,C,M] z, int64 p) => (float[N,E,M] b, float[N,F,M] c) {
            s = SequenceConstruct (x, y, z) a = SequenceAt (s, p) e = SequenceErase (s, p) b = ConcatFromSequence <axis: int = 1> (e)
            i = SequenceInsert (e, a) c = ConcatFromSequence <axis: int = -2> (i) }""")


def parts():
    for axis in (0, 1, 2):
        x = f(*[6 if k == axis else k + 2 for k in range(3)])
        for sizes in ([2, 3, 1], [6], [0, 6], [1, 0, 5, 0]):
            yield graph("SplitToAnyNumberOfParts", [x, np.array(sizes, I)], f"""g (float[N,M,L] x, int64[K] k) => (float[a,b,c] y, float z, int64 n) {{
                s = SplitToSequence <axis: int = {axis}> (x, k) i = Constant <value: tensor = int64 {{0}}> () a = SequenceAt (s, i) y = Neg (a)
                z = ConcatFromSequence <axis: int = {axis}> (s) n = SequenceLength (s) }}""")
    for size in (1, 4, 7):
        taken = """s = SplitToSequence <axis: int = 1> (x, k) i = Constant <value: tensor = int64 {-1}> () a = SequenceAt (s, i) y = Neg (a)
            z = ConcatFromSequence <axis: int = 1> (s) n = SequenceLength (s) }"""
        yield graph("SplitToPartsOfOneSize", [f(2, 6), np.array(size, I)], f"g (float[N,M] x, int64 k) => (float[a,b] y, float z, int64 n) {{ {taken}")
        yield graph("SplitToPartsOfOneSize", [f(2, 6)], f"g (float[N,M] x) => (float[a,b] y, float z, int64 n) {{ k = Constant <value: tensor = int64 {{{size}}}> () {taken}")
    for sizes in ([2, 3, 1], [6, 0]):
        yield graph("SequenceMapOfShapes", [f(6, 4), np.array(sizes, I), f(4, 2)], """g (float[N,4] x, int64[K] k, float[4,2] w) => (float[a,b] y, float z) {
            s = SplitToSequence <axis: int = 0> (x, k)
            m, r = SequenceMap (s) <body = b (float[q,4] e) => (float[q,2] o, float[1] t) { o = MatMul (e, w) t = ReduceSum <keepdims: int = 0> (o) }>
            y = ConcatFromSequence <axis: int = 0> (m) z = ConcatFromSequence <axis: int = 0, new_axis: int = 1> (r) }""", 18)


def repeated():
    """Each row as often as the run says, as torch's exporter writes it."""
    for counts in ([2, 0, 3, 1], [1]):
        yield graph("RowsRepeated", [f(len(counts), 3), np.array(counts, I)], """g (float[N,3] x, int64[M] k) => (float[A,3] y) {
            t = Constant <value: tensor = bool {1}> () c1 = Constant <value: tensor = int64[1] {1}> () l = Shape (k)
            o = ConstantOfShape <value: tensor = int64[1] {1}> (l) ks = SplitToSequence (k, o) xs = SplitToSequence (x, o) s0 = SequenceEmpty <dtype: int = 1> ()
            b0 = Constant <value: tensor = int64 {0}> () m = Gather (l, b0) s = Loop (m, t, s0) <body = b (int64 i, bool c, seq(float) a) => (bool d, seq(float) z) { d = Identity (c)
                n = SequenceAt (ks, i) e = SequenceAt (xs, i) u = Unsqueeze (e, c1) w = Constant <value: tensor = int64[1] {3}> () q = Concat <axis: int = 0> (c1, n, w)
                v = Expand (u, q) h = Constant <value: tensor = int64[2] {-1, 3}> () r = Reshape (v, h) z = SequenceInsert (a, r) }>
            y = ConcatFromSequence <axis: int = 0> (s) }""")


def graphs_within():
    for choice in (True, False):
        yield graph("IfOfSequences", [np.array(choice), f(2, 3), f(4, 3)], f"""g (bool c, float[A,3] x, float[B,3] y) => (float[C,3] z, int64 n) {{
            s = If (c) <then_branch = p () => (seq(float[k,3]) q) {{ q = SequenceConstruct (x) }},
                        else_branch = o () => (seq(float[k,3]) q) {{ q = SequenceConstruct (y, x, y) }}>
            {JOINED.replace("y =", "z =")} }}""")
    start = "t = Constant <value: tensor = bool {1}> ()"
    step = "(int64 i, bool c, seq(float[r,3]) a) => (bool d, seq(float[q,3]) z) { d = Identity (c)"
    cut = "b0 = Constant <value: tensor = int64[1] {0}> () i1 = Unsqueeze (i, b0) k = Slice (x, b0, i1, b0) z = SequenceInsert (a, k) }"
    for steps in (0, 1, 3):
        yield graph("SequenceThatGrows", [np.array(steps, I), f(2, 3)], f"""g (int64 m, float[A,3] x) => (float[C,3] y, int64 n, float[D,E] last) {{ {start}
            s0 = SequenceConstruct (x) s = Loop (m, t, s0) <body = b {step}
                b1 = Constant <value: tensor = int64 {{-1}}> () e0 = SequenceAt (a, b1) f = Cast <to: int = 1> (i) e = Add (e0, f)
                k = Concat <axis: int = 0> (e, x) z = SequenceInsert (a, k) }}>
            {JOINED} back = Constant <value: tensor = int64 {{-1}}> () last = SequenceAt (s, back) }}""")
        # Of elements of which only a step says what they are.
        yield graph("EmptySequenceThatGrows", [np.array(steps, I), f(2, 3)], f"""g (int64 m, float[A,3] x) => (float[C,3] y, int64 n) {{ {start}
            s0 = SequenceEmpty <dtype: int = 1> () g = Loop (m, t, s0) <body = b {step} {cut}> s = SequenceInsert (g, x) {JOINED} }}""")


def bags():
    """Sums of bags of rows, an empty one among them, as torch's exporter writes an EmbeddingBag: what the first step puts into the sequence is of a shape
    that is known, for it knows which bag is its own; later steps do not."""
    for ends in ([0, 2, 5], [0, 3, 3, 4], [0, 0]):
        count = len(ends) - 1
        yield graph("BagsOfRows", [f(5, 4), np.array(ends, I)], f"""g (float[N,4] x, int64[K] ends) => (float[{count},4] y) {{
            t = Constant <value: tensor = bool {{1}}> () first = Constant <value: tensor = int64 {{0}}> () m = Constant <value: tensor = int64 {{{count}}}> () s0 = SequenceEmpty ()
            flat = Constant <value: tensor = int64[1] {{-1}}> () c0 = Constant <value: tensor = int64[1] {{0}}> () c1 = Constant <value: tensor = int64[1] {{1}}> () c2 = Constant <value: tensor = int64[1] {{2}}> ()
            last, s = Loop (, t, first, s0) <body = b (int64 step, bool c, int64 i, seq(float[p,4]) a) => (bool d, int64 j, seq(float[q,4]) z) {{
                here = Reshape (i, flat) next = Add (here, c1) after = Add (here, c2) begin = Slice (ends, here, next) end = Slice (ends, next, after) none = Equal (begin, end)
                row = If (none) <then_branch = p () => (float[1,4] q) {{ k = Constant <value: tensor = int64[2] {{1, 4}}> () q = ConstantOfShape (k) }},
                                 else_branch = o () => (float[1,4] q) {{ part = Slice (x, begin, end) q = ReduceSum (part, c0) }}>
                z = SequenceInsert (a, row) one = CastLike (c1, i) k1 = Squeeze (one) j = Add (i, k1) d = Less (j, m) }}>
            y = ConcatFromSequence <axis: int = 0> (s) }}""", 20)


def cases():
    yield from positions()
    yield from parts()
    yield from repeated()
    yield from graphs_within()
    yield from bags()
