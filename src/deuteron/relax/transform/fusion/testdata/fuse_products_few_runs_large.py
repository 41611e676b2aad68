# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseProducts
# target: llvm -mcpu=x86-64-v4 -threads=2 -l2-bytes=32768 -l3-bytes=0 -core-gbps=0.05 -memory-gbps=0.1
# config: expected_runs=1
# expect-remark: FuseProducts gate -> gv: fused
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((256, 16), "float32"), w: R.Tensor((16, 96), "float32"), v: R.Tensor((96, 16), "float32")):
        with R.dataflow():
            wide = R.matmul(x, w)
            gate = R.nn.gelu(wide)
            gv = R.matmul(gate, v)
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
    def gelu(wide: T.Buffer((T.int64(256), T.int64(96)), "float32"), T_multiply: T.Buffer((T.int64(256), T.int64(96)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        T_multiply_1 = T.sblock_alloc_buffer((T.int64(256), T.int64(96)))
        compute = T.sblock_alloc_buffer((T.int64(256), T.int64(96)))
        T_multiply_2 = T.sblock_alloc_buffer((T.int64(256), T.int64(96)))
        T_add = T.sblock_alloc_buffer((T.int64(256), T.int64(96)))
        for ax0, ax1 in T.grid(T.int64(256), T.int64(96)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(wide[v_ax0, v_ax1])
                T.writes(T_multiply_1[v_ax0, v_ax1])
                T_multiply_1[v_ax0, v_ax1] = wide[v_ax0, v_ax1] * T.float32(0.7071067690849304)
        for i0, i1 in T.grid(T.int64(256), T.int64(96)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_multiply_1[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.erf(T_multiply_1[v_i0, v_i1])
        for ax0, ax1 in T.grid(T.int64(256), T.int64(96)):
            with T.sblock("T_multiply_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(compute[v_ax0, v_ax1])
                T.writes(T_multiply_2[v_ax0, v_ax1])
                T_multiply_2[v_ax0, v_ax1] = compute[v_ax0, v_ax1] * T.float32(0.5)
        for ax0, ax1 in T.grid(T.int64(256), T.int64(96)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_multiply_2[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = T.float32(0.5) + T_multiply_2[v_ax0, v_ax1]
        for ax0, ax1 in T.grid(T.int64(256), T.int64(96)):
            with T.sblock("T_multiply_2"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(wide[v_ax0, v_ax1], T_add[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = wide[v_ax0, v_ax1] * T_add[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((T.int64(256), T.int64(16)), "float32"), w: T.Buffer((T.int64(16), T.int64(96)), "float32"), matmul: T.Buffer((T.int64(256), T.int64(96)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(256), T.int64(96), T.int64(16)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(gate: T.Buffer((T.int64(256), T.int64(96)), "float32"), v: T.Buffer((T.int64(96), T.int64(16)), "float32"), matmul: T.Buffer((T.int64(256), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(256), T.int64(16), T.int64(96)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(gate[v_i0, v_k], v[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + gate[v_i0, v_k] * v[v_k, v_i1]

    @R.function(private=True)
    def fused_matmul_gelu(x: R.Tensor((256, 16), dtype="float32"), w: R.Tensor((16, 96), dtype="float32")) -> R.Tensor((256, 96), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            wide = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((256, 96), dtype="float32"))
            gate = R.call_tir(cls.gelu, (wide,), out_ty=R.Tensor((256, 96), dtype="float32"))
            R.output(gate)
        return gate

    @R.function(private=True)
    def fused_matmul_gelu_matmul1(x: R.Tensor((256, 16), dtype="float32"), w: R.Tensor((16, 96), dtype="float32"), v: R.Tensor((96, 16), dtype="float32")) -> R.Tensor((256, 16), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            wide = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((256, 96), dtype="float32"))
            gate = R.call_tir(cls.gelu, (wide,), out_ty=R.Tensor((256, 96), dtype="float32"))
            gv = R.call_tir(cls.matmul1, (gate, v), out_ty=R.Tensor((256, 16), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((256, 16), dtype="float32"), w: R.Tensor((16, 96), dtype="float32"), v: R.Tensor((96, 16), dtype="float32")) -> R.Tensor((256, 16), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((256, 16), dtype="float32") = cls.fused_matmul_gelu_matmul1(x, w, v)
            R.output(gv)
        return gv
