/// How fast FuseOpsByPattern is: microseconds a binding for 80 patterns, and that time is linear in the bindings.
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/script/parser.h"

namespace deuteron {
namespace {

double Now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Layers of products with bias and activation, residuals, and operators that no pattern takes.
IRModule Network(int64_t bindings) {
  static const char* const kLines[] = {"R.matmul(%s, w)", "R.add(%s, b)",      "R.nn.gelu(%s)", "R.add(%s, x)",
                                       "R.exp(%s)",       "R.multiply(%s, x)", "R.nn.relu(%s)", "R.matmul(%s, w)",
                                       "R.nn.relu(%s)",   "R.subtract(%s, x)"};
  std::string text =
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((8, 8), \"float32\"), w: R.Tensor((8, "
      "8), "
      "\"float32\"), b: R.Tensor((8,), \"float32\")):\n        with R.dataflow():\n";
  std::string last = "x";
  for (int64_t i = 0; i < bindings; ++i) {
    const std::string var = "v" + std::to_string(i);
    char line[128];
    std::snprintf(line, sizeof(line), kLines[i % 10], last.c_str());
    text += "            " + var + " = " + line + "\n";
    last = var;
  }
  return script::ParseModule(text + "            R.output(" + last + ")\n        return " + last + "\n");
}

/// 80 patterns with checks, as a library brings them: most of them end in the same few operators.
std::vector<relax::FusionPattern> Patterns() {
  using namespace relax::dpl;  // NOLINT(google-build-using-namespace)
  std::vector<relax::FusionPattern> patterns;
  const auto check = [](const relax::PatternCheckContext& context) {
    return !relax::HasLeakingIntermediateVariables(context);
  };
  for (const char* activation : {"", "relax.nn.relu", "relax.nn.gelu", "relax.nn.silu", "relax.tanh"}) {
    for (const bool transposed : {false, true}) {
      for (const bool bias : {true, false}) {
        const AnnotatedPattern base = MakeMatmulPattern(bias, activation, transposed);
        for (const char* op : {"relax.multiply", "relax.add", "relax.subtract"}) {
          patterns.push_back(
              MakeFusionPattern("bench.block", MakeResidualBlockPattern(base, op, "relax.nn.relu"), check));
        }
        patterns.push_back(MakeFusionPattern("bench.matmul", base, check));
      }
    }
  }
  return patterns;
}

int Main() {
  const auto pass = relax::FuseOpsByPattern(Patterns());
  std::printf("%zu patterns\n%10s %10s %12s %10s\n", Patterns().size(), "bindings", "ms", "us/binding", "functions");
  for (const int64_t bindings : {1000, 10000, 100000}) {
    const IRModule module = Network(bindings);
    const double begin = Now();
    const IRModule fused = pass(module);
    const double seconds = Now() - begin;
    std::printf("%10lld %10.1f %12.2f %10zu\n", static_cast<long long>(bindings), seconds * 1e3,
                seconds * 1e6 / static_cast<double>(bindings), fused->functions.size() - 1);
  }
  return 0;
}

}  // namespace
}  // namespace deuteron

int main() { return deuteron::Main(); }
