# run: AnnotateTIROpPattern
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def both(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), s: T.Buffer((T.int64(4),), "float32"), q: T.Buffer((T.int64(4),), "float32")):
        for i, k in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("s"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    s[vi] = T.float32(0)
                    q[vi] = T.float32(0)
                s[vi] = s[vi] + x[vi, vk]
                q[vi] = q[vi] + x[vi, vk] * x[vi, vk]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def both(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), s: T.Buffer((T.int64(4),), "float32"), q: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 3})
        # with T.sblock("root"):
        for i, k in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("s"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(x[vi, vk])
                T.writes(s[vi], q[vi])
                with T.init():
                    s[vi] = T.float32(0.0)
                    q[vi] = T.float32(0.0)
                s[vi] = s[vi] + x[vi, vk]
                q[vi] = q[vi] + x[vi, vk] * x[vi, vk]
