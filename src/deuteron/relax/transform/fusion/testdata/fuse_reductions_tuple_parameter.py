# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), y: T.Buffer((T.int64(16), T.int64(64)), "float32"), z: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i, j in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("z"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj], y[vi, vj])
                T.writes(z[vi, vj])
                z[vi, vj] = x[vi, vj] + y[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def top(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), y: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for i, k in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("y"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(x[vi, vk])
                T.writes(y[vi])
                with T.init():
                    y[vi] = T.float32("-inf")
                y[vi] = T.max(y[vi], x[vi, vk])

    @R.function(private=True)
    def both(t: R.Tuple(R.Tensor((16, 64), "float32"), R.Tensor((16, 64), "float32"))) -> R.Tensor((16, 64), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = t[0]
            b = t[1]
            c = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((16, 64), "float32"))
            d = R.call_tir(cls.add, (c, b), out_ty=R.Tensor((16, 64), "float32"))
            R.output(d)
        return d

    @R.function
    def main(t: R.Tuple(R.Tensor((16, 64), "float32"), R.Tensor((16, 64), "float32")), x: R.Tensor((16, 64), "float32")):
        cls = Module
        with R.dataflow():
            d = cls.both(t)
            m = R.call_tir(cls.top, (d,), out_ty=R.Tensor((16,), "float32"))
            e = cls.both((d, x))
            gv = R.call_tir(cls.top, (e,), out_ty=R.Tensor((16,), "float32"))
            R.output(m, gv)
        return (m, gv)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), y: T.Buffer((T.int64(16), T.int64(64)), "float32"), z: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i, j in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("z"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj], y[vi, vj])
                T.writes(z[vi, vj])
                z[vi, vj] = x[vi, vj] + y[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def top(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), y: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for i, k in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("y"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(x[vi, vk])
                T.writes(y[vi])
                with T.init():
                    y[vi] = T.float32("-inf")
                y[vi] = T.max(y[vi], x[vi, vk])

    @R.function(private=True)
    def both(t_0: R.Tensor((16, 64), dtype="float32"), t_1: R.Tensor((16, 64), dtype="float32")) -> R.Tensor((16, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.add, (t_0, t_1), out_ty=R.Tensor((16, 64), dtype="float32"))
            d = R.call_tir(cls.add, (c, t_1), out_ty=R.Tensor((16, 64), dtype="float32"))
            R.output(d)
        return d

    @R.function(private=True)
    def fused_add_add_top_add_add_top(lv: R.Tensor((16, 64), dtype="float32"), lv_1: R.Tensor((16, 64), dtype="float32"), x: R.Tensor((16, 64), dtype="float32")) -> R.Tuple(R.Tensor((16,), dtype="float32"), R.Tensor((16,), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.add, (lv, lv_1), out_ty=R.Tensor((16, 64), dtype="float32"))
            d = R.call_tir(cls.add, (c, lv_1), out_ty=R.Tensor((16, 64), dtype="float32"))
            m = R.call_tir(cls.top, (d,), out_ty=R.Tensor((16,), dtype="float32"))
            c_1 = R.call_tir(cls.add, (d, x), out_ty=R.Tensor((16, 64), dtype="float32"))
            e = R.call_tir(cls.add, (c_1, x), out_ty=R.Tensor((16, 64), dtype="float32"))
            gv = R.call_tir(cls.top, (e,), out_ty=R.Tensor((16,), dtype="float32"))
            R.output(m, gv)
        return (m, gv)

    @R.function
    def main(t: R.Tuple(R.Tensor((16, 64), dtype="float32"), R.Tensor((16, 64), dtype="float32")), x: R.Tensor((16, 64), dtype="float32")) -> R.Tuple(R.Tensor((16,), dtype="float32"), R.Tensor((16,), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv: R.Tensor((16, 64), dtype="float32") = t[0]
            lv_1: R.Tensor((16, 64), dtype="float32") = t[1]
            gv: R.Tuple(R.Tensor((16,), dtype="float32"), R.Tensor((16,), dtype="float32")) = cls.fused_add_add_top_add_add_top(lv, lv_1, x)
            m: R.Tensor((16,), dtype="float32") = gv[0]
            gv_1: R.Tensor((16,), dtype="float32") = gv[1]
            R.output(gv, m, gv_1)
        return (m, gv_1)
