# run: VMShapeLower
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        z = R.exp(x)
        return z
# ----- expected
# ModelError: VMShapeLower: function "main" is pure, and the pass would write calls with side effects into it; run RemovePurityChecking before, or declare it with pure=False
