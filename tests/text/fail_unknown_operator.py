# run:
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, "n"), dtype="float32")):
        y = R.nn.rleu(x)
        return y
# ----- expected
# UnsupportedError: fail_unknown_operator.py:6:13: error: unknown operator R.nn.rleu
#             y = R.nn.rleu(x)
#                 ^
