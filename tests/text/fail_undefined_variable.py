# run:
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, "n"), dtype="float32")) -> R.Tensor((2, "n"), dtype="float32"):
        with R.dataflow():
            y = R.nn.relu(z)
            R.output(y)
        return y
# ----- expected
# ModelError: fail_undefined_variable.py:7:27: error: `z` is not defined
#                 y = R.nn.relu(z)
#                               ^
