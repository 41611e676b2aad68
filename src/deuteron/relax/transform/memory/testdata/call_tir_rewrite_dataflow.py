# run: CallTIRRewrite
# Dataflow blocks are opened, with destinations or without.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def exp(x: T.Buffer((T.int64(2),), "float32"), compute: T.Buffer((T.int64(2),), "float32")):
        for i0 in range(T.int64(2)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(2), i0)
                T.reads(x[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(x[v_i0])

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(a)
            R.output(b)
        c = R.call_packed("f", b, ty_args=(R.Tensor((2,), "float32"),))
        with R.dataflow():
            d = R.exp(c)
            z = R.call_tir(Module.exp, (d,), out_ty=R.Tensor((2,), "float32"))
            R.output(z)
        return z
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def exp(x: T.Buffer((T.int64(2),), "float32"), compute: T.Buffer((T.int64(2),), "float32")):
        # with T.sblock("root"):
        for i0 in range(T.int64(2)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(2), i0)
                T.reads(x[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(x[v_i0])

    @R.function(pure=False)
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a: R.Tensor((2,), dtype="float32") = R.exp(x)
        b: R.Tensor((2,), dtype="float32") = R.exp(a)
        c: R.Tensor((2,), dtype="float32") = R.call_packed("f", b, ty_args=(R.Tensor((2,), dtype="float32"),))
        d: R.Tensor((2,), dtype="float32") = R.exp(c)
        alloc: R.Tensor((2,), dtype="float32") = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((2,), dtype="float32"),))
        cls.exp(d, alloc)
        z: R.Tensor((2,), dtype="float32") = alloc
        return z
