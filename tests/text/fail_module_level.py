# run:
n = 3
@I.ir_module
class Module:
    I.module_attrs(["a"])
    I.something({})
    @R.function
    def main(x: R.Tensor((2,), dtype="float33"), x: R.Any):
        return x

    @R.function
    def main(x: R.Tensor((2,), dtype="float32")):
        return x

    @staticmethod
    def helper(x):
        return x

    @R.function
    def user(x: R.Tensor((2,), dtype="float32")):
        y = metadata["ir.GenericConst"][1]
        return Module.main(R.add(x, y))

metadata = {"ir.GenericConst": [{"dtype": "float32", "shape": [2], "data": "AAAA"}]}
# ----- expected
# ModelError: fail_module_level.py:2:5: error: expected TypeVar("n")
#     n = 3
#         ^
# fail_module_level.py:5:20: error: expected a dictionary
#         I.module_attrs(["a"])
#                        ^
# fail_module_level.py:6:5: error: expected a function, I.module_attrs or I.module_global_infos
#         I.something({})
#         ^
# fail_module_level.py:8:50: error: two parameters named `x`
#         def main(x: R.Tensor((2,), dtype="float33"), x: R.Any):
#                                                      ^
# fail_module_level.py:15:6: error: expected @R.function or @T.prim_func
#         @staticmethod
#          ^
# fail_module_level.py:24:76: error: the data of this constant does not have the size of its shape
#     metadata = {"ir.GenericConst": [{"dtype": "float32", "shape": [2], "data": "AAAA"}]}
#                                                                                ^
