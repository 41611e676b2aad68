# run: LegalizeOps,ScheduleForCPU
# target: llvm -mcpu=x86-64-v3 -threads=1
# A long sum of columns is one of parts, whose error is not that of a single accumulator; one of a prime length, of
# integers or of few rows is not.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((10000, 64), "float32"), y: R.Tensor((2003, 64), "float32"), z: R.Tensor((4096, 64), "int32"), w: R.Tensor((500, 64), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[0])
            b = R.sum(y, axis=[0])
            c = R.sum(z, axis=[0])
            d = R.sum(w, axis=[0])
            R.output(a, b, c, d)
        return (a, b, c, d)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(10000), T.int64(64)), "float32"), x_red: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        x_red_rf = T.sblock_alloc_buffer((T.int64(40), T.int64(64)))
        for ax0_0 in T.parallel(T.int64(2)):
            for k0_0 in range(T.int64(40)):
                for ax0_1 in T.vectorized(T.int64(32)):
                    with T.sblock("x_red_rf_init"):
                        v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                        v_k0_0 = T.axis.spatial(T.int64(40), k0_0)
                        T.reads()
                        T.writes(x_red_rf[v_k0_0, v_ax0])
                        x_red_rf[v_k0_0, v_ax0] = T.float32(0.0)
                for k0_1 in range(T.int64(250)):
                    for ax0_1 in T.vectorized(T.int64(32)):
                        with T.sblock("x_red_rf"):
                            v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                            v_k0_0, v_k0_1 = T.axis.remap("SR", [k0_0, k0_1])
                            T.reads(x_red_rf[v_k0_0, v_ax0], x[v_k0_0 * T.int64(250) + v_k0_1, v_ax0])
                            T.writes(x_red_rf[v_k0_0, v_ax0])
                            x_red_rf[v_k0_0, v_ax0] = x_red_rf[v_k0_0, v_ax0] + x[v_k0_0 * T.int64(250) + v_k0_1, v_ax0]
            for ax0_1 in T.vectorized(T.int64(32)):
                with T.sblock("x_red_init"):
                    v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                    T.reads()
                    T.writes(x_red[v_ax0])
                    x_red[v_ax0] = T.float32(0.0)
            for k0_0 in range(T.int64(40)):
                for ax0_1 in T.vectorized(T.int64(32)):
                    with T.sblock("x_red"):
                        v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                        v_k0_0 = T.axis.reduce(T.int64(40), k0_0)
                        T.reads(x_red[v_ax0], x_red_rf[v_k0_0, v_ax0])
                        T.writes(x_red[v_ax0])
                        x_red[v_ax0] = x_red[v_ax0] + x_red_rf[v_k0_0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def sum1(y: T.Buffer((T.int64(2003), T.int64(64)), "float32"), y_red: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        y_red_rf = T.sblock_alloc_buffer((T.int64(9), T.int64(64)))
        for ax0_0 in T.parallel(T.int64(2)):
            for k0_0 in range(T.int64(9)):
                for ax0_1 in T.vectorized(T.int64(32)):
                    with T.sblock("y_red_rf_init"):
                        v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                        v_k0_0 = T.axis.spatial(T.int64(9), k0_0)
                        T.reads()
                        T.writes(y_red_rf[v_k0_0, v_ax0])
                        y_red_rf[v_k0_0, v_ax0] = T.float32(0.0)
                for k0_1 in range(T.int64(223)):
                    for ax0_1 in T.vectorized(T.int64(32)):
                        with T.sblock("y_red_rf"):
                            v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                            v_k0_0, v_k0_1 = T.axis.remap("SR", [k0_0, k0_1])
                            T.reads(y_red_rf[v_k0_0, v_ax0], y[v_k0_0 * T.int64(223) + v_k0_1, v_ax0])
                            T.writes(y_red_rf[v_k0_0, v_ax0])
                            y_red_rf[v_k0_0, v_ax0] = y_red_rf[v_k0_0, v_ax0] + T.if_then_else(v_k0_0 * T.int64(223) + v_k0_1 < T.int64(2003), y[v_k0_0 * T.int64(223) + v_k0_1, v_ax0], T.float32(0.0))
            for ax0_1 in T.vectorized(T.int64(32)):
                with T.sblock("y_red_init"):
                    v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                    T.reads()
                    T.writes(y_red[v_ax0])
                    y_red[v_ax0] = T.float32(0.0)
            for k0_0 in range(T.int64(9)):
                for ax0_1 in T.vectorized(T.int64(32)):
                    with T.sblock("y_red"):
                        v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                        v_k0_0 = T.axis.reduce(T.int64(9), k0_0)
                        T.reads(y_red[v_ax0], y_red_rf[v_k0_0, v_ax0])
                        T.writes(y_red[v_ax0])
                        y_red[v_ax0] = y_red[v_ax0] + y_red_rf[v_k0_0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def sum2(z: T.Buffer((T.int64(4096), T.int64(64)), "int32"), z_red: T.Buffer((T.int64(64),), "int32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0_0 in T.parallel(T.int64(2)):
            for ax0_1 in T.vectorized(T.int64(32)):
                with T.sblock("z_red_init"):
                    v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                    T.reads()
                    T.writes(z_red[v_ax0])
                    z_red[v_ax0] = 0
            for k0 in range(T.int64(4096)):
                for ax0_1 in T.vectorized(T.int64(32)):
                    with T.sblock("z_red"):
                        v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                        v_k0 = T.axis.reduce(T.int64(4096), k0)
                        T.reads(z_red[v_ax0], z[v_k0, v_ax0])
                        T.writes(z_red[v_ax0])
                        z_red[v_ax0] = z_red[v_ax0] + z[v_k0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def sum3(w: T.Buffer((T.int64(500), T.int64(64)), "float32"), w_red: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        w_red_rf = T.sblock_alloc_buffer((T.int64(10), T.int64(64)))
        for ax0_0 in T.parallel(T.int64(2)):
            for k0_0 in range(T.int64(10)):
                for ax0_1 in T.vectorized(T.int64(32)):
                    with T.sblock("w_red_rf_init"):
                        v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                        v_k0_0 = T.axis.spatial(T.int64(10), k0_0)
                        T.reads()
                        T.writes(w_red_rf[v_k0_0, v_ax0])
                        w_red_rf[v_k0_0, v_ax0] = T.float32(0.0)
                for k0_1 in range(T.int64(50)):
                    for ax0_1 in T.vectorized(T.int64(32)):
                        with T.sblock("w_red_rf"):
                            v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                            v_k0_0, v_k0_1 = T.axis.remap("SR", [k0_0, k0_1])
                            T.reads(w_red_rf[v_k0_0, v_ax0], w[v_k0_0 * T.int64(50) + v_k0_1, v_ax0])
                            T.writes(w_red_rf[v_k0_0, v_ax0])
                            w_red_rf[v_k0_0, v_ax0] = w_red_rf[v_k0_0, v_ax0] + w[v_k0_0 * T.int64(50) + v_k0_1, v_ax0]
            for ax0_1 in T.vectorized(T.int64(32)):
                with T.sblock("w_red_init"):
                    v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                    T.reads()
                    T.writes(w_red[v_ax0])
                    w_red[v_ax0] = T.float32(0.0)
            for k0_0 in range(T.int64(10)):
                for ax0_1 in T.vectorized(T.int64(32)):
                    with T.sblock("w_red"):
                        v_ax0 = T.axis.spatial(T.int64(64), ax0_0 * T.int64(32) + ax0_1)
                        v_k0_0 = T.axis.reduce(T.int64(10), k0_0)
                        T.reads(w_red[v_ax0], w_red_rf[v_k0_0, v_ax0])
                        T.writes(w_red[v_ax0])
                        w_red[v_ax0] = w_red[v_ax0] + w_red_rf[v_k0_0, v_ax0]

    @R.function
    def main(x: R.Tensor((10000, 64), dtype="float32"), y: R.Tensor((2003, 64), dtype="float32"), z: R.Tensor((4096, 64), dtype="int32"), w: R.Tensor((500, 64), dtype="float32")) -> R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="int32"), R.Tensor((64,), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((64,), dtype="float32"))
            b = R.call_tir(cls.sum1, (y,), out_ty=R.Tensor((64,), dtype="float32"))
            c = R.call_tir(cls.sum2, (z,), out_ty=R.Tensor((64,), dtype="int32"))
            d = R.call_tir(cls.sum3, (w,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(a, b, c, d)
        return (a, b, c, d)
