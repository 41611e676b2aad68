# run: FastMathTransform
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), h: R.Tensor((2, 3), "float16")):
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            c = R.erf(b)
            d = R.nn.softmax(c, axis=-1)
            e = R.exp(h)
            R.output(d, e)
        return (d, e)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fast_erf(b: T.Buffer((T.int64(2), T.int64(3)), "float32"), compute: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(b[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                square = T.float32()
                clamped = T.float32()
                x = T.float32()
                compute[v_i0, v_i1] = T.Let(T.Select(T.isnan(x), x, T.Let(T.Let(clamped * (((((T.float32(2.066474507955718e-06) * square + T.float32(0.0002850625023711473)) * square + T.float32(0.003738352796062827)) * square + T.float32(0.05266810581088066)) * square + T.float32(0.1896669566631317)) * square + T.float32(1.1283791065216064)) / (((((T.float32(3.827004911727272e-05) * square + T.float32(0.0011573780793696642)) * square + T.float32(0.014914290979504585)) * square + T.float32(0.11381901800632477)) * square + T.float32(0.5014207363128662)) * square + T.float32(1.0)), where={square: clamped * clamped}), where={clamped: T.max(T.min(x, T.float32(3.9000000953674316)), T.float32(-3.9000000953674316))})), where={x: b[v_i0, v_i1]})

    @T.prim_func(private=True, s_tir=True)
    def fast_exp(x: T.Buffer((T.int64(2), T.int64(3)), "float32"), compute: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                f = T.float32()
                n = T.float32()
                clamped = T.float32()
                x_1 = T.float32()
                compute[v_i0, v_i1] = T.Let(T.Select(T.isnan(x_1), x_1, T.Let(T.Let(T.Let((f * f * ((((T.float32(0.0013814467238262296) * f + T.float32(0.008368780836462975)) * f + T.float32(0.04166839271783829)) * f + T.float32(0.1666651964187622)) * f + T.float32(0.4999999403953552)) + f + T.float32(1.0)) * T.reinterpret("float32", T.Cast("int32", n) + 127 << 23), where={f: clamped - n * T.float32(0.693359375) - n * T.float32(-0.00021219444170128554)}), where={n: T.floor(clamped * T.float32(1.4426950216293335) + T.float32(0.5))}), where={clamped: T.max(T.min(x_1, T.float32(88.3759994506836)), T.float32(-88.0))})), where={x_1: x[v_i0, v_i1]})

    @T.prim_func(private=True, s_tir=True)
    def fast_exp1(h: T.Buffer((T.int64(2), T.int64(3)), "float16"), compute: T.Buffer((T.int64(2), T.int64(3)), "float16")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(h[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                f = T.float32()
                n = T.float32()
                clamped = T.float32()
                x = T.float32()
                compute[v_i0, v_i1] = T.Cast("float16", T.Let(T.Select(T.isnan(x), x, T.Let(T.Let(T.Let((f * f * ((((T.float32(0.0013814467238262296) * f + T.float32(0.008368780836462975)) * f + T.float32(0.04166839271783829)) * f + T.float32(0.1666651964187622)) * f + T.float32(0.4999999403953552)) + f + T.float32(1.0)) * T.reinterpret("float32", T.Cast("int32", n) + 127 << 23), where={f: clamped - n * T.float32(0.693359375) - n * T.float32(-0.00021219444170128554)}), where={n: T.floor(clamped * T.float32(1.4426950216293335) + T.float32(0.5))}), where={clamped: T.max(T.min(x, T.float32(88.3759994506836)), T.float32(-88.0))})), where={x: T.Cast("float32", h[v_i0, v_i1])}))

    @T.prim_func(private=True, s_tir=True)
    def fast_softmax(c: T.Buffer((T.int64(2), T.int64(3)), "float32"), T_softmax_norm: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(2),))
        T_softmax_exp = T.sblock_alloc_buffer((T.int64(2), T.int64(3)))
        T_softmax_expsum = T.sblock_alloc_buffer((T.int64(2),))
        for i0, k in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(c[v_i0, v_k])
                T.writes(T_softmax_maxelem[v_i0])
                with T.init():
                    T_softmax_maxelem[v_i0] = T.float32(-3.4028234663852886e+38)
                T_softmax_maxelem[v_i0] = T.max(T_softmax_maxelem[v_i0], c[v_i0, v_k])
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(c[v_i0, v_i1], T_softmax_maxelem[v_i0])
                T.writes(T_softmax_exp[v_i0, v_i1])
                f = T.float32()
                n = T.float32()
                clamped = T.float32()
                x = T.float32()
                T_softmax_exp[v_i0, v_i1] = T.Let(T.Select(T.isnan(x), x, T.Let(T.Let(T.Let((f * f * ((((T.float32(0.0013814467238262296) * f + T.float32(0.008368780836462975)) * f + T.float32(0.04166839271783829)) * f + T.float32(0.1666651964187622)) * f + T.float32(0.4999999403953552)) + f + T.float32(1.0)) * T.reinterpret("float32", T.Cast("int32", n) + 127 << 23), where={f: clamped - n * T.float32(0.693359375) - n * T.float32(-0.00021219444170128554)}), where={n: T.floor(clamped * T.float32(1.4426950216293335) + T.float32(0.5))}), where={clamped: T.max(T.min(x, T.float32(88.3759994506836)), T.float32(-88.0))})), where={x: c[v_i0, v_i1] - T_softmax_maxelem[v_i0]})
        for i0, k in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(T_softmax_exp[v_i0, v_k])
                T.writes(T_softmax_expsum[v_i0])
                with T.init():
                    T_softmax_expsum[v_i0] = T.float32(0.0)
                T_softmax_expsum[v_i0] = T_softmax_expsum[v_i0] + T_softmax_exp[v_i0, v_k]
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_softmax_exp[v_i0, v_i1], T_softmax_expsum[v_i0])
                T.writes(T_softmax_norm[v_i0, v_i1])
                T.sblock_attr({"axis": 1})
                T_softmax_norm[v_i0, v_i1] = T_softmax_exp[v_i0, v_i1] / T_softmax_expsum[v_i0]

    @T.prim_func(private=True, s_tir=True)
    def fast_tanh(a: T.Buffer((T.int64(2), T.int64(3)), "float32"), compute: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                square = T.float32()
                clamped = T.float32()
                x = T.float32()
                compute[v_i0, v_i1] = T.Let(T.Select(T.isnan(x), x, T.Let(T.Let(clamped * (((((T.float32(2.3508637744806826e-11) * square + T.float32(-1.4704230721918066e-08)) * square + T.float32(9.878664059215225e-06)) * square + T.float32(0.0029858623165637255)) * square + T.float32(0.1297922432422638)) * square + T.float32(1.0)) / (((T.float32(0.00023720329045318067) * square + T.float32(0.024027926847338676)) * square + T.float32(0.46312540769577026)) * square + T.float32(1.0)), where={square: clamped * clamped}), where={clamped: T.max(T.min(x, T.float32(8.0)), T.float32(-8.0))})), where={x: a[v_i0, v_i1]})

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), h: R.Tensor((2, 3), dtype="float16")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float16")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.fast_exp, (x,), out_ty=R.Tensor((2, 3), dtype="float32"))
            b = R.call_tir(cls.fast_tanh, (a,), out_ty=R.Tensor((2, 3), dtype="float32"))
            c = R.call_tir(cls.fast_erf, (b,), out_ty=R.Tensor((2, 3), dtype="float32"))
            d = R.call_tir(cls.fast_softmax, (c,), out_ty=R.Tensor((2, 3), dtype="float32"))
            e = R.call_tir(cls.fast_exp1, (h,), out_ty=R.Tensor((2, 3), dtype="float16"))
            R.output(d, e)
        return (d, e)
