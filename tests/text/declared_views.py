# run:
# Declarations of views as TVM prints them.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def views(x: T.Buffer((T.int64(2), T.int64(3)), "float32"), y: T.Buffer((T.int64(6),), "float32")):
        x_1 = x.view(T.int64(6))
        x_2 = T.decl_buffer((T.int64(12),), "float16", data=x.data)
        y_1 = T.Buffer((T.int64(2), T.int64(2)), "float32", data=y.data, strides=(T.int64(3), T.int64(1)))
        t = T.alloc_buffer((T.int64(6),), "int32", scope="local")
        t_1 = T.decl_buffer((T.int64(2), T.int64(3)), "int32", data=t.data, scope="local")
        u = T.decl_buffer((T.int64(4),), "float32")
        for i, j in T.grid(T.int64(2), T.int64(2)):
            u[i * T.int64(2) + j] = x_1[i]
            t_1[i, j] = T.Cast("int32", x_2[i])
            y_1[i, j] = u[j] + T.Cast("float32", t[i])
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def views(x: T.Buffer((T.int64(2), T.int64(3)), "float32"), y: T.Buffer((T.int64(6),), "float32")):
        x_1 = T.decl_buffer((T.int64(6),), data=x.data)
        x_2 = T.decl_buffer((T.int64(12),), "float16", data=x.data)
        y_1 = T.decl_buffer((T.int64(2), T.int64(2)), data=y.data, strides=(T.int64(3), T.int64(1)))
        t = T.alloc_buffer((T.int64(6),), "int32", scope="local")
        t_1 = T.decl_buffer((T.int64(2), T.int64(3)), "int32", data=t.data, scope="local")
        u = T.alloc_buffer((T.int64(4),))
        for i, j in T.grid(T.int64(2), T.int64(2)):
            u[i * T.int64(2) + j] = x_1[i]
            t_1[i, j] = T.Cast("int32", x_2[i])
            y_1[i, j] = u[j] + T.Cast("float32", t[i])
