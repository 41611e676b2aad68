/// How fast text is read and printed: MB/s of Relax and of TIR text, and that time is linear in the number of bindings.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron {
namespace {

/// Seconds of this process on its one thread, whatever else the machine does.
double Now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Seconds that `action` takes: the least of `rounds`; what it gives is freed outside of that.
template <typename Action>
double Seconds(int rounds, Action action) {
  double best = 0;
  for (int i = 0; i < rounds; ++i) {
    const double begin = Now();
    [[maybe_unused]] const auto result = action();
    const double seconds = Now() - begin;
    if (i == 0 || seconds < best) best = seconds;
  }
  return best;
}

/// A function of `bindings` bindings as an importer makes it: convolutions, matrix products, elementwise chains,
/// shapes.
std::string RelaxText(int64_t bindings) {
  std::string text =
      "n = TypeVar(\"n\")\n"
      "@I.ir_module\nclass Module:\n    @R.function\n"
      "    def main(x: R.Tensor((1, 64, 56, 56), dtype=\"float32\"), w: R.Tensor((64, 64, 3, 3), dtype=\"float32\"), "
      "b: R.Tensor((64, 1, 1), dtype=\"float32\"), t: R.Tensor((n, 128), dtype=\"float32\"), "
      "m: R.Tensor((128, 128), dtype=\"float32\")) -> R.Tensor((1, 64, 56, 56), dtype=\"float32\"):\n"
      "        with R.dataflow():\n";
  std::string image = "x";
  std::string row = "t";
  const std::string image_type = ": R.Tensor((1, 64, 56, 56), dtype=\"float32\") = ";
  const std::string row_type = ": R.Tensor((n, 128), dtype=\"float32\") = ";
  const auto line = [&](const std::string& var, const std::string& type, const std::string& value) {
    text += "            " + var + type + value + "\n";
  };
  for (int64_t i = 0; i + 1 < bindings; ++i) {
    const std::string var = i == 0 ? "lv" : "lv" + std::to_string(i);
    switch (i % 8) {
      case 0:
        line(var, image_type,
             "R.nn.conv2d(" + image +
                 ", w, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, "
                 "data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_layout=\"NCHW\", out_dtype=None)");
        image = var;
        break;
      case 1:
        line(var, image_type, "R.add(" + image + ", b)");
        image = var;
        break;
      case 2:
        line(var, image_type, "R.nn.relu(" + image + ")");
        image = var;
        break;
      case 3:
        line(var, row_type, "R.matmul(" + row + ", m, out_dtype=None)");
        row = var;
        break;
      case 4:
        line(var, row_type, "R.add(" + row + ", t)");
        row = var;
        break;
      case 5:
        line(var, row_type, "R.multiply(" + row + ", R.const(0.5, \"float32\"))");
        row = var;
        break;
      case 6:
        line(var, ": R.Tensor((n, 4, 32), dtype=\"float32\") = ", "R.reshape(" + row + ", R.shape([n, 4, 32]))");
        break;
      default:
        line(var, row_type, "R.nn.softmax(" + row + ", axis=-1)");
        row = var;
    }
  }
  line("gv", image_type, image);
  text += "            R.output(gv)\n        return gv\n";
  return text;
}

/// `count` kernels as LegalizeOps and FuseTIR make them: blocks of a matrix product and of its epilogue.
std::string TirText(int64_t count) {
  std::string text = "@I.ir_module\nclass Module:\n";
  for (int64_t i = 0; i < count; ++i) {
    text +=
        "    @T.prim_func(private=True, s_tir=True)\n    def fused_matmul_add_relu" + std::to_string(i) +
        R"((lv: T.Buffer((T.int64(128), T.int64(768)), "float32"), w: T.Buffer((T.int64(768), T.int64(3072)), "float32"), b: T.Buffer((T.int64(3072),), "float32"), T_relu_intermediate: T.Buffer((T.int64(128), T.int64(3072)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        matmul_intermediate = T.sblock_alloc_buffer((T.int64(128), T.int64(3072)))
        T_add_intermediate = T.sblock_alloc_buffer((T.int64(128), T.int64(3072)))
        for i0, i1, k in T.grid(T.int64(128), T.int64(3072), T.int64(768)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(lv[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul_intermediate[v_i0, v_i1])
                with T.init():
                    matmul_intermediate[v_i0, v_i1] = T.float32(0.0)
                matmul_intermediate[v_i0, v_i1] = matmul_intermediate[v_i0, v_i1] + lv[v_i0, v_k] * w[v_k, v_i1]
        for ax0, ax1 in T.grid(T.int64(128), T.int64(3072)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(matmul_intermediate[v_ax0, v_ax1], b[v_ax1])
                T.writes(T_add_intermediate[v_ax0, v_ax1])
                T_add_intermediate[v_ax0, v_ax1] = matmul_intermediate[v_ax0, v_ax1] + b[v_ax1]
        for ax0, ax1_0, ax1_1 in T.grid(T.int64(128), T.int64(192), T.int64(16)):
            with T.sblock("T_relu"):
                v_ax0 = T.axis.spatial(T.int64(128), ax0)
                v_ax1 = T.axis.spatial(T.int64(3072), ax1_0 * T.int64(16) + ax1_1)
                T.reads(T_add_intermediate[v_ax0, v_ax1])
                T.writes(T_relu_intermediate[v_ax0, v_ax1])
                T_relu_intermediate[v_ax0, v_ax1] = T.max(T_add_intermediate[v_ax0, v_ax1], T.float32(0.0))

)";
  }
  return text;
}

void Row(const char* name, const std::string& text, int rounds) {
  const double mb = static_cast<double>(text.size()) / 1e6;
  const double read = Seconds(rounds, [&] { return script::ParseModule(text); });
  const IRModule module = script::ParseModule(text);
  size_t printed = 0;
  const double print = Seconds(rounds, [&] { return printed = script::Print(module).size(); });
  const double verify = Seconds(rounds, [&] {
    relax::CheckWellFormed(module);
    return 0;
  });
  std::printf("%-28s %8.1f %10.1f %8.1f %10.1f %8.1f %10.1f\n", name, mb, read * 1e3, mb / read, print * 1e3,
              static_cast<double>(printed) / 1e6 / print, verify * 1e3);
  std::fflush(stdout);
}

}  // namespace
}  // namespace deuteron

int main(int argc, char** argv) {
  // The largest number of bindings.
  const int64_t limit = argc > 1 ? std::atoll(argv[1]) : 1000000;
  std::printf("%-28s %8s %10s %8s %10s %8s %10s\n", "text", "MB", "read ms", "MB/s", "print ms", "MB/s", "verify ms");
  for (int64_t bindings = 10000; bindings <= limit; bindings *= 10) {
    const std::string name = "Relax, " + std::to_string(bindings) + " bindings";
    deuteron::Row(name.c_str(), deuteron::RelaxText(bindings), bindings >= 1000000 ? 2 : 5);
  }
  for (int64_t kernels = 100; kernels <= std::max<int64_t>(100, limit / 100); kernels *= 10) {
    const std::string name = "TIR, " + std::to_string(kernels) + " kernels";
    deuteron::Row(name.c_str(), deuteron::TirText(kernels), kernels >= 10000 ? 2 : 5);
  }
}
