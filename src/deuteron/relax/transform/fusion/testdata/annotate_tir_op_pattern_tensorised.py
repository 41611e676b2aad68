# run: AnnotateTIROpPattern
# The blocks inside of a block are classified before it: a blocked product is a product.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def matmul(x: T.Buffer((4, 16), "float32"), w: T.Buffer((16, 8), "float32"), y: T.Buffer((4, 8), "float32")):
        for i, j, k in T.grid(4, 8, 4):
            with T.sblock("outer"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(x[vi, vk * 4:vk * 4 + 4], w[vk * 4:vk * 4 + 4, vj])
                T.writes(y[vi, vj])
                with T.init():
                    with T.sblock("zero"):
                        T.reads()
                        T.writes(y[vi, vj])
                        y[vi, vj] = T.float32(0)
                for l in range(4):
                    with T.sblock("inner"):
                        vl = T.axis.reduce(4, l)
                        T.reads(y[vi, vj], x[vi, vk * 4 + vl], w[vk * 4 + vl, vj])
                        T.writes(y[vi, vj])
                        y[vi, vj] = y[vi, vj] + x[vi, vk * 4 + vl] * w[vk * 4 + vl, vj]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((4, 16), "float32"), w: T.Buffer((16, 8), "float32"), y: T.Buffer((4, 8), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.sblock("root"):
        for i, j, k in T.grid(4, 8, 4):
            with T.sblock("outer"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(x[vi, vk * 4:vk * 4 + 4], w[vk * 4:vk * 4 + 4, vj])
                T.writes(y[vi, vj])
                with T.init():
                    with T.sblock("zero"):
                        T.reads()
                        T.writes(y[vi, vj])
                        y[vi, vj] = T.float32(0.0)
                for l in range(4):
                    with T.sblock("inner"):
                        vl = T.axis.reduce(4, l)
                        T.reads(y[vi, vj], x[vi, vk * 4 + vl], w[vk * 4 + vl, vj])
                        T.writes(y[vi, vj])
                        y[vi, vj] = y[vi, vj] + x[vi, vk * 4 + vl] * w[vk * 4 + vl, vj]
