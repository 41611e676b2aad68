# run: BindParams(params="$HERE/bind_params_two_sizes")
@I.ir_module
class Module:
    @R.function
    def main(w: R.Tensor(("n", 3), "float32"), v: R.Tensor(("n",), "float32")):
        return (w, v)
# ----- expected
# ModelError: BindParams: function "main": n is 4 by the tensor for "v" and 2 by that for "w"
