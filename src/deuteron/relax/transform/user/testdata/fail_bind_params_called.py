# run: BindParams(func_name=scaled, params="$HERE/bind_params")
@I.ir_module
class Module:
    @R.function
    def scaled(w: R.Tensor((2, 3), "float32"), scale: R.Tensor((), "float32")):
        y = R.multiply(w, scale)
        return y

    @R.function
    def main(w: R.Tensor((2, 3), "float32"), scale: R.Tensor((), "float32")):
        cls = Module
        a = cls.scaled(w, scale)
        return a
# ----- expected
# ModelError: BindParams: the parameters of function "scaled" cannot change, because function "main" uses it
