# run: ConvertLayout(desired_layouts={relax.nn.relu: [NHWC]})
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32")):
        return x
# ----- expected
# UsageError: ConvertLayout: relax.nn.relu takes no layouts; relax.nn.conv1d, relax.nn.conv2d, relax.nn.conv3d, relax.nn.conv1d_transpose, relax.nn.conv2d_transpose, relax.nn.conv3d_transpose, relax.nn.max_pool1d, relax.nn.max_pool2d, relax.nn.max_pool3d, relax.nn.avg_pool1d, relax.nn.avg_pool2d, relax.nn.avg_pool3d, relax.nn.adaptive_avg_pool1d, relax.nn.adaptive_avg_pool2d, relax.nn.adaptive_avg_pool3d do
