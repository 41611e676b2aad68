# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    I.module_attrs({"a": 1, "b": "x"})
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global")]})
    @T.prim_func(private=True, s_tir=True)
    def add(A: T.Buffer((T.int64(4), T.int64(8)), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((T.int64(4), T.int64(8)), "float32"), k: T.int64):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        D = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        for i, j in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("D"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(A[v_i, v_j])
                T.writes(D[v_i, v_j])
                D[v_i, v_j] = A[v_i, v_j] + T.float32(1.5)
        for i in range(T.int64(4)):
            for j in T.parallel(T.int64(8)):
                with T.sblock("C"):
                    v_i, v_j = T.axis.remap("SS", [i, j])
                    T.where(j < T.int64(7))
                    T.reads(D[v_i, T.int64(0):v_j], B[v_i])
                    T.writes(C[v_i, v_j])
                    T.sblock_attr({"x": 1, "y": "s", "z": [1, 2]})
                    C[v_i, v_j] = T.if_then_else(v_i < T.int64(2) and v_j >= T.int64(1) or not v_i == v_j, D[v_i, v_j], T.max(T.exp(B[v_i]), T.float32(0.0)))

    @T.prim_func(private=True, s_tir=True)
    def red(A: T.Buffer((T.int64(4), T.int64(8)), "float16"), C: T.Buffer((), "float32"), D: T.Buffer((T.int64(4),), "int32", strides=(T.int64(2),))):
        # with T.sblock("root"):
        for i in T.unroll(T.int64(4)):
            for j in T.vectorized(T.int64(1), T.int64(8), annotations={"pragma": 1}):
                with T.sblock("C"):
                    v_i, v_j = T.axis.remap("RR", [i, j])
                    T.reads(A[v_i, v_j])
                    T.writes(C[()])
                    with T.init():
                        C[()] = T.float32("inf")
                    C[()] = C[()] + T.Cast("float32", A[v_i, v_j])
        for i in T.thread_binding(T.int64(4), thread="blockIdx.x"):
            if i < T.int64(2):
                D[i] = T.Select(i < T.int64(1), 3, T.Cast("int32", i // T.int64(2) % T.int64(3) - (i - T.int64(1))))
            else:
                D[i] = T.min(4, D[i]) * (D[i] + 1)

    @R.function(pure=False, private=True)
    def other(x: R.Tensor((3,), dtype="float32"), c: R.Tensor((), dtype="bool"), f: R.Callable((R.Tensor((3,), dtype="float32"),), R.Tensor((3,), dtype="float32"), True)) -> R.Tensor((3,), dtype="float32"):
        m = T.int64()
        cls = Module
        y: R.Tensor((m,), dtype="float32") = R.match_cast(x, R.Tensor((m,), dtype="float32"))
        a: R.Any = R.call_packed("foo", x, ty_args=(R.Any,))
        # from typing import TypeVar
        # from tvm.script import ir as I
        # from tvm.script import tirx as T
        # from tvm.tirx.layout import Axis
        # from tvm.script import relax as R
        
        @R.function
        def inner(z: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
            w: R.Tensor((3,), dtype="float32") = R.exp(z)
            return w

        if c:
            t: R.Tensor((3,), dtype="float32") = inner(x)
            r_then: R.Tensor((3,), dtype="float32") = R.exp(t)
            r: R.Tensor((3,), dtype="float32") = r_then
        else:
            q: R.Tensor((3,), dtype="float32") = f(x)
            r_else: R.Tensor((3,), dtype="float32") = R.negative(q)
            r: R.Tensor((3,), dtype="float32") = r_else
        g: R.Tensor((3,), dtype="float32") = cls.third(r)
        return g

    @R.function(private=True)
    def third(x: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
        return x

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((n, 4), dtype="float32"), w: R.Tensor(dtype="float32", ndim=2), s: R.Shape([n, 3]), p: T.int64, o: R.Any) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor(("n * 2", 4), dtype="float32")):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            lv: R.Tensor((n, 4), dtype="float32") = R.add(x, y)
            lv1: R.Tensor((n * 2, 4), dtype="float32") = R.concat((lv, y), axis=0)
            lv2: R.Tensor((n, 4), dtype="float32") = R.nn.relu(lv)
            lv3: R.Tensor((n, 4), dtype="float32") = R.multiply(lv2, R.const(2.0, "float32"))
            lv4 = R.call_tir(cls.red, (lv3,), out_ty=R.Tensor((n, 4), dtype="float32"))
            lv5 = R.call_tir(cls.red, (lv3, lv4), out_ty=[R.Tensor((n, 4), dtype="float32"), R.Tensor((n, 4), dtype="float32")])
            lv6: R.Tensor((n, 4), dtype="float32") = lv5[0]
            lv7 = R.call_dps_packed("ext.f", (lv6,), out_ty=R.Tensor((n, 4), dtype="float32"))
            lv8: R.Tensor((n, 4), dtype="float32") = R.call_pure_packed("ext.g", lv7, R.str("hi"), 3, R.dtype("float32"), ty_args=(R.Tensor((n, 4), dtype="float32"),))
            lv9: R.Tensor((n * 2, 2), dtype="float32") = R.reshape(lv8, R.shape([n * 2, 2]))
            lv10: R.Tensor((n, 4), dtype="float32") = R.call_tir_inplace(cls.red, (lv3,), out_ty=R.Tensor((n, 4), dtype="float32"), inplace_indices=[0])
            gv: R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor((n * 2, 4), dtype="float32")) = lv3, lv1
            R.output(gv)
        return gv
