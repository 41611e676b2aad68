# run:
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32"), c: R.Tensor((), dtype="bool")):
        if x:
            a = R.exp(x)
        else:
            a = x
        if c:
            b = R.exp(x)
        d = R.exp(x)
        if c:
            e = x
        else:
            f = x
        if c:
            R.print(x)
        else:
            g = x
        with R.dataflow():
            if c:
                h = x
            else:
                h = x
            R.output(h)
        return d
# ----- expected
# ModelError: fail_branches.py:6:12: error: the condition of an `if` is a scalar boolean, not Tensor((2,), "float32")
#             if x:
#                ^
# fail_branches.py:12:9: error: expected `else`: both branches give a value
#             d = R.exp(x)
#             ^
# fail_branches.py:13:9: error: the branches assign their results to different variables, `e` and `f`
#             if c:
#             ^
# fail_branches.py:17:13: error: a branch ends in an assignment of its result
#             if c:
#                 ^
# fail_branches.py:22:13: error: no `if` inside of a dataflow block
#                 if c:
#                 ^
