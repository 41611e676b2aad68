# run: FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(s0: T.Buffer((T.int64(4), T.int64(4)), "float32"), s1: T.Buffer((T.int64(4), T.int64(4)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def split(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_split_sections: T.Buffer((T.int64(4), T.int64(4)), "float32"), T_split_sections_1: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def split1(t: T.Buffer((T.int64(4),), "float32"), T_split_sections: T.Buffer((T.int64(2),), "float32"), T_split_sections_1: T.Buffer((T.int64(2),), "float32")):
        T.func_attr({"op_pattern": 2})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def sum(b: T.Buffer((T.int64(4), T.int64(4)), "float32"), b_red: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 3})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c1: T.Buffer((T.int64(2),), "float32"), compute: T.Buffer((T.int64(2),), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            s = R.call_tir(cls.split, (a,), out_ty=[R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")])
            s0: R.Tensor((4, 4), dtype="float32") = s[0]
            s1: R.Tensor((4, 4), dtype="float32") = s[1]
            b = R.call_tir(cls.add, (s0, s1), out_ty=R.Tensor((4, 4), dtype="float32"))
            t = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((4,), dtype="float32"))
            c = R.call_tir(cls.split1, (t,), out_ty=[R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32")])
            c1: R.Tensor((2,), dtype="float32") = c[1]
            gv = R.call_tir(cls.tir_exp, (c1,), out_ty=R.Tensor((2,), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(s0: T.Buffer((T.int64(4), T.int64(4)), "float32"), s1: T.Buffer((T.int64(4), T.int64(4)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def split(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_split_sections: T.Buffer((T.int64(4), T.int64(4)), "float32"), T_split_sections_1: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def split1(t: T.Buffer((T.int64(4),), "float32"), T_split_sections: T.Buffer((T.int64(2),), "float32"), T_split_sections_1: T.Buffer((T.int64(2),), "float32")):
        T.func_attr({"op_pattern": 2})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def sum(b: T.Buffer((T.int64(4), T.int64(4)), "float32"), b_red: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 3})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c1: T.Buffer((T.int64(2),), "float32"), compute: T.Buffer((T.int64(2),), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_add_sum(s0: R.Tensor((4, 4), dtype="float32"), s1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.add, (s0, s1), out_ty=R.Tensor((4, 4), dtype="float32"))
            t = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(t)
        return t

    @R.function(private=True)
    def fused_relu_split(x: R.Tensor((4, 8), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            s = R.call_tir(cls.split, (a,), out_ty=[R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")])
            R.output(s)
        return s

    @R.function(private=True)
    def fused_split1_tir_exp(t: R.Tensor((4,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.split1, (t,), out_ty=[R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32")])
            c1: R.Tensor((2,), dtype="float32") = c[1]
            gv = R.call_tir(cls.tir_exp, (c1,), out_ty=R.Tensor((2,), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        with R.dataflow():
            s: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_relu_split(x)
            s0: R.Tensor((4, 4), dtype="float32") = s[0]
            s1: R.Tensor((4, 4), dtype="float32") = s[1]
            t: R.Tensor((4,), dtype="float32") = cls.fused_add_sum(s0, s1)
            gv: R.Tensor((2,), dtype="float32") = cls.fused_split1_tir_exp(t)
            R.output(gv)
        return gv
