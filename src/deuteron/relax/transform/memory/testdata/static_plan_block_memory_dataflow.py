# run: StaticPlanBlockMemory
# A dataflow block beside what allocates stays one.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.evaluate(0)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0)
        cls.copy(x, a)
        with R.dataflow():
            b = R.exp(a)
            c = R.exp(b)
            R.output(c)
        return c
# ----- expected
# ModelError: the module is not well formed:
#   function "main", binding "b": a DataflowVar is bound outside of a dataflow block
