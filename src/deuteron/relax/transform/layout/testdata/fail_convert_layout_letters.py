# run: ConvertLayout(desired_layouts={relax.nn.conv2d: [NHWX, OHWI]})
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            gv = R.nn.conv2d(x, w)
            R.output(gv)
        return gv
# ----- expected
# UsageError: ConvertLayout: "NHWX" is no layout of a tensor of relax.nn.conv2d written as "NCHW": each of its letters once, and blocks as in "NCHW16c"
