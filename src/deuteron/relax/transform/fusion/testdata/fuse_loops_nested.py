# run: LambdaLift,ConvertToDataflow,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,FuseLoops
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            @R.function
            def step(t: R.Shape(["i"]), a: R.Tensor((3,), "float32")):
                with R.dataflow():
                    @R.function
                    def inner(u: R.Shape(["j"]), b: R.Tensor((3,), "float32")):
                        with R.dataflow():
                            c = R.add(b, x)
                            R.output(c)
                        return (c,)

                    q = R.loop(inner, 2, (a,), ty_args=(R.Tuple(R.Tensor((3,), "float32")),))
                    d = R.exp(q[0])
                    R.output(d)
                return (d,)

            r = R.loop(step, 4, (x,), ty_args=(R.Tuple(R.Tensor((3,), "float32")),))
            y = r[0]
            R.output(y)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def loop_of_main_step(state_0_first: T.Buffer((T.int64(3),), "float32"), x: T.Buffer((T.int64(3),), "float32"), state_0_last: T.Buffer((T.int64(3),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        state_0_last_intermediate = T.sblock_alloc_buffer((T.int64(3),))
        compute_intermediate_intermediate = T.sblock_alloc_buffer((T.int64(3),))
        a = T.sblock_alloc_buffer((T.int64(3),))
        with T.sblock("state_0_begins_kernel"):
            T.reads(state_0_first[T.int64(0):T.int64(3)])
            T.writes(a[T.int64(0):T.int64(3)])
            T.sblock_attr({"kernel": True})
            for ax0 in range(T.int64(3)):
                with T.sblock("state_0_begins"):
                    v_ax0 = T.axis.spatial(T.int64(3), ax0)
                    T.reads(state_0_first[v_ax0])
                    T.writes(a[v_ax0])
                    a[v_ax0] = state_0_first[v_ax0]
        for i in range(T.int64(4)):
            with T.sblock("loop_of_main_inner"):
                T.reads(a[T.int64(0):T.int64(3)], x[T.int64(0):T.int64(3)])
                T.writes(state_0_last_intermediate[T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                T_add_intermediate = T.sblock_alloc_buffer((T.int64(3),))
                b = T.sblock_alloc_buffer((T.int64(3),))
                with T.sblock("state_0_begins_kernel"):
                    T.reads(a[T.int64(0):T.int64(3)])
                    T.writes(b[T.int64(0):T.int64(3)])
                    T.sblock_attr({"kernel": True})
                    for ax0 in range(T.int64(3)):
                        with T.sblock("state_0_begins"):
                            v_ax0 = T.axis.spatial(T.int64(3), ax0)
                            T.reads(a[v_ax0])
                            T.writes(b[v_ax0])
                            b[v_ax0] = a[v_ax0]
                for j in range(T.int64(2)):
                    with T.sblock("add"):
                        T.reads(b[T.int64(0):T.int64(3)], x[T.int64(0):T.int64(3)])
                        T.writes(T_add_intermediate[T.int64(0):T.int64(3)])
                        T.sblock_attr({"kernel": True})
                        for ax0 in range(T.int64(3)):
                            with T.sblock("T_add"):
                                v_ax0 = T.axis.spatial(T.int64(3), ax0)
                                T.reads(b[v_ax0], x[v_ax0])
                                T.writes(T_add_intermediate[v_ax0])
                                T_add_intermediate[v_ax0] = b[v_ax0] + x[v_ax0]
                    with T.sblock("state_0_goes_on_kernel"):
                        T.reads(T_add_intermediate[T.int64(0):T.int64(3)])
                        T.writes(b[T.int64(0):T.int64(3)])
                        T.sblock_attr({"kernel": True})
                        for ax0 in range(T.int64(3)):
                            with T.sblock("state_0_goes_on"):
                                v_ax0 = T.axis.spatial(T.int64(3), ax0)
                                T.reads(T_add_intermediate[v_ax0])
                                T.writes(b[v_ax0])
                                b[v_ax0] = T_add_intermediate[v_ax0]
                with T.sblock("state_0_ends_kernel"):
                    T.reads(b[T.int64(0):T.int64(3)])
                    T.writes(state_0_last_intermediate[T.int64(0):T.int64(3)])
                    T.sblock_attr({"kernel": True})
                    for ax0 in range(T.int64(3)):
                        with T.sblock("state_0_ends"):
                            v_ax0 = T.axis.spatial(T.int64(3), ax0)
                            T.reads(b[v_ax0])
                            T.writes(state_0_last_intermediate[v_ax0])
                            state_0_last_intermediate[v_ax0] = b[v_ax0]
            with T.sblock("fused_tir_exp"):
                T.reads(state_0_last_intermediate[T.int64(0):T.int64(3)])
                T.writes(compute_intermediate_intermediate[T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                for i0 in range(T.int64(3)):
                    with T.sblock("compute"):
                        v_i0 = T.axis.spatial(T.int64(3), i0)
                        T.reads(state_0_last_intermediate[v_i0])
                        T.writes(compute_intermediate_intermediate[v_i0])
                        compute_intermediate_intermediate[v_i0] = T.exp(state_0_last_intermediate[v_i0])
            with T.sblock("state_0_goes_on_kernel"):
                T.reads(compute_intermediate_intermediate[T.int64(0):T.int64(3)])
                T.writes(a[T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                for ax0 in range(T.int64(3)):
                    with T.sblock("state_0_goes_on"):
                        v_ax0 = T.axis.spatial(T.int64(3), ax0)
                        T.reads(compute_intermediate_intermediate[v_ax0])
                        T.writes(a[v_ax0])
                        a[v_ax0] = compute_intermediate_intermediate[v_ax0]
        with T.sblock("state_0_ends_kernel"):
            T.reads(a[T.int64(0):T.int64(3)])
            T.writes(state_0_last[T.int64(0):T.int64(3)])
            T.sblock_attr({"kernel": True})
            for ax0 in range(T.int64(3)):
                with T.sblock("state_0_ends"):
                    v_ax0 = T.axis.spatial(T.int64(3), ax0)
                    T.reads(a[v_ax0])
                    T.writes(state_0_last[v_ax0])
                    state_0_last[v_ax0] = a[v_ax0]

    @R.function
    def main(x: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.loop_of_main_step, (x, x), out_ty=R.Tensor((3,), dtype="float32"))
            R.output(y)
        return y
