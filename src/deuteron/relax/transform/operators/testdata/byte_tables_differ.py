# run: TabulateBytes,FoldConstant,DeadCodeElimination,LegalizeOps
# target: llvm -mcpu=znver4
# Tables of one type are each a kernel of its own.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((64,), "uint8")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            b = R.quantize(R.sigmoid(a), R.const(0.00390625, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            c = R.quantize(R.tanh(a), R.const(0.00390625, "float32"), R.const(100, "uint8"), out_dtype="uint8", axis=0)
            R.output(b, c)
        return (b, c)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def byte_table(x: T.Buffer((T.int64(64),), "uint8"), looked_up: T.Buffer((T.int64(64),), "uint8")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(T.int64(64)):
            with T.sblock("looked_up"):
                v_i0 = T.axis.spatial(T.int64(64), i0)
                T.reads(x[v_i0])
                T.writes(looked_up[v_i0])
                looked_up[v_i0] = T.byte_table(x[v_i0], T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(72340172838010880), T.int64(144680345676087553), T.int64(506097527226106627), T.int64(1229216668183037960), T.int64(3037152515701872147), T.int64(6436289578251400239), T.int64(-7453307297940346783), T.int64(-3690768357655664737), T.int64(-1519712115968256303), T.int64(-506947475635834899), T.int64(-144962928788178440), T.int64(-1103823438083), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1))

    @T.prim_func(private=True, s_tir=True)
    def byte_table1(x: T.Buffer((T.int64(64),), "uint8"), looked_up: T.Buffer((T.int64(64),), "uint8")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(T.int64(64)):
            with T.sblock("looked_up"):
                v_i0 = T.axis.spatial(T.int64(64), i0)
                T.reads(x[v_i0])
                T.writes(looked_up[v_i0])
                looked_up[v_i0] = T.byte_table(x[v_i0], T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(0), T.int64(-4565660031048677376), T.int64(-3366), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1), T.int64(-1))

    @R.function
    def main(x: R.Tensor((64,), dtype="uint8")) -> R.Tuple(R.Tensor((64,), dtype="uint8"), R.Tensor((64,), dtype="uint8")):
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.byte_table, (x,), out_ty=R.Tensor((64,), dtype="uint8"))
            c = R.call_tir(cls.byte_table1, (x,), out_ty=R.Tensor((64,), dtype="uint8"))
            R.output(b, c)
        return (b, c)
