# run:
@I.ir_module
class Module:
    @R.function(wow=True)
    def flag(x: R.Tensor((2,), "float32")):
        return x

    @R.function(private=1)
    def number(x: R.Tensor((2,), "float32")):
        return x

    @T.prim_func(pure=False)
    def kernel(x: T.Buffer((2,), "float32")):
        x[0] = T.float32(0)

    @R.function
    def rank(x: R.Tensor((2,), "float32", ndim=3)):
        return x

    @R.function
    def fields(x: R.Tensor((2, 3), "float32")):
        a, b = R.split(x, 3, axis=1)
        return a

    @R.function
    def constants(x: R.Tensor((2,), "int8")):
        a = R.add(x, R.const(300, "int8"))
        b = R.add(x, R.const([1, -129], "int8"))
        c = R.const(-5, "uint8")
        d = R.const(9223372036854775808, "int64")
        e = R.const(18446744073709551615, "uint64")
        f = R.const(-9223372036854775808, "int64")
        g = R.const(1, "int1")
        return (a, b, c, d, e, f, g, R.const(-128, "int8"), R.const(255, "uint8"), R.const(-1, "int1"))

    @R.function
    def doubled(x: R.Tensor((2,), "float32")):
        a = (x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x)
        b = (a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a)
        c = (b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b)
        d = (c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c)
        e = (d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d)
        return e[0]
# ----- expected
# ModelError: fail_values.py:4:21: error: R.function takes private, pure and check_well_formed, not `wow`
#         @R.function(wow=True)
#                         ^
# fail_values.py:8:25: error: `private` is True or False
#         @R.function(private=1)
#                             ^
# fail_values.py:12:23: error: T.prim_func takes private, s_tir and check_well_formed, not `pure`
#         @T.prim_func(pure=False)
#                           ^
# fail_values.py:17:48: error: the shape has 1 dimensions, not 3: leave ndim out
#         def rank(x: R.Tensor((2,), "float32", ndim=3)):
#                                                    ^
# fail_values.py:22:9: error: 2 names for the 3 fields of a tuple: name each, or bind the tuple and take `[i]` of it
#             a, b = R.split(x, 3, axis=1)
#             ^
# fail_values.py:27:30: error: 300 does not fit into int8, which holds -128 to 127: give the constant another dtype
#             a = R.add(x, R.const(300, "int8"))
#                                  ^
# fail_values.py:28:34: error: -129 does not fit into int8, which holds -128 to 127: give the constant another dtype
#             b = R.add(x, R.const([1, -129], "int8"))
#                                      ^
# fail_values.py:29:21: error: -5 does not fit into uint8, which holds 0 to 255: give the constant another dtype
#             c = R.const(-5, "uint8")
#                         ^
# fail_values.py:30:21: error: 9223372036854775808 does not fit into int64, which holds -9223372036854775808 to 9223372036854775807: give the constant another dtype
#             d = R.const(9223372036854775808, "int64")
#                         ^
# fail_values.py:33:21: error: 1 does not fit into int1, which holds -1 to 0: give the constant another dtype
#             g = R.const(1, "int1")
#                         ^
# fail_values.py:42:14: error: a tuple of tuples that holds more than 131072 values in all
#             e = (d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d)
#                  ^
