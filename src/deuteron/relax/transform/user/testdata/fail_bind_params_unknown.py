# run: BindParams(params="$HERE/bind_params")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 2), "float32"), weight: R.Tensor((2, 3), "float32")):
        y = R.matmul(x, weight)
        return y
# ----- expected
# ModelError: BindParams: function "main" has no parameter "scale"; its parameters are x, weight
