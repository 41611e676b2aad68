# run: BindParams(func_name=inference, params="$HERE/bind_params")
@I.ir_module
class Module:
    @R.function
    def main(w: R.Tensor((2, 3), "float32")):
        return w
# ----- expected
# ModelError: the module has no function "inference"; it has: main
