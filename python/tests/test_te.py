"""Scalar and tensor expressions, the computations of operators, and kernels made of them."""

import numpy as np
import pytest

import deuteron
from deuteron import relax, te, tir, topi
from deuteron.script import I, R, T


@I.ir_module
class Product:
    @T.prim_func(private=True)
    def product(a: T.handle, b: T.Buffer((T.int64(32), T.int64(8)), "float32"), c: T.handle):
        T.func_attr({"tirx.noalias": True})
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(32)), "float32")
        C = T.match_buffer(c, (n, T.int64(8)), "float32")
        with T.sblock("root"):
            T.reads()
            T.writes()
            for i0, i1, k in T.grid(n, T.int64(8), T.int64(32)):
                with T.sblock("C"):
                    vi0, vi1, vk = T.axis.remap("SSR", [i0, i1, k])
                    T.reads(A[vi0, vk], b[vk, vi1])
                    T.writes(C[vi0, vi1])
                    with T.init():
                        C[vi0, vi1] = T.float32(0.0)
                    C[vi0, vi1] = C[vi0, vi1] + A[vi0, vk] * b[vk, vi1]


def module_of(body, *shapes, dtype="float32"):
    """A module whose main emits what `body` says of a builder and parameters of these shapes."""
    params = [relax.Var(f"x{i}", relax.TensorType(shape, dtype)) for i, shape in enumerate(shapes)]
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(body(builder, *params))
        builder.emit_func_output(result)
    module = builder.get()
    deuteron.ir.check_well_formed(module)
    return module


def run(body, *arrays, dtype="float32"):
    return deuteron.compile(module_of(body, *(each.shape for each in arrays), dtype=dtype), threads=1)(*arrays)


def test_a_product():
    n = tir.Var("n")
    A = te.placeholder((n, 32), "float32", "A")
    B = te.placeholder((32, 8), "float32", "b")
    k = te.reduce_axis((0, 32), "k")
    C = te.compute((n, 8), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    deuteron.ir.assert_structural_equal(te.create_prim_func([A, B, C]), Product["product"])
    assert repr(C) == "Tensor(C: float32[n, 8])" and C.ndim == 2


@pytest.mark.parametrize(
    "expression, text",
    [
        (lambda n: n + 1, "n + T.int64(1)"),
        (lambda n: 1 - n, "T.int64(1) - n"),
        (lambda n: 2 * n // 3, "T.int64(2) * n // T.int64(3)"),
        (lambda n: n % 4, "n % T.int64(4)"),
        (lambda n: -n, "T.int64(0) - n"),
        (lambda n: n.astype("float32") / 2, "T.Cast(\"float32\", n) / T.float32(2.0)"),
        (lambda n: tir.max(n, 0), "T.max(n, T.int64(0))"),
        (lambda n: tir.all(n < 3, 1 <= n, tir.not_equal(n, 2)), "n < T.int64(3) and n >= T.int64(1) and n != T.int64(2)"),
        (lambda n: tir.if_then_else(n > 0, n, 0), "T.if_then_else(n > T.int64(0), n, T.int64(0))"),
        (lambda n: tir.exp(n.astype("float32")), "T.exp(T.Cast(\"float32\", n))"),
        (lambda n: tir.const(3) + tir.const(4), "T.int64(7)"),
    ],
)
def test_scalars(expression, text):
    assert str(expression(tir.Var("n"))) == text


def test_scalars_that_are_wrong():
    n = tir.Var("n")
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(n < 3)
    with pytest.raises(deuteron.UsageError, match="a scalar is an expression, an axis or a number, not ffi"):
        n + "one"
    with pytest.raises(deuteron.UsageError, match="no intrinsic T.nothing"):
        tir.call_intrin("nothing", n)
    with pytest.raises(deuteron.UsageError, match="takes 1 arguments, given 2"):
        tir.call_intrin("exp", 1.0, 2.0)


def test_dimensions_are_expressions():
    n = relax.symbolic("n")
    x = relax.Var("x", relax.TensorType((n, 3), "float32"))
    both = deuteron.IRModule.from_expr(relax.Function([x], relax.op.reshape(x, (n * 3,))))
    assert deuteron.ir.structural_equal(both["main"].ret_ty, relax.TensorType((n * 3,), "float32"), map_free_vars=True)


def test_emit_te():
    def scaled_rows(a, factors, *, plus):
        return te.compute(a.shape, lambda i, j: a[i, j] * factors[i] + plus, name="scaled")

    x, factors = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([2, 3], np.float32)
    module = module_of(lambda builder, a, f: builder.emit_te(scaled_rows, a, f, plus=0.5), (2, 3), (2,))
    assert "scaled_rows" in module
    [y] = deuteron.compile(module)(x, factors)
    assert np.array_equal(y, x * factors[:, None] + 0.5)


def test_several_results_and_lists():
    def both(pair):
        a, b = pair
        return te.compute(a.shape, lambda i: (tir.max(a(i), b(i)), tir.min(a(i), b(i))))

    a, b = np.array([1, 5, 3], np.float32), np.array([4, 2, 3], np.float32)
    body = lambda builder, x, y: builder.call_te(both, [x, y], primfunc_name_hint="sorted_pair")  # noqa: E731
    assert "sorted_pair" in module_of(body, (3,), (3,))
    greater, less = run(body, a, b)
    assert np.array_equal(greater, np.maximum(a, b)) and np.array_equal(less, np.minimum(a, b))


@pytest.mark.parametrize(
    "reduce, expected",
    [(te.sum, np.sum), (te.max, np.max), (te.min, np.min), (te.prod, np.prod)],
)
def test_reductions(reduce, expected):
    def over_columns(a):
        j = te.reduce_axis((0, a.shape[1]), "j")
        return te.compute((a.shape[0],), lambda i: reduce(a[i, j], axis=j))

    x = np.array([[1, -2, 3], [4, 5, 0.5]], np.float32)
    [y] = run(lambda builder, a: builder.call_te(over_columns, a), x)
    assert np.array_equal(y, expected(x, axis=1))


@pytest.mark.parametrize(
    "body, expected",
    [
        (lambda a, b: topi.add(a, b), lambda a, b: a + b),
        (lambda a, b: topi.nn.relu(topi.subtract(a, b)), lambda a, b: np.maximum(a - b, 0)),
        (lambda a, b: topi.matmul(a, topi.permute_dims(b)), lambda a, b: a @ b.T),
        (lambda a, b: topi.nn.dense(a, b), lambda a, b: a @ b.T),
        (lambda a, b: topi.concat([a, b], axis=1), lambda a, b: np.concatenate([a, b], 1)),
        (lambda a, b: topi.sum(a, axis=[1], keepdims=True), lambda a, b: a.sum(1, keepdims=True)),
        (lambda a, b: topi.reshape(a, (4, 2)), lambda a, b: a.reshape(4, 2)),
        (lambda a, b: topi.split(b, 2, axis=1)[1], lambda a, b: b[:, 2:]),
        (lambda a, b: topi.nn.softmax(a), lambda a, b: np.exp(a) / np.exp(a).sum(-1, keepdims=True)),
    ],
)
def test_topi(body, expected):
    a, b = np.arange(-4, 4, dtype=np.float32).reshape(2, 4), np.ones((2, 4), np.float32)
    [y] = run(lambda builder, x, z: builder.call_te(body, x, z), a, b)
    np.testing.assert_allclose(y, expected(a, b), rtol=1e-6)


def test_symbolic_kernels():
    n = relax.symbolic("n")
    module = module_of(lambda builder, a: builder.emit_te(lambda x: topi.multiply(x, x), a), (n, 3))
    [y] = deuteron.compile(module)(np.full((5, 3), 3, np.float32))
    assert np.array_equal(y, np.full((5, 3), 9, np.float32))


def test_what_is_wrong():
    a, b = te.placeholder((2, 3), name="a"), te.placeholder((4, 5), name="b")
    with pytest.raises(deuteron.ModelError, match="add"):
        topi.add(a, b)
    with pytest.raises(deuteron.UsageError, match="takes tensors of deuteron.te"):
        topi.full((2,), relax.const(1.0), "float32")
    with pytest.raises(AttributeError, match="no operator nothing"):
        topi.nothing
    with pytest.raises(deuteron.UnsupportedError, match="no computation of tensors"):
        topi.shape_of(a)
    with pytest.raises(deuteron.UsageError, match="1 indices for tensor a of rank 2"):
        a[0]
    with pytest.raises(deuteron.UsageError, match="begins at 0"):
        te.reduce_axis((1, 3))
    with pytest.raises(deuteron.UsageError, match="none of te.reduce_axis"):
        te.compute((3,), lambda i: te.sum(i, axis=te.compute((2,), lambda j: j).op.axis[0]))
    with pytest.raises(deuteron.UsageError, match="input b is used"):
        te.create_prim_func([a, te.compute((4,), lambda i: b[i, 0])])
    with pytest.raises(deuteron.UsageError, match="none of the tensors is computed"):
        te.create_prim_func([a, b])
    with pytest.raises(KeyError, match="mine"):
        te.compute((3,), lambda i: {}["mine"])
    with pytest.raises(deuteron.UsageError, match="tensor of known shape"):
        x = relax.Var("x", relax.TensorType(None, "float32", 2))
        relax.BlockBuilder().call_te(topi.nn.relu, x)
