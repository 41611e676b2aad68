# run:
@I.ir_module
class Module:
    @R.function
    def main(i: T.int64, j: T.int64):
        k: T.int64 = i + 1
        if i < j:
            z: T.int64 = k
        else:
            z: T.int64 = j
        return z
# ----- expected
# UnsupportedError: fail_scalar_arithmetic.py:6:22: error: arithmetic of scalars that are values of the graph (Prim("int64") and Prim("int64")) is not supported: pass tensors of shape (), or a shape such as R.Shape(["n"]) and compute with its symbol
#             k: T.int64 = i + 1
#                          ^
# fail_scalar_arithmetic.py:7:12: error: arithmetic of scalars that are values of the graph (Prim("int64") and Prim("int64")) is not supported: pass tensors of shape (), or a shape such as R.Shape(["n"]) and compute with its symbol
#             if i < j:
#                ^
