# run: KillAfterLastUse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a: R.Tensor((2,), dtype="float32") = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((2,), dtype="float32"),))
        y = R.add(x, a)
        return y
# ----- expected
# ModelError: KillAfterLastUse: function "main" is pure, and the pass would write calls with side effects into it; run RemovePurityChecking before, or declare it with pure=False
