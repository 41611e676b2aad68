# run: KillAfterLastUse
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            a: R.Tensor((2,), dtype="float32") = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((2,), dtype="float32"),))
            y = R.add(x, a)
            R.output(y)
        return y
# ----- expected
# ModelError: KillAfterLastUse: function "main" has a dataflow block, and the pass would write calls with side effects into it; run ToNonDataflow before
