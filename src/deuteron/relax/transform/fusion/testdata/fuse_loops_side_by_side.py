# run: LambdaLift,ConvertToDataflow,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,FuseLoops
# target: llvm -mcpu=x86-64-v3 -threads=2
# Two loops of which none needs the other run side by side; a third that needs them does not.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Tensor((4,), "float32")):
        with R.dataflow():
            @R.function
            def up(t: R.Shape(["i"]), a: R.Tensor((4,), "float32")):
                b = R.add(a, x)
                return (b, b)

            @R.function
            def down(t: R.Shape(["i"]), a: R.Tensor((4,), "float32")):
                b = R.subtract(a, x)
                return (b, b)

            p = R.loop(up, 5, (s,), ty_args=(R.Tuple(R.Tensor((4,), "float32"), R.Tensor((5, 4), "float32")),))
            u = R.exp(p[1])
            q = R.loop(down, 5, (s,), ty_args=(R.Tuple(R.Tensor((4,), "float32"), R.Tensor((5, 4), "float32")),))
            r = R.loop(up, 5, (p[0],), ty_args=(R.Tuple(R.Tensor((4,), "float32"), R.Tensor((5, 4), "float32")),))
            y = R.add(u, q[1])
            z = r[0]
            R.output(y, z)
        return (y, z)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_tir_exp_add(p_1: T.Buffer((T.int64(5), T.int64(4)), "float32"), q_1: T.Buffer((T.int64(5), T.int64(4)), "float32"), T_add_intermediate: T.Buffer((T.int64(5), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        compute_intermediate = T.sblock_alloc_buffer((T.int64(5), T.int64(4)))
        for i0, i1 in T.grid(T.int64(5), T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(p_1[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.exp(p_1[v_i0, v_i1])
        for ax0, ax1 in T.grid(T.int64(5), T.int64(4)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(compute_intermediate[v_ax0, v_ax1], q_1[v_ax0, v_ax1])
                T.writes(T_add_intermediate[v_ax0, v_ax1])
                T_add_intermediate[v_ax0, v_ax1] = compute_intermediate[v_ax0, v_ax1] + q_1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def loop_of_main_up1(state_0_first: T.Buffer((T.int64(4),), "float32"), x: T.Buffer((T.int64(4),), "float32"), state_0_last: T.Buffer((T.int64(4),), "float32"), rows_0: T.Buffer((T.int64(5), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_add_intermediate = T.sblock_alloc_buffer((T.int64(4),))
        a = T.sblock_alloc_buffer((T.int64(4),))
        with T.sblock("state_0_begins_kernel"):
            T.reads(state_0_first[T.int64(0):T.int64(4)])
            T.writes(a[T.int64(0):T.int64(4)])
            T.sblock_attr({"kernel": True})
            for ax0 in range(T.int64(4)):
                with T.sblock("state_0_begins"):
                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                    T.reads(state_0_first[v_ax0])
                    T.writes(a[v_ax0])
                    a[v_ax0] = state_0_first[v_ax0]
        for i in range(T.int64(5)):
            with T.sblock("add1"):
                T.reads(a[T.int64(0):T.int64(4)], x[T.int64(0):T.int64(4)])
                T.writes(T_add_intermediate[T.int64(0):T.int64(4)])
                T.sblock_attr({"kernel": True})
                for ax0 in range(T.int64(4)):
                    with T.sblock("T_add"):
                        v_ax0 = T.axis.spatial(T.int64(4), ax0)
                        T.reads(a[v_ax0], x[v_ax0])
                        T.writes(T_add_intermediate[v_ax0])
                        T_add_intermediate[v_ax0] = a[v_ax0] + x[v_ax0]
            with T.sblock("state_0_goes_on_kernel"):
                T.reads(T_add_intermediate[T.int64(0):T.int64(4)])
                T.writes(a[T.int64(0):T.int64(4)])
                T.sblock_attr({"kernel": True})
                for ax0 in range(T.int64(4)):
                    with T.sblock("state_0_goes_on"):
                        v_ax0 = T.axis.spatial(T.int64(4), ax0)
                        T.reads(T_add_intermediate[v_ax0])
                        T.writes(a[v_ax0])
                        a[v_ax0] = T_add_intermediate[v_ax0]
            with T.sblock("row_0_kernel"):
                T.reads(T_add_intermediate[T.int64(0):T.int64(4)])
                T.writes(rows_0[T.int64(0):T.int64(5), T.int64(0):T.int64(4)])
                T.sblock_attr({"kernel": True})
                for ax0 in range(T.int64(4)):
                    with T.sblock("row_0"):
                        v_ax0 = T.axis.spatial(T.int64(4), ax0)
                        T.reads(T_add_intermediate[v_ax0])
                        T.writes(rows_0[i, v_ax0])
                        rows_0[i, v_ax0] = T_add_intermediate[v_ax0]
        with T.sblock("state_0_ends_kernel"):
            T.reads(a[T.int64(0):T.int64(4)])
            T.writes(state_0_last[T.int64(0):T.int64(4)])
            T.sblock_attr({"kernel": True})
            for ax0 in range(T.int64(4)):
                with T.sblock("state_0_ends"):
                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                    T.reads(a[v_ax0])
                    T.writes(state_0_last[v_ax0])
                    state_0_last[v_ax0] = a[v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def side_by_side_loop_of_main_up_loop_of_main_down(s: T.Buffer((T.int64(4),), "float32"), x: T.Buffer((T.int64(4),), "float32"), rows_0_intermediate: T.Buffer((T.int64(5), T.int64(4)), "float32"), rows_0_intermediate_1: T.Buffer((T.int64(5), T.int64(4)), "float32"), state_0_last_intermediate: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        state_0_last_intermediate_1 = T.sblock_alloc_buffer((T.int64(4),))
        for side in T.parallel(T.int64(2)):
            if side == T.int64(0):
                with T.sblock("loop_of_main_up"):
                    T.reads(s[T.int64(0):T.int64(4)], x[T.int64(0):T.int64(4)])
                    T.writes(state_0_last_intermediate[T.int64(0):T.int64(4)], rows_0_intermediate[T.int64(0):T.int64(5), T.int64(0):T.int64(4)])
                    T.sblock_attr({"kernel": True})
                    T_add_intermediate = T.sblock_alloc_buffer((T.int64(4),))
                    a = T.sblock_alloc_buffer((T.int64(4),))
                    with T.sblock("state_0_begins_kernel"):
                        T.reads(s[T.int64(0):T.int64(4)])
                        T.writes(a[T.int64(0):T.int64(4)])
                        T.sblock_attr({"kernel": True})
                        for ax0 in range(T.int64(4)):
                            with T.sblock("state_0_begins"):
                                v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                T.reads(s[v_ax0])
                                T.writes(a[v_ax0])
                                a[v_ax0] = s[v_ax0]
                    for i in range(T.int64(5)):
                        with T.sblock("add1"):
                            T.reads(a[T.int64(0):T.int64(4)], x[T.int64(0):T.int64(4)])
                            T.writes(T_add_intermediate[T.int64(0):T.int64(4)])
                            T.sblock_attr({"kernel": True})
                            for ax0 in range(T.int64(4)):
                                with T.sblock("T_add"):
                                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                    T.reads(a[v_ax0], x[v_ax0])
                                    T.writes(T_add_intermediate[v_ax0])
                                    T_add_intermediate[v_ax0] = a[v_ax0] + x[v_ax0]
                        with T.sblock("state_0_goes_on_kernel"):
                            T.reads(T_add_intermediate[T.int64(0):T.int64(4)])
                            T.writes(a[T.int64(0):T.int64(4)])
                            T.sblock_attr({"kernel": True})
                            for ax0 in range(T.int64(4)):
                                with T.sblock("state_0_goes_on"):
                                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                    T.reads(T_add_intermediate[v_ax0])
                                    T.writes(a[v_ax0])
                                    a[v_ax0] = T_add_intermediate[v_ax0]
                        with T.sblock("row_0_kernel"):
                            T.reads(T_add_intermediate[T.int64(0):T.int64(4)])
                            T.writes(rows_0_intermediate[T.int64(0):T.int64(5), T.int64(0):T.int64(4)])
                            T.sblock_attr({"kernel": True})
                            for ax0 in range(T.int64(4)):
                                with T.sblock("row_0"):
                                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                    T.reads(T_add_intermediate[v_ax0])
                                    T.writes(rows_0_intermediate[i, v_ax0])
                                    rows_0_intermediate[i, v_ax0] = T_add_intermediate[v_ax0]
                    with T.sblock("state_0_ends_kernel"):
                        T.reads(a[T.int64(0):T.int64(4)])
                        T.writes(state_0_last_intermediate[T.int64(0):T.int64(4)])
                        T.sblock_attr({"kernel": True})
                        for ax0 in range(T.int64(4)):
                            with T.sblock("state_0_ends"):
                                v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                T.reads(a[v_ax0])
                                T.writes(state_0_last_intermediate[v_ax0])
                                state_0_last_intermediate[v_ax0] = a[v_ax0]
            else:
                with T.sblock("loop_of_main_down"):
                    T.reads(s[T.int64(0):T.int64(4)], x[T.int64(0):T.int64(4)])
                    T.writes(state_0_last_intermediate_1[T.int64(0):T.int64(4)], rows_0_intermediate_1[T.int64(0):T.int64(5), T.int64(0):T.int64(4)])
                    T.sblock_attr({"kernel": True})
                    T_subtract_intermediate = T.sblock_alloc_buffer((T.int64(4),))
                    a = T.sblock_alloc_buffer((T.int64(4),))
                    with T.sblock("state_0_begins_kernel1"):
                        T.reads(s[T.int64(0):T.int64(4)])
                        T.writes(a[T.int64(0):T.int64(4)])
                        T.sblock_attr({"kernel": True})
                        for ax0 in range(T.int64(4)):
                            with T.sblock("state_0_begins1"):
                                v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                T.reads(s[v_ax0])
                                T.writes(a[v_ax0])
                                a[v_ax0] = s[v_ax0]
                    for i in range(T.int64(5)):
                        with T.sblock("subtract"):
                            T.reads(a[T.int64(0):T.int64(4)], x[T.int64(0):T.int64(4)])
                            T.writes(T_subtract_intermediate[T.int64(0):T.int64(4)])
                            T.sblock_attr({"kernel": True})
                            for ax0 in range(T.int64(4)):
                                with T.sblock("T_subtract"):
                                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                    T.reads(a[v_ax0], x[v_ax0])
                                    T.writes(T_subtract_intermediate[v_ax0])
                                    T_subtract_intermediate[v_ax0] = a[v_ax0] - x[v_ax0]
                        with T.sblock("state_0_goes_on_kernel1"):
                            T.reads(T_subtract_intermediate[T.int64(0):T.int64(4)])
                            T.writes(a[T.int64(0):T.int64(4)])
                            T.sblock_attr({"kernel": True})
                            for ax0 in range(T.int64(4)):
                                with T.sblock("state_0_goes_on1"):
                                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                    T.reads(T_subtract_intermediate[v_ax0])
                                    T.writes(a[v_ax0])
                                    a[v_ax0] = T_subtract_intermediate[v_ax0]
                        with T.sblock("row_0_kernel1"):
                            T.reads(T_subtract_intermediate[T.int64(0):T.int64(4)])
                            T.writes(rows_0_intermediate_1[T.int64(0):T.int64(5), T.int64(0):T.int64(4)])
                            T.sblock_attr({"kernel": True})
                            for ax0 in range(T.int64(4)):
                                with T.sblock("row_01"):
                                    v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                    T.reads(T_subtract_intermediate[v_ax0])
                                    T.writes(rows_0_intermediate_1[i, v_ax0])
                                    rows_0_intermediate_1[i, v_ax0] = T_subtract_intermediate[v_ax0]
                    with T.sblock("state_0_ends_kernel1"):
                        T.reads(a[T.int64(0):T.int64(4)])
                        T.writes(state_0_last_intermediate_1[T.int64(0):T.int64(4)])
                        T.sblock_attr({"kernel": True})
                        for ax0 in range(T.int64(4)):
                            with T.sblock("state_0_ends1"):
                                v_ax0 = T.axis.spatial(T.int64(4), ax0)
                                T.reads(a[v_ax0])
                                T.writes(state_0_last_intermediate_1[v_ax0])
                                state_0_last_intermediate_1[v_ax0] = a[v_ax0]

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), s: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((5, 4), dtype="float32"), R.Tensor((4,), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.side_by_side_loop_of_main_up_loop_of_main_down, (s, x), out_ty=[R.Tensor((5, 4), dtype="float32"), R.Tensor((5, 4), dtype="float32"), R.Tensor((4,), dtype="float32")])
            p_1: R.Tensor((5, 4), dtype="float32") = lv[0]
            q_1: R.Tensor((5, 4), dtype="float32") = lv[1]
            lv1: R.Tensor((4,), dtype="float32") = lv[2]
            y = R.call_tir(cls.fused_tir_exp_add, (p_1, q_1), out_ty=R.Tensor((5, 4), dtype="float32"))
            r = R.call_tir(cls.loop_of_main_up1, (lv1, x), out_ty=[R.Tensor((4,), dtype="float32"), R.Tensor((5, 4), dtype="float32")])
            z: R.Tensor((4,), dtype="float32") = r[0]
            R.output(y, z)
        return (y, z)
