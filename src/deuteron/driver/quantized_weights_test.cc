/// \file
/// Products with weights of few bits are held as they are, and compute what the operators do.
#include <random>

#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/target/target.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

struct Case {
  const char* name;
  /// Of the weight: its dtype, its shape, and lines that make `v`, (k, n), of it, of scales `s` and zero points `z`.
  const char* dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> scales;
  std::vector<const char*> lines;
  const char* zeros = nullptr;
  /// Of x, without k.
  const char* rows = "3";
  const char* data = "float32";
  /// Bytes of an element of the weight and what belongs to it; 0: folded.
  double bytes = 1;
  /// Elements of a row that are quantised to bytes together; 0: none are.
  int64_t block = 0;
};

constexpr const char* kWide = "w = R.astype(q, \"float32\")";

std::vector<Case> Cases() {
  const std::vector<const char*> by_blocks = {kWide, "r = R.repeat(s, repeats=32, axis=0)", "v = R.multiply(w, r)"};
  const std::vector<const char*> transposed = {kWide, "r = R.repeat(s, repeats=32, axis=1)", "t = R.multiply(w, r)",
                                               "v = R.permute_dims(t)"};
  const std::vector<const char*> in_part = {kWide, "r = R.repeat(s, repeats=32, axis=1)",
                                            "p = R.strided_slice(r, axes=[1], begin=[0], end=[170])",
                                            "t = R.multiply(w, p)", "v = R.permute_dims(t)"};
  const std::vector<const char*> with_zeros = {kWide, "y = R.astype(R.repeat(z, repeats=32, axis=0), \"float32\")",
                                               "c = R.subtract(w, y)", "r = R.repeat(s, repeats=32, axis=0)",
                                               "v = R.multiply(c, r)"};
  const char* scalar = "v = R.dequantize(q, R.const(0.03, \"float32\"), R.const(3, \"int8\"), axis=0)";
  const char* by_column = "v = R.dequantize(q, s, R.const(0, \"int8\"), axis=1)";
  const char* by_column_with_zeros = "v = R.dequantize(q, s, z, axis=1)";
  const char* by_row = "v = R.dequantize(q, s, R.const(0, \"int8\"), axis=0)";
  return {
      {"scalar", "int8", {160, 128}, {}, {scalar}},
      {"columns", "int8", {131, 200}, {200}, {by_column}, nullptr, "1"},
      {"columns_with_zeros", "uint8", {128, 150}, {150}, {by_column_with_zeros}, "uint8", "13", "float32", 1.4},
      {"columns_of_4_bits", "int4", {171, 128}, {128}, {by_column}, nullptr, "2", "float32", 0.55},
      {"blocks", "int8", {160, 128}, {5, 128}, by_blocks, nullptr, "1", "float32", 1.2},
      {"blocks_of_4_bits", "int4", {160, 128}, {5, 128}, by_blocks, nullptr, "40", "float32", 0.7},
      {"blocks_of_4_bits_without_sign", "uint4", {128, 333}, {4, 333}, by_blocks, nullptr, "1", "float32", 0.8},
      {"blocks_with_zeros", "uint8", {160, 128}, {5, 128}, with_zeros, "uint8", "2, 5", "float32", 1.2},
      {"blocks_with_zeros_of_4_bits", "uint4", {160, 128}, {5, 128}, with_zeros, "uint8", "70", "float32", 0.7},
      {"blocks_with_zeros_of_4_bits_with_sign", "int4", {160, 128}, {5, 128}, with_zeros, "int4", "3", "float32", 0.8},
      {"blocks_with_fractions", "uint8", {160, 128}, {5, 128}, with_zeros, "float32", "1", "float32", 1.3},
      {"transposed", "int4", {128, 160}, {128, 5}, transposed, nullptr, "1", "float32", 0.7},
      {"float16", "int8", {160, 128}, {128}, {by_column, "u = R.astype(v, \"float16\")"}, nullptr, "4", "float16"},
      {"rows_of_the_run", "int4", {160, 128}, {5, 128}, by_blocks, nullptr, "\"n\"", "float32", 0.7},
      {"bytes", "int8", {160, 128}, {5, 128}, by_blocks, nullptr, "1", "float32", 1.2, 32},
      {"bytes_of_4_bits", "uint4", {160, 128}, {5, 128}, with_zeros, "uint8", "19", "float32", 0.9, 32},
      {"bytes_of_4_bits_with_sign", "int4", {160, 200}, {5, 200}, by_blocks, nullptr, "2, 3", "float32", 0.7, 32},
      {"bytes_without_sign", "uint8", {160, 131}, {5, 131}, with_zeros, "uint8", "\"n\"", "float32", 1.5, 32},
      {"bytes_with_fractions", "uint4", {160, 128}, {5, 128}, with_zeros, "float32", "3", "float32", 0.9, 32},
      {"bytes_of_a_part", "int4", {128, 170}, {128, 6}, in_part, nullptr, "\"n\"", "float32", 0.8, 32},
      {"bytes_of_one_block", "int4", {128, 136}, {136}, {by_column}, nullptr, "5", "float32", 0.9, 128},
      {"bytes_of_other_blocks", "int4", {160, 128}, {5, 128}, by_blocks, nullptr, "3", "float32", 0.7, 16},
      {"a_scale_a_row", "int8", {160, 128}, {160}, {by_row}, nullptr, "3", "float32", 0},
      {"small", "int8", {64, 64}, {64}, {by_column}, nullptr, "3", "float32", 0},
  };
}

Tensor RandomNumbers(const std::vector<int64_t>& shape, const std::string& dtype) {
  const DataType type{std::string_view(dtype)};
  Tensor tensor = runtime::AllocTensor(shape, type);
  std::mt19937 random(7);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    char* const element = static_cast<char*>(tensor.data_ptr()) + i * ElementBytes(type);
    if (type.is_float()) {
      StoreFloat(element, type, std::uniform_real_distribution<>(0.01, 0.05)(random));
    } else {
      StoreInteger(element, type, static_cast<int64_t>(random() >> 8));
    }
  }
  return tensor;
}

IRModule ModuleOf(const Case& test) {
  const auto text = [](const std::vector<int64_t>& shape) {
    std::string dims;
    for (const int64_t dim : shape) dims += std::to_string(dim) + ", ";
    return dims;
  };
  std::map<std::string, Tensor> weights = {{"q", RandomNumbers(test.shape, test.dtype)}};
  const bool is_transposed = std::string(test.lines.back()).find("permute_dims") != std::string::npos;
  const std::string depth = std::to_string(test.shape[is_transposed ? 1 : 0]);
  std::string params =
      "x: " + Typed(std::string(test.rows) + ", " + depth, test.data) + ", q: " + Typed(text(test.shape), test.dtype);
  if (!test.scales.empty()) {
    weights.emplace("s", RandomNumbers(test.scales, "float32"));
    params += ", s: " + Typed(text(test.scales), "float32");
  }
  if (test.zeros != nullptr) {
    weights.emplace("z", RandomNumbers(test.scales, test.zeros));
    params += ", z: " + Typed(text(test.scales), test.zeros);
  }
  std::vector<std::string> lines(test.lines.begin(), test.lines.end());
  const bool is_narrow = std::string(test.data) == "float16";
  if (test.block != 0) lines.push_back("a = R.fake_quantize(x, block=" + std::to_string(test.block) + ")");
  lines.emplace_back(std::string("m = R.matmul(") + (test.block != 0 ? "a" : "x") + ", " + (is_narrow ? "u" : "v") +
                     ")");
  lines.emplace_back("gv = R.nn.relu(m)");
  return relax::BindParams("main", weights)(MakeModule(params, lines));
}

class QuantizedWeights : public testing::TestWithParam<Case> {};

TEST_P(QuantizedWeights, AreHeldAsTheyAre) {
  const Case& test = GetParam();
  const Executable executable = Compile(ModuleOf(test), {.threads = 1, .backend = "none"});
  const auto elements = static_cast<double>(test.shape[0] * test.shape[1]);
  // Columns are padded to whole blocks.
  const double columns = static_cast<double>(test.shape[1] + 63) / static_cast<double>(test.shape[1]);
  const auto bytes = static_cast<double>(executable.runtime()->weights_bytes());
  if (test.bytes == 0) {
    EXPECT_GE(bytes, 2 * elements);
  } else {
    EXPECT_LE(bytes, test.bytes * elements * columns);
  }
}

TEST_P(QuantizedWeights, ComputeWhatTheOperatorsDo) {
  const IRModule module = ModuleOf(GetParam());
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "llvm -mcpu=x86-64-v3 -mattr=+avxvnni",
                             "llvm -mcpu=x86-64-v4 -mattr=+avx512vnni"}) {
    if (!Target::Parse(target).WhyNotHere().empty()) continue;
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(std::string(target) + " threads " + std::to_string(threads));
      const Executable executable = Compile(module, {.target = target, .threads = threads, .backend = "none"});
      const double tolerance = std::string(GetParam().data) == "float16" ? 2e-3 : 1e-5;
      ExpectSameAsInterpreter(module, executable, {1, 17}, tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, QuantizedWeights, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace deuteron
