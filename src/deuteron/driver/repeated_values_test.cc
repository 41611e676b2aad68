/// \file
/// Values that several operators of one kernel use: each is computed once an element, whatever way leads from it to the
/// result. Were it computed for each use, n links of a chain that uses its value twice would make 2^n of them.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/tir/functor.h"

namespace deuteron {
namespace {

/// A function of x that makes its result by `steps` lines, each of which may use {v}, the value before, and {i}.
struct Chain {
  const char* name;
  /// Before and after the links.
  const char* head;
  const char* link;
  const char* tail;
  /// Calls of elementary functions (erf, exp, tanh, …) that a link may leave.
  int calls_per_link;
};

std::string Replace(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string TextOf(const Chain& chain, int links) {
  std::string text =
      "@I.ir_module\nclass Module:\n    @R.function\n"
      "    def main(x: R.Tensor((6, 40), \"float32\"), w: R.Tensor((40, 40), \"float32\")):\n"
      "        with R.dataflow():\n            v0 = R.tanh(x)\n";
  std::string value = "v0";
  int next = 1;
  const auto add = [&](const std::string& line) {
    const std::string name = "v" + std::to_string(next++);
    text += "            " + name + " = " + Replace(line, "{v}", value) + "\n";
    value = name;
  };
  if (*chain.head) add(chain.head);
  for (int i = 0; i < links; ++i) {
    // Several lines of a link see the value that the link begins with.
    const std::string before = value;
    std::string rest = chain.link;
    for (size_t end = rest.find(';'); end != std::string::npos; end = rest.find(';')) {
      add(Replace(rest.substr(0, end), "{u}", before));
      rest = rest.substr(end + 1);
    }
    add(Replace(rest, "{u}", before));
  }
  if (*chain.tail) add(chain.tail);
  return text + "            R.output(" + value + ")\n        return " + value + "\n";
}

int64_t CountElementaryCalls(const IRModule& module) {
  int64_t count = 0;
  for (const auto& [var, func] : module->functions) {
    const auto kernel = As<tir::PrimFunc>(func);
    if (!kernel.defined()) continue;
    tir::PostOrderVisit(kernel->body, [&](const ObjectRef& node) {
      const auto* call = node.as<tir::CallNode>();
      if (call == nullptr) return;
      for (const char* name : {"tir.erf", "tir.exp", "tir.tanh", "tir.sigmoid", "tir.sin"}) {
        count += call->op.same_as(Op::Get(name));
      }
    });
  }
  return count;
}

class RepeatedValues : public testing::TestWithParam<Chain> {};

TEST_P(RepeatedValues, AreComputedOnce) {
  const Chain& chain = GetParam();
  constexpr int kLinks = 24;
  IRModule module = script::ParseModule(TextOf(chain, kLinks));
  for (const transform::Pass& pass : ParsePasses("LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleForCPU")) {
    module = pass(std::move(module));
  }
  EXPECT_LE(CountElementaryCalls(module), (kLinks + 1) * chain.calls_per_link + 2);
}

TEST_P(RepeatedValues, AreRight) {
  const IRModule module = script::ParseModule(TextOf(GetParam(), 7));
  const Arguments arguments = RandomArguments(module, 5, 4);
  std::vector<Tensor> inputs;
  for (const Any& argument : arguments) inputs.push_back(argument.cast<Tensor>());
  CompileOptions options;
  options.backend = "none";
  EXPECT_EQ(CompareResults(Interpret(module, arguments), Compile(module, options).Run(inputs), 1e-5).problem, "");
}

INSTANTIATE_TEST_SUITE_P(
    Chains, RepeatedValues,
    testing::Values(Chain{"gelu", "", "R.nn.gelu({v})", "", 1}, Chain{"silu", "", "R.nn.silu({v})", "", 1},
                    Chain{"residual", "", "R.tanh({v});R.add({u}, {v})", "", 1},
                    Chain{"diamond", "", "R.sin({v});R.tanh({u});R.multiply({v}, {u})", "", 2},
                    // Each link reads the value at two places: what makes it is a stage of its own in time.
                    Chain{"reversed", "", "R.flip({v}, axis=1);R.add({v}, {u})", "", 8},
                    Chain{"product", "R.matmul({v}, w)", "R.nn.gelu({v})", "", 1},
                    Chain{"before_a_sum", "", "R.nn.gelu({v})", "R.sum({v}, axis=[1], keepdims=True)", 1},
                    Chain{"before_softmax", "", "R.nn.gelu({v})", "R.nn.softmax({v}, axis=-1)", 2},
                    Chain{"after_softmax", "R.nn.softmax({v}, axis=-1)", "R.nn.gelu({v})", "", 2},
                    Chain{"joined", "", "R.nn.gelu({v})", "R.concat(({v}, {v}), axis=1)", 2}),
    [](const testing::TestParamInfo<Chain>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace deuteron
