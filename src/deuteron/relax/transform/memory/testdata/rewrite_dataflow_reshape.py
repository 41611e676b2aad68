# run: LegalizeOps,FuseOps,FuseTIR,RewriteDataflowReshape
# Reshapes that only kernels read are views of what they reshape, also of sizes that the run tells, and matches. What leaves the function is
# a tensor of its own, what is moved stays moved.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6, 8), "float32"), w: R.Tensor((4, 12), "float32"), z: R.Tensor(("n", 8), "float32"), v: R.Tensor((2, 4), "float32"), y: R.Tensor(("k", "m", 8), "float32")):
        n = T.int64()
        k = T.int64()
        m = T.int64()
        with R.dataflow():
            a = R.reshape(x, R.shape([12, 4]))
            b = R.matmul(a, w)
            c = R.reshape(b, R.shape([3, 4, 12]))
            d = R.sum(R.permute_dims(c, axes=[1, 0, 2]), axis=[2])
            e = R.reshape(d, R.shape([12]))
            f = R.reshape(z, R.shape([4 * n, 2]))
            g = R.matmul(f, v)
            h = R.reshape(y, R.shape([k * m * 8]))
            i = R.match_cast(h, R.Tensor((8 * m * k,), "float32"))
            j = R.reshape(i, R.shape([k * 2, m * 2, 2]))
            l = R.matmul(j, v)
            R.output(e, g, l)
        return (e, g, l)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(a: T.Buffer((T.int64(12), T.int64(4)), "float32"), w: T.Buffer((T.int64(4), T.int64(12)), "float32"), matmul: T.Buffer((T.int64(12), T.int64(12)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(12), T.int64(12), T.int64(4)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(a[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + a[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(f: T.Buffer(("T.int64(4) * n", T.int64(2)), "float32"), v: T.Buffer((T.int64(2), T.int64(4)), "float32"), matmul: T.Buffer(("T.int64(4) * n", T.int64(4)), "float32"), n: T.int64):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(4) * n, T.int64(4), T.int64(2)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(f[v_i0, v_k], v[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + f[v_i0, v_k] * v[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul2(j: T.Buffer(("k * T.int64(2)", "m * T.int64(2)", T.int64(2)), "float32"), v: T.Buffer((T.int64(2), T.int64(4)), "float32"), matmul: T.Buffer(("k * T.int64(2)", "m * T.int64(2)", T.int64(4)), "float32"), k: T.int64, m: T.int64):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k_1 in T.grid(k * T.int64(2), m * T.int64(2), T.int64(4), T.int64(2)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k_1])
                T.reads(j[v_i0, v_i1, v_k], v[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + j[v_i0, v_i1, v_k] * v[v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((T.int64(6), T.int64(8)), "float32"), T_reshape: T.Buffer((T.int64(12), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(12), T.int64(4)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0 // T.int64(2), v_ax1 + v_ax0 % T.int64(2) * T.int64(4)])
                T.writes(T_reshape[v_ax0, v_ax1])
                T_reshape[v_ax0, v_ax1] = x[v_ax0 // T.int64(2), v_ax1 + v_ax0 % T.int64(2) * T.int64(4)]

    @T.prim_func(private=True, s_tir=True)
    def reshape1(b: T.Buffer((T.int64(12), T.int64(12)), "float32"), T_reshape: T.Buffer((T.int64(3), T.int64(4), T.int64(12)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(3), T.int64(4), T.int64(12)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(b[v_ax0 * T.int64(4) + v_ax1, v_ax2])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
                T_reshape[v_ax0, v_ax1, v_ax2] = b[v_ax0 * T.int64(4) + v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def reshape2(d: T.Buffer((T.int64(4), T.int64(3)), "float32"), T_reshape: T.Buffer((T.int64(12),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(12)):
            with T.sblock("T_reshape"):
                v_ax0 = T.axis.spatial(T.int64(12), ax0)
                T.reads(d[v_ax0 // T.int64(3), v_ax0 % T.int64(3)])
                T.writes(T_reshape[v_ax0])
                T_reshape[v_ax0] = d[v_ax0 // T.int64(3), v_ax0 % T.int64(3)]

    @T.prim_func(private=True, s_tir=True)
    def reshape3(z: T.Buffer((n, T.int64(8)), "float32"), T_reshape: T.Buffer(("T.int64(4) * n", T.int64(2)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4) * n, T.int64(2)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(z[v_ax0 // T.int64(4), v_ax1 + v_ax0 % T.int64(4) * T.int64(2)])
                T.writes(T_reshape[v_ax0, v_ax1])
                T_reshape[v_ax0, v_ax1] = z[v_ax0 // T.int64(4), v_ax1 + v_ax0 % T.int64(4) * T.int64(2)]

    @T.prim_func(private=True, s_tir=True)
    def reshape4(y: T.Buffer((k, m, T.int64(8)), "float32"), T_reshape: T.Buffer(("k * m * T.int64(8)",), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(k * m * T.int64(8)):
            with T.sblock("T_reshape"):
                v_ax0 = T.axis.spatial(k * m * T.int64(8), ax0)
                T.reads(y[v_ax0 // (m * T.int64(8)), v_ax0 // T.int64(8) % m, v_ax0 % T.int64(8)])
                T.writes(T_reshape[v_ax0])
                T_reshape[v_ax0] = y[v_ax0 // (m * T.int64(8)), v_ax0 // T.int64(8) % m, v_ax0 % T.int64(8)]

    @T.prim_func(private=True, s_tir=True)
    def reshape5(i: T.Buffer(("T.int64(8) * m * k",), "float32"), T_reshape: T.Buffer(("k * T.int64(2)", "m * T.int64(2)", T.int64(2)), "float32"), m: T.int64, k: T.int64):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(k * T.int64(2), m * T.int64(2), T.int64(2)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(i[v_ax1 * T.int64(2) + v_ax2 + v_ax0 * m * T.int64(4)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
                T_reshape[v_ax0, v_ax1, v_ax2] = i[v_ax1 * T.int64(2) + v_ax2 + v_ax0 * m * T.int64(4)]

    @T.prim_func(private=True, s_tir=True)
    def sum(lv: T.Buffer((T.int64(4), T.int64(3), T.int64(12)), "float32"), lv_red: T.Buffer((T.int64(4), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k2 in T.grid(T.int64(4), T.int64(3), T.int64(12)):
            with T.sblock("lv_red"):
                v_ax0, v_ax1, v_k2 = T.axis.remap("SSR", [ax0, ax1, k2])
                T.reads(lv[v_ax0, v_ax1, v_k2])
                T.writes(lv_red[v_ax0, v_ax1])
                with T.init():
                    lv_red[v_ax0, v_ax1] = T.float32(0.0)
                lv_red[v_ax0, v_ax1] = lv_red[v_ax0, v_ax1] + lv[v_ax0, v_ax1, v_k2]

    @T.prim_func(private=True, s_tir=True)
    def transpose(c: T.Buffer((T.int64(3), T.int64(4), T.int64(12)), "float32"), T_transpose: T.Buffer((T.int64(4), T.int64(3), T.int64(12)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(4), T.int64(3), T.int64(12)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(c[v_ax1, v_ax0, v_ax2])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2])
                T_transpose[v_ax0, v_ax1, v_ax2] = c[v_ax1, v_ax0, v_ax2]

    @R.function
    def main(x: R.Tensor((6, 8), dtype="float32"), w: R.Tensor((4, 12), dtype="float32"), z: R.Tensor((n, 8), dtype="float32"), v: R.Tensor((2, 4), dtype="float32"), y: R.Tensor((k, m, 8), dtype="float32")) -> R.Tuple(R.Tensor((12,), dtype="float32"), R.Tensor(("4 * n", 4), dtype="float32"), R.Tensor(("k * 2", "m * 2", 4), dtype="float32")):
        cls = Module
        with R.dataflow():
            a: R.Tensor((12, 4), dtype="float32") = R.call_pure_packed("deuteron.vm.view", x, R.shape([12, 4]), R.dtype("float32"), R.tuple(), ty_args=(R.Tensor((12, 4), dtype="float32"),))
            b = R.call_tir(cls.matmul, (a, w), out_ty=R.Tensor((12, 12), dtype="float32"))
            c: R.Tensor((3, 4, 12), dtype="float32") = R.call_pure_packed("deuteron.vm.view", b, R.shape([3, 4, 12]), R.dtype("float32"), R.tuple(), ty_args=(R.Tensor((3, 4, 12), dtype="float32"),))
            lv = R.call_tir(cls.transpose, (c,), out_ty=R.Tensor((4, 3, 12), dtype="float32"))
            d = R.call_tir(cls.sum, (lv,), out_ty=R.Tensor((4, 3), dtype="float32"))
            e = R.call_tir(cls.reshape2, (d,), out_ty=R.Tensor((12,), dtype="float32"))
            f: R.Tensor((4 * n, 2), dtype="float32") = R.call_pure_packed("deuteron.vm.view", z, R.shape([4 * n, 2]), R.dtype("float32"), R.tuple(), ty_args=(R.Tensor((4 * n, 2), dtype="float32"),))
            g = R.call_tir(cls.matmul1, (f, v), out_ty=R.Tensor((4 * n, 4), dtype="float32"), tir_vars=R.shape([n]))
            h: R.Tensor((k * m * 8,), dtype="float32") = R.call_pure_packed("deuteron.vm.view", y, R.shape([k * m * 8]), R.dtype("float32"), R.tuple(), ty_args=(R.Tensor((k * m * 8,), dtype="float32"),))
            i: R.Tensor((8 * m * k,), dtype="float32") = R.match_cast(h, R.Tensor((8 * m * k,), dtype="float32"))
            j: R.Tensor((k * 2, m * 2, 2), dtype="float32") = R.call_pure_packed("deuteron.vm.view", i, R.shape([k * 2, m * 2, 2]), R.dtype("float32"), R.tuple(), ty_args=(R.Tensor((k * 2, m * 2, 2), dtype="float32"),))
            l = R.call_tir(cls.matmul2, (j, v), out_ty=R.Tensor((k * 2, m * 2, 4), dtype="float32"), tir_vars=R.shape([k, m]))
            R.output(e, g, l)
        return (e, g, l)
