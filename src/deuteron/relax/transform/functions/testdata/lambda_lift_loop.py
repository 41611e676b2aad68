# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), s: R.Tensor((3,), "float32")):
        n = T.int64()
        with R.dataflow():
            @R.function
            def step(t: R.Shape(["i"]), a: R.Tensor((3,), "float32")):
                i = T.int64()
                with R.dataflow():
                    row = R.strided_slice(x, (0,), (i,), (i + 1,), assume_inbound=True)
                    b = R.add(a, R.squeeze(row, axis=[0]))
                    R.output(b)
                return (b, b)

            r = R.loop(step, n, (s,), ty_args=(R.Tuple(R.Tensor((3,), "float32"), R.Tensor((n, 3), "float32")),))
            R.output(r)
        return r
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

i = TypeVar("i")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(private=True)
    def main_step(t: R.Shape([i]), a: R.Tensor((3,), dtype="float32"), x: R.Tensor((n, 3), dtype="float32")) -> R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((3,), dtype="float32")):
        with R.dataflow():
            row: R.Tensor((1, 3), dtype="float32") = R.strided_slice(x, (0,), (i,), (i + 1,), assume_inbound=True)
            lv: R.Tensor((3,), dtype="float32") = R.squeeze(row, axis=[0])
            b: R.Tensor((3,), dtype="float32") = R.add(a, lv)
            R.output(b)
        return (b, b)

    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32"), s: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((n, 3), dtype="float32")):
        cls = Module
        with R.dataflow():
            step: R.Any = R.make_closure(cls.main_step, (x,))
            r: R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((n, 3), dtype="float32")) = R.loop(step, n, (s,), ty_args=(R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((n, 3), dtype="float32")),))
            R.output(step, r)
        return r
