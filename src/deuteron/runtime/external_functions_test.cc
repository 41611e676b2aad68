#include "deuteron/runtime/external_functions.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "deuteron/runtime/checksum.h"
#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/program_test_util.h"

namespace deuteron::runtime {
namespace {

/// Functions of a plugin that does not exist, each with a constant of its own: that one has been compared with its
/// checksum tells that its function was to be made.
class Externals : public testing::Test {
 protected:
  void Call(const std::string& symbol, std::vector<uint32_t>* code) {
    code->insert(code->end(), {Word(Opcode::kCallPacked, 3), 0, static_cast<uint32_t>(program_.strings.size()), 0});
    program_.strings.push_back(symbol);
    for (const ExternalSpec& external : program_.externals) {
      if (external.symbol == symbol) return;
    }
    const auto index = static_cast<uint32_t>(program_.constants.size());
    program_.constants.push_back({DLDataType{kDLFloat, 32, 1}, {4}, 0, TensorChecksum(kData.data(), 16, 1)});
    program_.externals.push_back({symbol, "of_nobody", "", {"w"}, {index}});
  }
  /// The symbols of those that were to be made.
  std::vector<std::string> Tried(const Weights& weights) const {
    std::vector<std::string> tried;
    for (const ExternalSpec& external : program_.externals) {
      if (weights.Known(external.constants[0]) != nullptr) tried.push_back(external.symbol);
    }
    return tried;
  }
  Weights MakeWeights() const {
    return {program_, std::vector<const void*>(program_.constants.size(), kData.data()), "a file", {}};
  }

  static constexpr std::array<float, 4> kData = {1, 2, 3, 4};
  Program program_;
};

TEST_F(Externals, ThoseThatEachCallOfAFunctionCallsAreMadeTogether) {
  FunctionSpec& function = program_.functions.emplace_back();
  std::vector<uint32_t> then, otherwise;
  Call("first", &function.code);
  Call("then", &then);
  Call("else", &otherwise);
  then.insert(then.end(), {Word(Opcode::kJump, 1), static_cast<uint32_t>(otherwise.size())});
  function.code.insert(function.code.end(), {Word(Opcode::kIf, 2), 0, static_cast<uint32_t>(then.size())});
  function.code.insert(function.code.end(), then.begin(), then.end());
  function.code.insert(function.code.end(), otherwise.begin(), otherwise.end());
  Call("last", &function.code);
  Call("first", &function.code);
  function.code.insert(function.code.end(), {Word(Opcode::kReturn, 1), 0});
  std::vector<uint32_t>& code = program_.functions.emplace_back().code;
  Call("of another", &code);
  const Weights weights = MakeWeights();
  const ExternalFunctions externals(program_, weights);
  externals.MakeCalledBy(0, 1);
  EXPECT_EQ(Tried(weights), std::vector<std::string>());
  externals.MakeCalledBy(0, 2);
  EXPECT_EQ(Tried(weights), (std::vector<std::string>{"first", "last"}));
  // What failed says so when it is called.
  try {
    externals.Find("last", 2);
    ADD_FAILURE() << "no error";
  } catch (const tvm::ffi::Error& error) {
    EXPECT_NE(error.message().find("of_nobody"), std::string::npos) << error.message();
  }
}

TEST(PrepareEach, PreparesEachOnceWhateverTheSizes) {
  for (const int threads : {1, 2, 5}) {
    for (const std::vector<size_t>& sizes :
         {std::vector<size_t>{}, {7}, {1, 1, 1, 1, 1, 1, 1}, {1, 50, 2, 1, 40, 3}, {0, 0}}) {
      std::vector<std::atomic<int>> count(sizes.size());
      PrepareEach(sizes, threads, [&](size_t i) { ++count[i]; });
      for (const auto& times : count) EXPECT_EQ(times.load(), 1);
    }
  }
}

TEST(PrepareEach, ThrowsWhatOneThrows) {
  for (const size_t failing : {0, 1, 5}) {
    const std::vector<size_t> sizes = {100, 1, 1, 1, 1, 1};
    EXPECT_THROW(PrepareEach(sizes, 2,
                             [&](size_t i) {
                               if (i == failing) throw std::runtime_error("no");
                             }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace deuteron::runtime
