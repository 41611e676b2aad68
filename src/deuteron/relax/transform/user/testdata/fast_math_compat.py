# run: FastMathTransform
# config: tvm_compat=true
# TVM's kernels; approximations of float32, and of erf of float16.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), h: R.Tensor((4,), "float16"), d: R.Tensor(("n",), "float64"), b: R.Tensor((4,), "bfloat16")):
        n = T.int64()
        with R.dataflow():
            tanh = R.tanh(x)
            softmax = R.nn.softmax(tanh, axis=0)
            half = R.exp(h)
            double = R.erf(d)
            brain = R.tanh(b)
            R.output(softmax, half, double, brain)
        return (softmax, half, double, brain)
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
    def fast_erf(d: T.Buffer((n,), "float64"), T_erf: T.Buffer((n,), "float64")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(n):
            with T.sblock("T_erf"):
                v_ax0 = T.axis.spatial(n, ax0)
                T.reads(d[v_ax0])
                T.writes(T_erf[v_ax0])
                T_erf[v_ax0] = T.erf(d[v_ax0])

    @T.prim_func(private=True, s_tir=True)
    def fast_exp(h: T.Buffer((T.int64(4),), "float16"), T_fast_exp: T.Buffer((T.int64(4),), "float16")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(4)):
            with T.sblock("T_fast_exp"):
                v_ax0 = T.axis.spatial(T.int64(4), ax0)
                T.reads(h[v_ax0])
                T.writes(T_fast_exp[v_ax0])
                T_fast_exp[v_ax0] = T.exp(h[v_ax0])

    @T.prim_func(private=True, s_tir=True)
    def fast_softmax(tanh: T.Buffer((T.int64(2), T.int64(3)), "float32"), T_softmax_norm: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(3),))
        T_softmax_delta = T.sblock_alloc_buffer((T.int64(2), T.int64(3)))
        T_fast_exp = T.sblock_alloc_buffer((T.int64(2), T.int64(3)))
        T_softmax_expsum = T.sblock_alloc_buffer((T.int64(3),))
        for i0, k in T.grid(T.int64(3), T.int64(2)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(tanh[v_k, v_i0])
                T.writes(T_softmax_maxelem[v_i0])
                with T.init():
                    T_softmax_maxelem[v_i0] = T.float32(-3.4028234663852886e+38)
                T_softmax_maxelem[v_i0] = T.max(T_softmax_maxelem[v_i0], tanh[v_k, v_i0])
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_softmax_delta"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(tanh[v_i0, v_i1], T_softmax_maxelem[v_i1])
                T.writes(T_softmax_delta[v_i0, v_i1])
                T_softmax_delta[v_i0, v_i1] = tanh[v_i0, v_i1] - T_softmax_maxelem[v_i1]
        for ax0, ax1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_fast_exp"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_softmax_delta[v_ax0, v_ax1])
                T.writes(T_fast_exp[v_ax0, v_ax1])
                T_fast_exp[v_ax0, v_ax1] = T.max(T.reinterpret("float32", T.Cast("int32", T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) + T.float32(127.0)) << 23) * ((((((T.float32(0.00019875691214110702) * (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) + T.float32(0.001398199936375022)) * (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) + T.float32(0.008333452045917511)) * (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) + T.float32(0.04166579619050026)) * (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) + T.float32(0.1666666567325592)) * (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) + T.float32(0.5)) * (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) * (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) + (T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) - T.floor(T.max(T.min(T_softmax_delta[v_ax0, v_ax1], T.float32(88.37626647949219)), T.float32(-88.37625885009766)) * T.float32(1.4426950216293335) + T.float32(0.5)) * T.float32(0.6931471824645996)) + T.float32(1.0)), T_softmax_delta[v_ax0, v_ax1])
        for i0, k in T.grid(T.int64(3), T.int64(2)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(T_fast_exp[v_k, v_i0])
                T.writes(T_softmax_expsum[v_i0])
                with T.init():
                    T_softmax_expsum[v_i0] = T.float32(0.0)
                T_softmax_expsum[v_i0] = T_softmax_expsum[v_i0] + T_fast_exp[v_k, v_i0]
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_fast_exp[v_i0, v_i1], T_softmax_expsum[v_i1])
                T.writes(T_softmax_norm[v_i0, v_i1])
                T.sblock_attr({"axis": 0})
                T_softmax_norm[v_i0, v_i1] = T_fast_exp[v_i0, v_i1] / T_softmax_expsum[v_i1]

    @T.prim_func(private=True, s_tir=True)
    def fast_tanh(x: T.Buffer((T.int64(2), T.int64(3)), "float32"), T_fast_tanh: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_minimum = T.sblock_alloc_buffer((T.int64(2), T.int64(3)))
        T_maximum = T.sblock_alloc_buffer((T.int64(2), T.int64(3)))
        for ax0, ax1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_minimum"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(T_minimum[v_ax0, v_ax1])
                T_minimum[v_ax0, v_ax1] = T.min(T.float32(9.0), x[v_ax0, v_ax1])
        for ax0, ax1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_maximum"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_minimum[v_ax0, v_ax1])
                T.writes(T_maximum[v_ax0, v_ax1])
                T_maximum[v_ax0, v_ax1] = T.max(T.float32(-9.0), T_minimum[v_ax0, v_ax1])
        for ax0, ax1 in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("T_fast_tanh"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_maximum[v_ax0, v_ax1])
                T.writes(T_fast_tanh[v_ax0, v_ax1])
                T_fast_tanh[v_ax0, v_ax1] = T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * T.float32(-2.7607683663038313e-16) + T.float32(2.0001879384549948e-13)) + T.float32(-8.604671836165423e-11)) + T.float32(5.122297253024044e-08)) + T.float32(1.4857223504805006e-05)) + T.float32(0.0006372619536705315)) + T.float32(0.004893524572253227)) / (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * (T_maximum[v_ax0, v_ax1] * T_maximum[v_ax0, v_ax1] * T.float32(1.1982583600911312e-06) + T.float32(0.00011853470641653985)) + T.float32(0.0022684347350150347)) + T.float32(0.0048935250379145145))

    @T.prim_func(private=True, s_tir=True)
    def fast_tanh1(b: T.Buffer((T.int64(4),), "bfloat16"), T_fast_tanh: T.Buffer((T.int64(4),), "bfloat16")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(4)):
            with T.sblock("T_fast_tanh"):
                v_ax0 = T.axis.spatial(T.int64(4), ax0)
                T.reads(b[v_ax0])
                T.writes(T_fast_tanh[v_ax0])
                T_fast_tanh[v_ax0] = T.Cast("bfloat16", T.tanh(T.Cast("float32", b[v_ax0])))

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), h: R.Tensor((4,), dtype="float16"), d: R.Tensor((n,), dtype="float64"), b: R.Tensor((4,), dtype="bfloat16")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((4,), dtype="float16"), R.Tensor((n,), dtype="float64"), R.Tensor((4,), dtype="bfloat16")):
        cls = Module
        with R.dataflow():
            tanh = R.call_tir(cls.fast_tanh, (x,), out_ty=R.Tensor((2, 3), dtype="float32"))
            softmax = R.call_tir(cls.fast_softmax, (tanh,), out_ty=R.Tensor((2, 3), dtype="float32"))
            half = R.call_tir(cls.fast_exp, (h,), out_ty=R.Tensor((4,), dtype="float16"))
            double = R.call_tir(cls.fast_erf, (d,), out_ty=R.Tensor((n,), dtype="float64"))
            brain = R.call_tir(cls.fast_tanh1, (b,), out_ty=R.Tensor((4,), dtype="bfloat16"))
            R.output(softmax, half, double, brain)
        return (softmax, half, double, brain)
