# run: ComputeMasks
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def ones(var_T_full: T.handle):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        n = T.int64()
        T_full = T.match_buffer(var_T_full, (n, n))
        for i, j in T.grid(n, n):
            with T.sblock("T_full"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(T_full[v_i, v_j])
                T_full[v_i, v_j] = T.float32(1.0)

    @T.prim_func(private=True, s_tir=True)
    def tril(var_h: T.handle, var_low: T.handle):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        n = T.int64()
        h = T.match_buffer(var_h, (n, n))
        low = T.match_buffer(var_low, (n, n))
        for i, j in T.grid(n, n):
            with T.sblock("low"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(h[v_i, v_j])
                T.writes(low[v_i, v_j])
                low[v_i, v_j] = T.Select(v_j <= v_i, h[v_i, v_j], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def multiply(var_s: T.handle, var_m: T.handle, var_product: T.handle):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        b = T.int64()
        k = T.int64()
        s = T.match_buffer(var_s, (b, k, k))
        m = T.match_buffer(var_m, (k, k))
        product = T.match_buffer(var_product, (b, k, k))
        for x, i, j in T.grid(b, k, k):
            with T.sblock("product"):
                v_x, v_i, v_j = T.axis.remap("SSS", [x, i, j])
                T.reads(s[v_x, v_i, v_j], m[v_i, v_j])
                T.writes(product[v_x, v_i, v_j])
                product[v_x, v_i, v_j] = s[v_x, v_i, v_j] * m[v_i, v_j]

    @R.function
    def main(s: R.Tensor(("b", "n", "n"), "float32")):
        b = T.int64()
        n = T.int64()
        cls = Module
        with R.dataflow():
            h = R.call_tir(cls.ones, (), out_ty=R.Tensor((n, n), dtype="float32"))
            low = R.call_tir(cls.tril, (h,), out_ty=R.Tensor((n, n), dtype="float32"))
            gv = R.call_tir(cls.multiply, (s, low), out_ty=R.Tensor((b, n, n), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

b = TypeVar("b")
k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def multiply(s: T.Buffer((b, k, k), "float32"), m: T.Buffer((k, k), "float32"), product: T.Buffer((b, k, k), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for x, i, j in T.grid(b, k, k):
            with T.sblock("product"):
                v_x, v_i, v_j = T.axis.remap("SSS", [x, i, j])
                T.reads(s[v_x, v_i, v_j], m[v_i, v_j])
                T.writes(product[v_x, v_i, v_j])
                product[v_x, v_i, v_j] = s[v_x, v_i, v_j] * m[v_i, v_j]

    @T.prim_func(private=True, s_tir=True)
    def multiply_of_indices(s: T.Buffer((b, k, k), "float32"), product: T.Buffer((b, k, k), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for x, i, j in T.grid(b, k, k):
            with T.sblock("product"):
                v_x, v_i, v_j = T.axis.remap("SSS", [x, i, j])
                T.reads(s[v_x, v_i, v_j])
                T.writes(product[v_x, v_i, v_j])
                product[v_x, v_i, v_j] = s[v_x, v_i, v_j] * T.Select(v_j <= v_i, T.float32(1.0), T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def ones(T_full: T.Buffer((n, n), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i, j in T.grid(n, n):
            with T.sblock("T_full"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(T_full[v_i, v_j])
                T_full[v_i, v_j] = T.float32(1.0)

    @T.prim_func(private=True, s_tir=True)
    def tril(h: T.Buffer((n, n), "float32"), low: T.Buffer((n, n), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i, j in T.grid(n, n):
            with T.sblock("low"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(h[v_i, v_j])
                T.writes(low[v_i, v_j])
                low[v_i, v_j] = T.Select(v_j <= v_i, h[v_i, v_j], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def tril_of_indices(low: T.Buffer((n, n), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i, j in T.grid(n, n):
            with T.sblock("low"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(low[v_i, v_j])
                low[v_i, v_j] = T.Select(v_j <= v_i, T.float32(1.0), T.float32(0.0))

    @R.function
    def main(s: R.Tensor((b, n, n), dtype="float32")) -> R.Tensor((b, n, n), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.multiply_of_indices, (s,), out_ty=R.Tensor((b, n, n), dtype="float32"))
            R.output(gv)
        return gv
