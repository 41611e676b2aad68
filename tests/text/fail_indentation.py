# run:
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")):
        with R.dataflow():
                a = R.exp(x)
            b = R.exp(x)
                c = R.exp(x)
        if x:
        d = "no end
        return x

    @R.function
    def other(x: R.Tensor((2,), dtype="float32")):
        """Nothing is returned."""
        y = R.exp(x)

    def plain(x):
        return x
# ----- expected
# ModelError: fail_indentation.py:8:13: error: this indentation matches no outer level
#                 b = R.exp(x)
#                 ^
# fail_indentation.py:10:12: error: the condition of an `if` is a scalar boolean, not Tensor((2,), "float32")
#             if x:
#                ^
# fail_indentation.py:11:13: error: this string does not end on its line
#             d = "no end
#                 ^
# fail_indentation.py:15:9: error: function `other` has no return
#         def other(x: R.Tensor((2,), dtype="float32")):
#             ^
# fail_indentation.py:19:9: error: expected @R.function or @T.prim_func before the function
#         def plain(x):
#             ^
