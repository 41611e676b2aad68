/// \file
/// Every operator of the table compiles and computes what the interpreter does, or is refused in words that help.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"

namespace deuteron {
namespace {

IRModule Parse(const std::string& params, const std::string& body) {
  return script::ParseModule("@I.ir_module\nclass Module:\n    @R.function(pure=False)\n    def main(" + params +
                             "):\n" + body);
}

struct Row {
  std::string call;
  std::string params;
  IRModule module() const { return Parse(params, "        y = " + call + "\n        return y\n"); }
};

std::vector<Row> Rows() {
  std::ifstream file(DEUTERON_SOURCE_DIR "/src/deuteron/driver/testdata/every_operator.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    const size_t bar = line.rfind(" | ");
    if (line.empty() || line[0] == '#') continue;
    rows.push_back({line.substr(0, bar), line.substr(bar + 3)});
  }
  return rows;
}

std::set<std::string> OperatorsOf(const IRModule& module) {
  std::set<std::string> names;
  relax::PostOrderVisit(module.Lookup("main"), [&](const relax::Expr& expr) {
    const auto* call = expr.as<relax::CallNode>();
    const auto* op = call == nullptr ? nullptr : call->op.as<OpNode>();
    if (op != nullptr) names.insert(std::string(op->name).substr(std::string_view("relax.").size()));
  });
  return names;
}

/// Where most operators are defined: floats are positive, integers 0 or 1, so that they index.
Arguments ArgumentsOf(const IRModule& module) {
  Arguments arguments = RandomArguments(module, 5, 3);
  for (const Any& argument : arguments) {
    const auto tensor = argument.cast<Tensor>();
    const int64_t count = tensor.numel();
    if (tensor.dtype().code == kDLFloat && tensor.dtype().bits == 32) {
      auto* data = static_cast<float*>(tensor.data_ptr());
      for (int64_t i = 0; i < count; ++i) data[i] = std::abs(data[i]);
    } else if (tensor.dtype().code == kDLInt && tensor.dtype().bits == 64) {
      auto* data = static_cast<int64_t*>(tensor.data_ptr());
      for (int64_t i = 0; i < count; ++i) data[i] %= 2;
    } else if (tensor.dtype().code == kDLInt && tensor.dtype().bits == 32) {
      auto* data = static_cast<int32_t*>(tensor.data_ptr());
      for (int64_t i = 0; i < count; ++i) data[i] %= 2;
    }
  }
  return arguments;
}

CompileOptions Plain() { return {.threads = 1, .backend = "none"}; }

/// Calls of what is no tensor operator: tested where they are translated (codegen/vm/compile_test.cc) or made (text
/// tests of CallTIRRewrite, LowerAllocTensor, StaticPlanBlockMemory, KillAfterLastUse).
const std::set<std::string> kTranslatedElsewhere = {"call_tir",
                                                    "call_tir_inplace",
                                                    "call_dps_packed",
                                                    "call_pure_packed",
                                                    "call_inplace_packed",
                                                    "builtin.alloc_tensor",
                                                    "memory.alloc_storage",
                                                    "memory.alloc_tensor",
                                                    "memory.kill_storage",
                                                    "memory.kill_tensor",
                                                    "vm.alloc_storage",
                                                    "vm.alloc_tensor",
                                                    "vm.kill_object"};

/// What cannot be compiled: a function that holds it, and words of the error.
struct Refusal {
  const char* params;
  const char* body;
  std::vector<const char*> words;
};
const std::map<std::string, Refusal>& Refused() {
  static const auto* table = new std::map<std::string, Refusal>{
      {"call_builtin_with_ctx",
       {"x: R.Tensor((2,), \"float32\")",
        "        y = R.call_builtin_with_ctx(\"vm.builtin.copy\", (x,), ty_args=(R.Tensor((2,), \"float32\"),))\n"
        "        return y\n",
        {"call_builtin_with_ctx", "binding \"y\"", "function main", "R.call_packed"}}},
      {"vm.call_tir_dyn",
       {"x: R.Tensor((2,), \"float32\")",
        "        _ = R.vm.call_tir_dyn(R.str(\"f\"), (x,))\n        return x\n",
        {"vm.call_tir_dyn", "before VM lowering"}}},
  };
  return *table;
}

TEST(EveryOperator, IsCompiledAndRun) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.call);
    try {
      const IRModule module = row.module();
      const Arguments arguments = ArgumentsOf(module);
      // No slice steps by 0.
      if (row.call.starts_with("R.dynamic_strided_slice")) {
        const auto steps = arguments.back().cast<Tensor>();
        std::fill_n(static_cast<int64_t*>(steps.data_ptr()), steps.numel(), 1);
      }
      std::vector<Tensor> inputs;
      for (const Any& argument : arguments) inputs.push_back(argument.cast<Tensor>());
      const auto expected = Interpret(module, arguments);
      const auto actual = Compile(module, Plain()).Run(inputs);
      // A scalar is no tensor for the interpreter.
      if (expected.empty()) continue;
      EXPECT_EQ(CompareResults(expected, actual, 1e-4).problem, "");
    } catch (const tvm::ffi::Error& error) {
      ADD_FAILURE() << error.kind() << ": " << error.message();
    }
  }
}

TEST(EveryOperator, IsInTheList) {
  std::set<std::string> covered = kTranslatedElsewhere;
  for (const Row& row : Rows()) covered.merge(OperatorsOf(row.module()));
  for (const auto& [name, refusal] : Refused()) covered.insert(name);
  // Tested below, and in function_values_test.cc.
  covered.insert({"print", "assert_op", "make_closure", "invoke_closure", "invoke_pure_closure", "loop"});
  std::string missing;
  for (const relax::OpInfo& op : relax::AllOps()) {
    if (!covered.count(op.name)) missing += std::string(" ") + op.name;
  }
  EXPECT_EQ(missing, "") << "give it a line in testdata/every_operator.txt, or say why it is refused";
}

TEST(EveryOperator, OrIsRefusedInWordsThatHelp) {
  for (const auto& [name, refusal] : Refused()) {
    SCOPED_TRACE(name);
    try {
      Compile(Parse(refusal.params, refusal.body), Plain());
      ADD_FAILURE() << "it is compiled";
    } catch (const tvm::ffi::Error& error) {
      EXPECT_EQ(error.kind(), "UnsupportedError") << error.message();
      for (const char* word : refusal.words)
        EXPECT_NE(error.message().find(word), std::string::npos) << error.message();
    }
  }
}

TEST(EveryOperator, MessagesAreWrittenAtRunTime) {
  const IRModule module = Parse("x: R.Tensor((2, 2), \"float32\"), good: R.Tensor((), \"bool\")",
                                "        y = R.add(x, R.const(1.0, \"float32\"))\n"
                                "        _ = R.print(y, format=\"y is {} of {{2}}\")\n"
                                "        _1 = R.assert_op(good, y, format=\"wrong: {}\")\n"
                                "        return y\n");
  const Executable compiled = Compile(module, Plain());
  const Tensor x = runtime::AllocTensor({2, 2}, DataType::Float(32));
  for (int i = 0; i < 4; ++i) static_cast<float*>(x.data_ptr())[i] = static_cast<float>(i) / 2;
  const Tensor good = runtime::AllocTensor({}, DataType::Bool());
  const std::string text = "[[1, 1.5], [2, 2.5]]";
  for (const bool truth : {true, false}) {
    *static_cast<bool*>(good.data_ptr()) = truth;
    for (const bool interprets : {false, true}) {
      testing::internal::CaptureStderr();
      std::string error;
      try {
        interprets ? Interpret(module, {x, good}) : compiled.Run(std::vector<Tensor>{x, good});
      } catch (const tvm::ffi::Error& thrown) {
        error = thrown.message();
      }
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "y is " + text + " of {2}\n");
      EXPECT_EQ(error.substr(0, error.find('\n')), truth ? "" : "assertion failed: wrong: " + text);
    }
  }
}

TEST(EveryOperator, AViewThatDoesNotFitIsAnError) {
  const IRModule module = Parse("x: R.Tensor((\"n\",), \"float32\")",
                                "        y = R.memory.view(x, R.shape([4]), R.dtype(\"float32\"), R.prim_value(8))\n"
                                "        return y\n");
  const Executable compiled = Compile(module, Plain());
  const auto run = [&](int64_t n) {
    return compiled.Run(std::vector<Tensor>{runtime::AllocTensor({n}, DataType::Float(32))});
  };
  EXPECT_EQ(run(6).at(0).size(0), 4);
  EXPECT_THROW(run(5), tvm::ffi::Error);
}

TEST(EveryOperator, AViewOfAllBytesIsTheTensor) {
  // Also where it is a result itself, and the tensor another.
  const IRModule module = Parse("x: R.Tensor((\"n\", 8), \"uint8\")",
                                "        a = R.add(x, R.const(1, \"uint8\"))\n"
                                "        v = R.memory.view(a, R.shape([n, 2]), R.dtype(\"int32\"), R.tuple())\n"
                                "        b = R.multiply(v, R.const(3, \"int32\"))\n"
                                "        return (v, b, a)\n");
  const Executable compiled = Compile(module, Plain());
  Tensor x = runtime::AllocTensor({5, 8}, DataType::UInt(8));
  for (int i = 0; i < 40; ++i) static_cast<uint8_t*>(x.data_ptr())[i] = static_cast<uint8_t>(6 * i);
  const std::vector<Tensor> got = compiled.Run(std::vector<Tensor>{x}), wanted = Interpret(module, {x});
  ASSERT_EQ(got.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(got[i].numel(), wanted[i].numel());
    EXPECT_EQ(0, std::memcmp(got[i].data_ptr(), wanted[i].data_ptr(), 40));
  }
}

}  // namespace
}  // namespace deuteron
