# run: FastMathTransform
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), d: R.Tensor((4,), "float64")):
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            c = R.nn.softmax(b, axis=-1)
            e = R.exp(d)
            gv = (c, e)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fast_exp(x: T.Buffer((n, T.int64(8)), "float32"), compute: T.Buffer((n, T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                f = T.float32()
                n_1 = T.float32()
                clamped = T.float32()
                x_1 = T.float32()
                compute[v_i0, v_i1] = T.Let(T.Select(T.isnan(x_1), x_1, T.Let(T.Let(T.Let((f * f * ((((T.float32(0.0013814467238262296) * f + T.float32(0.008368780836462975)) * f + T.float32(0.04166839271783829)) * f + T.float32(0.1666651964187622)) * f + T.float32(0.4999999403953552)) + f + T.float32(1.0)) * T.reinterpret("float32", T.Cast("int32", n_1) + 127 << 23), where={f: clamped - n_1 * T.float32(0.693359375) - n_1 * T.float32(-0.00021219444170128554)}), where={n_1: T.floor(clamped * T.float32(1.4426950216293335) + T.float32(0.5))}), where={clamped: T.max(T.min(x_1, T.float32(88.3759994506836)), T.float32(-88.0))})), where={x_1: x[v_i0, v_i1]})

    @T.prim_func(private=True, s_tir=True)
    def fast_softmax(b: T.Buffer((n, T.int64(8)), "float32"), T_softmax_norm: T.Buffer((n, T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((n,))
        T_softmax_exp = T.sblock_alloc_buffer((n, T.int64(8)))
        T_softmax_expsum = T.sblock_alloc_buffer((n,))
        for i0, k in T.grid(n, T.int64(8)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(b[v_i0, v_k])
                T.writes(T_softmax_maxelem[v_i0])
                with T.init():
                    T_softmax_maxelem[v_i0] = T.float32(-3.4028234663852886e+38)
                T_softmax_maxelem[v_i0] = T.max(T_softmax_maxelem[v_i0], b[v_i0, v_k])
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(b[v_i0, v_i1], T_softmax_maxelem[v_i0])
                T.writes(T_softmax_exp[v_i0, v_i1])
                f = T.float32()
                n_1 = T.float32()
                clamped = T.float32()
                x = T.float32()
                T_softmax_exp[v_i0, v_i1] = T.Let(T.Select(T.isnan(x), x, T.Let(T.Let(T.Let((f * f * ((((T.float32(0.0013814467238262296) * f + T.float32(0.008368780836462975)) * f + T.float32(0.04166839271783829)) * f + T.float32(0.1666651964187622)) * f + T.float32(0.4999999403953552)) + f + T.float32(1.0)) * T.reinterpret("float32", T.Cast("int32", n_1) + 127 << 23), where={f: clamped - n_1 * T.float32(0.693359375) - n_1 * T.float32(-0.00021219444170128554)}), where={n_1: T.floor(clamped * T.float32(1.4426950216293335) + T.float32(0.5))}), where={clamped: T.max(T.min(x, T.float32(88.3759994506836)), T.float32(-88.0))})), where={x: b[v_i0, v_i1] - T_softmax_maxelem[v_i0]})
        for i0, k in T.grid(n, T.int64(8)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(T_softmax_exp[v_i0, v_k])
                T.writes(T_softmax_expsum[v_i0])
                with T.init():
                    T_softmax_expsum[v_i0] = T.float32(0.0)
                T_softmax_expsum[v_i0] = T_softmax_expsum[v_i0] + T_softmax_exp[v_i0, v_k]
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_softmax_exp[v_i0, v_i1], T_softmax_expsum[v_i0])
                T.writes(T_softmax_norm[v_i0, v_i1])
                T.sblock_attr({"axis": 1})
                T_softmax_norm[v_i0, v_i1] = T_softmax_exp[v_i0, v_i1] / T_softmax_expsum[v_i0]

    @T.prim_func(private=True, s_tir=True)
    def fast_tanh(a: T.Buffer((n, T.int64(8)), "float32"), compute: T.Buffer((n, T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                square = T.float32()
                clamped = T.float32()
                x = T.float32()
                compute[v_i0, v_i1] = T.Let(T.Select(T.isnan(x), x, T.Let(T.Let(clamped * (((((T.float32(2.3508637744806826e-11) * square + T.float32(-1.4704230721918066e-08)) * square + T.float32(9.878664059215225e-06)) * square + T.float32(0.0029858623165637255)) * square + T.float32(0.1297922432422638)) * square + T.float32(1.0)) / (((T.float32(0.00023720329045318067) * square + T.float32(0.024027926847338676)) * square + T.float32(0.46312540769577026)) * square + T.float32(1.0)), where={square: clamped * clamped}), where={clamped: T.max(T.min(x, T.float32(8.0)), T.float32(-8.0))})), where={x: a[v_i0, v_i1]})

    @R.function
    def main(x: R.Tensor((n, 8), dtype="float32"), d: R.Tensor((4,), dtype="float64")) -> R.Tuple(R.Tensor((n, 8), dtype="float32"), R.Tensor((4,), dtype="float64")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.fast_exp, (x,), out_ty=R.Tensor((n, 8), dtype="float32"))
            b = R.call_tir(cls.fast_tanh, (a,), out_ty=R.Tensor((n, 8), dtype="float32"))
            c = R.call_tir(cls.fast_softmax, (b,), out_ty=R.Tensor((n, 8), dtype="float32"))
            e: R.Tensor((4,), dtype="float64") = R.exp(d)
            gv: R.Tuple(R.Tensor((n, 8), dtype="float32"), R.Tensor((4,), dtype="float64")) = c, e
            R.output(gv)
        return gv
