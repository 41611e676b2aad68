# run: DeadCodeElimination(entry_functions=[forward])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        return x
# ----- expected
# ModelError: the module has no function "forward"; it has: main
