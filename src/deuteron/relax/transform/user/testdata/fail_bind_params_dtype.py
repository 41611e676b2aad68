# run: BindParams(params="$HERE/bind_params")
@I.ir_module
class Module:
    @R.function
    def main(w: R.Tensor((2, 3), "float16"), scale: R.Tensor((), "float32")):
        return (w, scale)
# ----- expected
# ModelError: BindParams: function "main": parameter "w" is Tensor((2, 3), "float16"), and what is to be bound to it has another dtype: Tensor((2, 3), "float32")
