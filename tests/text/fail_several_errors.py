# run:
@I.ir_module
class Module:
    @R.function
    def first(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            a = R.nn.rleu(x)
            b = R.add(a, x)
            c = R.add(x, undefined)
            d = R.multiply(c, undefined)
            e = R.reshape(x, R.shape([7]))
            gv = R.add(b, d)
            R.output(gv)
        return gv

    @R.function
    def second(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((4,), dtype="float32"), c: R.Tensor((), dtype="bool")):
        a = R.add(x, y
        if c:
            r = R.exp(a)
        else:
            r = R.exp(x
        lv: R.Tensor((2, 4), dtype="float32") = R.exp(x)
        p = R.nn.conv2d(x, x, stride=[1, 1])
        s = Module.first(R.add(x, y))
        t = Module.third(x)
        return R.sum(r)

    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.sblock("B"):
                v_i = T.axis.spatial(8, j)
                B[v_i] = A[v_i] + q
        for k in T.serial("8"):
            B[k] = A[k]
        B[0] = A[0, 1]
        B[0] = A[0] / 2 + T.foo(A[0])
        B[1] = T.int32(7) / 2
# ----- expected
# ModelError: fail_several_errors.py:7:17: error: unknown operator R.nn.rleu
#                 a = R.nn.rleu(x)
#                     ^
# fail_several_errors.py:9:26: error: `undefined` is not defined
#                 c = R.add(x, undefined)
#                              ^
# fail_several_errors.py:11:17: error: reshape: (2, 3) cannot be reshaped to (7,): the numbers of elements differ
#                 e = R.reshape(x, R.shape([7]))
#                     ^
# fail_several_errors.py:18:18: error: this `(` is never closed
#             a = R.add(x, y
#                      ^
# fail_several_errors.py:22:22: error: this `(` is never closed
#                 r = R.exp(x
#                          ^
# fail_several_errors.py:23:9: error: the annotation says Tensor((2, 4), "float32"), and the value is Tensor((2, 3), "float32")
#             lv: R.Tensor((2, 4), dtype="float32") = R.exp(x)
#             ^
# fail_several_errors.py:24:38: error: R.nn.conv2d has no argument `stride`; it has data, weight, strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype
#             p = R.nn.conv2d(x, x, stride=[1, 1])
#                                          ^
# fail_several_errors.py:25:26: error: add: shapes (2, 3) and (4,) do not broadcast: 3 against 4 on axis 1
#             s = Module.first(R.add(x, y))
#                              ^
# fail_several_errors.py:26:13: error: the module has no function `third`
#             t = Module.third(x)
#                 ^
# fail_several_errors.py:33:41: error: `j` is not defined
#                     v_i = T.axis.spatial(8, j)
#                                             ^
# fail_several_errors.py:35:18: error: a loop runs over integers
#             for k in T.serial("8"):
#                      ^
# fail_several_errors.py:37:16: error: `A` has 1 dimensions and is given 2 indices
#             B[0] = A[0, 1]
#                    ^
# fail_several_errors.py:38:27: error: there is no function `T.foo`
#             B[0] = A[0] / 2 + T.foo(A[0])
#                               ^
# fail_several_errors.py:39:16: error: `/` divides floats; of integers say `//` (toward minus infinity) or `T.truncdiv` (toward zero)
#             B[1] = T.int32(7) / 2
#                    ^
