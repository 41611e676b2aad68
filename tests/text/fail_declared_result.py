# run:
# The verifier refuses a result that can never be of the declared type; what is only not proved it leaves to run time.
@I.ir_module
class Module:
    @R.function
    def rank(x: R.Tensor((2, 3), "float32")) -> R.Tensor((5,), "float32"):
        y = R.exp(x)
        return y

    @R.function
    def extent(x: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 4), "float32"), R.Tensor((2, 3), "float32")):
        y = R.exp(x)
        return (y, y)

    @R.function
    def unknown(x: R.Tensor(("n", 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.exp(x)
        return y
# ----- expected
# ModelError: the module is not well formed:
#   function "rank": returns Tensor((2, 3), "float32"), but is declared to return Tensor((5,), "float32")
#   function "extent": returns Tuple(Tensor((2, 3), "float32"), Tensor((2, 3), "float32")), but is declared to return Tuple(Tensor((2, 4), "float32"), Tensor((2, 3), "float32"))
