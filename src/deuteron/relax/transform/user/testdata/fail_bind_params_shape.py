# run: BindParams(params="$HERE/bind_params")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 2), "float32"), w: R.Tensor((2, 4), "float32"), scale: R.Tensor((), "float32")):
        y = R.multiply(R.matmul(x, w), scale)
        return y
# ----- expected
# ModelError: BindParams: function "main": parameter "w" is Tensor((2, 4), "float32"), and what is to be bound to it has another shape: Tensor((2, 3), "float32")
