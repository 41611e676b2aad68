#include "deuteron/runtime/weights.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "deuteron/runtime/checksum.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/program_test_util.h"

namespace deuteron::runtime {
namespace {

constexpr DLDataType kFloats{kDLFloat, 32, 1};

TEST(TensorChecksum, IsThatOfAnyThreadsAndOfEveryByte) {
  for (const size_t bytes : {0, 1, 1000, 256 << 10, (256 << 10) + 1, 3'000'000}) {
    std::vector<char> data(bytes);
    for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 7 + i / 1000);
    const uint64_t sum = TensorChecksum(data.data(), bytes, 1);
    EXPECT_EQ(TensorChecksum(data.data(), bytes, 5), sum) << bytes;
    for (const size_t place : {size_t{0}, bytes / 2, bytes - 1}) {
      if (bytes == 0) break;
      data[place] ^= 1;
      EXPECT_NE(TensorChecksum(data.data(), bytes, 2), sum) << place << " of " << bytes;
      data[place] ^= 1;
    }
  }
}

int AddConstantKernel(const DeuteronContext*, void** data, const int64_t*) {
  const auto *x = static_cast<const float*>(data[0]), *w = static_cast<const float*>(data[1]);
  for (int i = 0; i < 2; ++i) static_cast<float*>(data[2])[i] = x[i] + w[i];
  return 0;
}

/// Functions "kernel" and "copy": x + the first constant; the second constant.
Program TwoFunctions() {
  Program program;
  program.strings = {"input 'x'", "2", "/add", "/copy"};
  TypeSpec pair{.kind = TypeSpec::kTensor, .dtype = kFloats, .has_dims = true, .ndim = 1};
  pair.dims = {{DimSpec::kCheck, 0, 1}};
  program.types = {pair};
  program.kernels = {{"add", 3, 0}};
  program.constants = {{kFloats, {2}, 0}, {kFloats, {2}, 64}};
  program.weights_bytes = 72;
  FunctionSpec function;
  function.input_names = {"x"};
  function.output_names = {"y"};
  function.input_types = {0};
  function.num_objects = 3;
  function.num_slots = 3;
  function.num_cells = 1;
  function.cell_constants = {{0, 2}};
  function.name = "kernel";
  function.constant_slots = {{1, 0}};
  function.code = {
      Word(Opcode::kMatch, 4),  0, 0, 0, 1, Word(Opcode::kLoad, 2),   0, 0, Word(Opcode::kAlloc, 4), 2, 1, 0, 1,
      Word(Opcode::kKernel, 4), 0, 0, 1, 2, Word(Opcode::kReturn, 1), 1};
  function.sources = {{13, 2}};
  program.functions.push_back(function);
  function.name = "copy";
  function.constant_slots = {};
  function.code = {Word(Opcode::kMatch, 4),  0, 0, 0, 1, Word(Opcode::kConst, 2), 1, 1, Word(Opcode::kCopy, 2), 2, 1,
                   Word(Opcode::kReturn, 1), 2};
  function.sources = {{5, 3}};
  program.functions.push_back(function);
  return program;
}

class WeightsTest : public testing::Test {
 protected:
  void SetUp() override {
    Executable::Parts parts;
    parts.program = TwoFunctions();
    parts.kernels = {AddConstantKernel};
    for (size_t i = 0; i < 2; ++i) {
      parts.weights.push_back(&constants_[i]);
      parts.program.constants[i].checksum = TensorChecksum(&constants_[i], sizeof(float[2]), 1);
    }
    parts.weights_from = "model.so";
    executable_ = std::make_shared<const Executable>(std::move(parts));
  }
  /// The first element of what a function gives; or its error.
  std::string Run(const char* function, Instance* instance) {
    const Tensor x = AllocTensor({2}, kFloats);
    std::fill_n(static_cast<float*>(x.data_ptr()), 2, 1.0F);
    try {
      return std::to_string(static_cast<int>(*static_cast<float*>(instance->Run(function, {x})[0].data_ptr())));
    } catch (const tvm::ffi::Error& error) {
      return std::string(error.kind()) + ": " + std::string(error.message());
    }
  }

  struct alignas(64) Pair {
    float elements[2];
  };
  std::array<Pair, 2> constants_ = {Pair{10, 20}, Pair{30, 40}};
  std::shared_ptr<const Executable> executable_;
};

TEST_F(WeightsTest, ADamagedOneIsAnErrorOfTheRunThatReadsIt) {
  Instance instance(executable_);
  constants_[0].elements[1] = 21;
  const std::string damaged =
      "ModelError: model.so is damaged: the checksum of constant 0 (float32 [2]), which '/add' reads, differs";
  EXPECT_EQ(Run("copy", &instance), "30");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Run("kernel", &instance), damaged);
  constants_[0].elements[1] = 20;
  EXPECT_EQ(Run("kernel", &instance), "11");
  EXPECT_THROW(
      {
        constants_[1].elements[0] = 31;
        SetUp();
        constants_[1].elements[0] = 30;
        executable_->weights().CheckAll(2);
      },
      tvm::ffi::Error);
  Instance other(executable_);
  EXPECT_EQ(Run("copy", &other),
            "ModelError: model.so is damaged: the checksum of constant 1 (float32 [2]), which '/copy' reads, differs");
  EXPECT_EQ(Run("kernel", &other), "11");
}

TEST_F(WeightsTest, EachIsComparedOnceByAllInstances) {
  Instance instance(executable_);
  EXPECT_EQ(Run("kernel", &instance), "11");
  constants_[0].elements[0] = 11;
  Instance other(executable_);
  EXPECT_EQ(Run("kernel", &other), "12");
}

}  // namespace
}  // namespace deuteron::runtime
