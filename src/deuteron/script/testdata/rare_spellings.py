# Spellings that TVM accepts and seldom prints, and those of its older versions.
"""A docstring."""
import tvm
from tvm.script import tir as T, relax as R

metadata = tvm.ir.load_json("""{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]}, {"type_key": "Array", "data": [3]},
  {"type_key": "relax.expr.Constant", "attrs": {"data": "0", "span": "0"}}],
  "b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAACAPwAAAEA="]}""")

@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def old(a: T.handle, b: T.handle, m: T.int64) -> None:
        """Blocks as they were written before."""
        T.func_attr({"global_symbol": "old", "tir.noalias": True})
        n = T.int32()
        A = T.match_buffer(a, (n, 16), dtype="float32")
        B = T.match_buffer(b, [n, 16])
        C = T.alloc_buffer((n, 16))
        for i in range(n):
            for j in tir.serial(0, 16):
                with T.block("C"):
                    vi = T.axis.S(n, i)
                    vj = T.axis.S(16, j)
                    T.reads([A[vi, vj]])
                    T.writes(C[vi, vj])
                    C[vi, vj] = A[vi, vj] if vi < 3 else T.max(A[vi, vj], 0.0)
        for i, j in T.grid(n, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"x": 1})
                D = T.match_buffer(C[vi, vj * 4:vj * 4 + 4], (4,), "float32", offset_factor=1)
                E = T.match_buffer(B[vi, vj * 4:vj * 4 + 4], (4,), "float32")
                for k in T.vectorized(4):
                    if k == 0:
                        E[k] = D[k] * 2
                    elif k == 1: E[k] = D[k]; E[k] = E[k] + 1.0
                    else:
                        E[k] = -D[k]

    @T.prim_func(s_tir=True)
    def lowered(A: T.Buffer((16, "p"), "float32"), B: T.Buffer((16,), "float32")):
        p = T.int32()
        T.attr({"pragma_scope": "seq"})
        x: T.let[T.int32] = p * 2
        y = T.bind(x + 1)
        C = T.alloc_local((4,), "float32")
        C[T.truncdiv(y, 3)] = (A[0, 0] + A[1, 0]) ** 2.0
        A[0:4, 0] = T.Broadcast(C[0], 4)
        B[0] = T.float32(7.0 if p > 3 and not p == 5 else -1.0)
        T.evaluate(T.tvm_stack_make_shape(p, 1))

    @R.function
    def main(x: Tensor((2,), "float32"), s: R.Shape(ndim=2), t: R.Tensor(None, "float32", ndim=3), u: R.Object, f: R.Callable(ret=R.Any)):
        k = R.const([[1, 2], [3, 4]])
        a, b = R.split(R.add(x, metadata["relax.expr.Constant"][0]), 2)
        with relax.dataflow():
            y: R.Tensor((1,), "float32") = -a + b * b - R.const(2.0)
            z = relax.nn.relu(y); w = (z, R.shape([3, 4]))
            relax.output(z, w)
        r = R.reshape(R.tile(x, [2]), shape=(2, 2))
        e = R.sum(x=r, axis=1, keepdims=True)
        return (e, w[0], r @ r)
