/// \file
/// For tests: runs a PrimFunc compiled and interpreted on the same random inputs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/ir/scalar_format.h"
#include "deuteron/support/element.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/transform/kernel_numbers.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::codegen {

constexpr DataType kFloat = DataType::Float(32);

/// A context that runs pieces in order, of the least length allowed, and counts what is not given back.
class TestContext {
 public:
  TestContext() {
    context_.parallel_for = [](const DeuteronContext*, int64_t extent, int64_t grain,
                               int (*body)(void*, int64_t, int64_t), void* closure) {
      for (int64_t begin = 0; begin < extent; begin += grain) {
        if (int code = body(closure, begin, std::min(extent, begin + grain))) return code;
      }
      return 0;
    };
    context_.set_error = [](const DeuteronContext* context, const char* message) {
      static_cast<TestContext*>(context->runtime)->error = message;
    };
    context_.allocate = [](const DeuteronContext* context, int64_t bytes) {
      ++static_cast<TestContext*>(context->runtime)->live;
      return std::aligned_alloc(64, static_cast<size_t>((std::max<int64_t>(bytes, 1) + 63) / 64 * 64));
    };
    context_.release = [](const DeuteronContext* context, void* memory) {
      --static_cast<TestContext*>(context->runtime)->live;
      std::free(memory);
    };
    context_.stream = nullptr;
    context_.runtime = this;
  }
  const DeuteronContext* get() const { return &context_; }
  std::string error;
  int live = 0;

 private:
  DeuteronContext context_;
};

inline void FillRandom(const Tensor& tensor, std::mt19937* random) {
  const int64_t count = tensor.numel();
  const DataType type(tensor.dtype());
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < count; ++i) {
    void* element = static_cast<char*>(tensor.data_ptr()) + i * type.bytes();
    if (type.is_bool()) {
      StoreInteger(element, type, (*random)() & 1);
    } else if (type.is_float()) {
      StoreFloat(element, type, RoundToFormat(type, normal(*random)));
    } else {
      StoreInteger(element, type, static_cast<int64_t>((*random)() % 201) - (type.is_int() ? 100 : 0));
    }
  }
}

inline double ElementOf(const Tensor& tensor, int64_t i) {
  const DataType type(tensor.dtype());
  const void* element = static_cast<const char*>(tensor.data_ptr()) + i * type.bytes();
  if (type.is_float()) return LoadFloat(element, type);
  const int64_t value = LoadInteger(element, type);
  return type.is_uint() ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

inline size_t BytesOf(const Tensor& tensor) {
  return static_cast<size_t>(tensor.numel() * DataType(tensor.dtype()).bytes());
}

inline Tensor CopyTensor(const Tensor& tensor) {
  std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  Tensor copy = EmptyHostTensor(shape, tensor.dtype());
  std::memcpy(copy.data_ptr(), tensor.data_ptr(), BytesOf(tensor));
  return copy;
}

/// Equal within `tolerance` relative to the greatest magnitude of `expected`; NaN and infinities in place.
inline void ExpectClose(const Tensor& got, const Tensor& expected, double tolerance, const std::string& what) {
  double scale = 1e-30;
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const double value = std::abs(ElementOf(expected, i));
    if (std::isfinite(value)) scale = std::max(scale, value);
  }
  int wrong = 0;
  for (int64_t i = 0; i < expected.numel() && wrong < 5; ++i) {
    const double a = ElementOf(got, i);
    const double b = ElementOf(expected, i);
    const bool same = std::isnan(b) ? std::isnan(a) : std::isinf(b) ? a == b : std::abs(a - b) <= tolerance * scale;
    if (!same) {
      ++wrong;
      ADD_FAILURE() << what << ": element " << i << " is " << a << ", expected " << b;
    }
  }
}

/// Shapes of the parameters of a function once its symbolic dimensions have values.
inline std::vector<Tensor> RandomArguments(const tir::PrimFunc& func, const ExprVarMap& dims, std::mt19937* random) {
  std::vector<Tensor> tensors;
  for (const tir::Buffer& buffer : tir::ParamBuffers(func)) {
    std::vector<int64_t> shape;
    for (const PrimExpr& extent : buffer->shape) {
      shape.push_back(AsConstInt(Substitute(extent, dims)).value());
    }
    tensors.push_back(EmptyHostTensor(shape, buffer->dtype));
    FillRandom(tensors.back(), random);
  }
  return tensors;
}

/// out[i] = make(in0[i], in1[i], …) for i in a vectorised loop.
inline tir::PrimFunc Pointwise(const std::vector<DataType>& inputs, int64_t count,
                               const std::function<PrimExpr(const std::vector<PrimExpr>&)>& make) {
  std::vector<PrimExpr> loads;
  Array<tir::Buffer> buffers;
  const tir::Var i("i");
  for (size_t k = 0; k < inputs.size(); ++k) {
    buffers.push_back(tir::Buffer("in" + std::to_string(k), inputs[k], {I64(count)}));
    loads.push_back(tir::BufferLoad(buffers.back(), {i}));
  }
  const PrimExpr value = make(loads);
  buffers.push_back(tir::Buffer("out", value.dtype(), {I64(count)}));
  const tir::Stmt body =
      tir::For(i, I64(0), I64(count), tir::ForKind::kVectorized, tir::BufferStore(buffers.back(), value, {i}));
  return tir::PrimFunc::FromBuffers(buffers, {}, body, DictAttrs(Map<String, Any>{{"tirx.noalias", true}}));
}

inline int64_t CountOf(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// A module of `func`, lowered, as "kernel".
inline IRModule Lowered(const tir::PrimFunc& func, const Target& target) {
  IRModule module = IRModule::Empty();
  module.AddUnique("kernel", tir::LowerPrimFunc(func, target));
  return module;
}

/// A lowered kernel that shares the code of `kernel`, all of whose numbers are parameters then. It is not to be run.
inline tir::PrimFunc OfSameKind(const tir::PrimFunc& kernel) {
  std::vector<tir::KernelNumber> numbers = tir::TakeNumbers(kernel).numbers;
  for (tir::KernelNumber& number : numbers) number.bits ^= 3;
  return tir::WithNumbers(kernel, numbers);
}

/// Random arguments of a function, and what the interpreter makes of them.
struct Interpreted {
  std::vector<Tensor> given, expected;
  /// The scalar parameters, and as kernels take them, with symbolic dimensions.
  std::vector<int64_t> parameters, scalars;
};
/// `dims` are the values of symbolic dimensions and scalar parameters.
inline Interpreted Interpret(const tir::PrimFunc& func, const ExprVarMap& dims = {}) {
  std::mt19937 random(7);
  Interpreted result{.given = RandomArguments(func, dims, &random)};
  for (const Tensor& tensor : result.given) result.expected.push_back(CopyTensor(tensor));
  const auto value = [&](const tir::Var& var) { return AsConstInt(dims.at(var)).value(); };
  for (const tir::Var& param : func->params) {
    if (!func->buffer_map.count(param)) result.parameters.push_back(value(param));
  }
  for (const tir::Var& var : tir::KernelScalars(func)) result.scalars.push_back(value(var));
  interpreter::RunPrimFunc(func, result.expected, result.parameters);
  return result;
}

/// `func` lowered and compiled as it is by default, and with accesses checked as a kernel that is too seldom called to
/// be optimised; every fourth function also as one that is called some times, every second one by code that it shares.
/// That of the last call is kept: functions of open sizes are checked at several.
inline const std::vector<std::pair<std::string, CompiledKernels>>& CompiledWays(const tir::PrimFunc& func,
                                                                                const Target& target) {
  struct Last {
    tir::PrimFunc func;
    Target target;
    std::vector<std::pair<std::string, CompiledKernels>> ways;
  };
  static auto* last = new Last();
  if (last->func.same_as(func) && last->target == target) return last->ways;
  *last = {func, target, {}};
  const IRModule module = Lowered(func, target);
  const auto add = [&](const char* way, const CodegenOptions& options) {
    last->ways.emplace_back(way, CompileInMemory(module, target, options));
  };
  add("", {.verify = true});
  add(", not optimised, with accesses checked",
      {.verify = true, .check_bounds = true, .expected_calls = {{"kernel", 0}}});
  static int functions = 0;
  if (++functions % 4 == 0) add(", in the quick way", {.verify = true, .expected_calls = {{"kernel", 1e12}}});
  if (functions % 2 == 0 && tir::KernelScalars(func).empty()) {
    IRModule alike = Lowered(func, target);
    alike.AddUnique("other", OfSameKind(Downcast<tir::PrimFunc>(alike.Lookup("kernel"))));
    last->ways.emplace_back(
        ", by shared code",
        CompileInMemory(alike, target, {.verify = true, .expected_calls = {{"kernel", 0}, {"other", 0}}}));
  }
  return last->ways;
}

/// Runs what `func` is compiled to, and compares every parameter with what the reference gave.
inline void CheckAgainst(const tir::PrimFunc& func, const Interpreted& reference, double tolerance = 0,
                         const Target& target = Target::Host()) {
  std::vector<Tensor> got;
  std::vector<void*> data;
  for (const Tensor& tensor : reference.given) {
    got.push_back(CopyTensor(tensor));
    data.push_back(got.back().data_ptr());
  }
  for (const auto& [way, kernels] : CompiledWays(func, target)) {
    for (size_t i = 0; i < got.size(); ++i) {
      std::memcpy(data[i], reference.given[i].data_ptr(), BytesOf(reference.given[i]));
    }
    TestContext context;
    const int code = kernels.Lookup("kernel")(context.get(), data.data(), reference.scalars.data());
    EXPECT_EQ(code, 0) << context.error;
    EXPECT_EQ(context.live, 0) << "scratch memory was not released";
    for (size_t i = 0; i < got.size(); ++i) {
      ExpectClose(got[i], reference.expected[i], tolerance, "parameter " + std::to_string(i) + way);
    }
  }
}
inline void CheckAgainst(const tir::PrimFunc& func, const tir::PrimFunc& reference, double tolerance = 0,
                         const ExprVarMap& dims = {}, const Target& target = Target::Host()) {
  CheckAgainst(func, Interpret(reference, dims), tolerance, target);
}
inline void Check(const tir::PrimFunc& func, double tolerance = 0, const ExprVarMap& dims = {},
                  const Target& target = Target::Host()) {
  CheckAgainst(func, func, tolerance, dims, target);
}

/// x w, w in panels (panel, depth, columns of it).
inline te::Tensor ProductOfPanels(const te::Tensor& x, const te::Tensor& w, const char* name) {
  const tir::IterVar k = te::ReduceAxis(x.shape()[1], "k");
  const PrimExpr length = w.shape()[2];
  return te::Compute(
      {x.shape()[0], I64(*AsConstInt(w.shape()[0]) * *AsConstInt(length))},
      [&](const Array<tir::Var>& i) {
        return te::Sum(x({i[0], k->var}) * w({FloorDiv(i[1], length), k->var, FloorMod(i[1], length)}), {k});
      },
      name);
}

/// The code of one kernel for this machine, which `kernels` owns.
inline DeuteronKernel Compile(CompiledKernels* kernels, const tir::PrimFunc& func) {
  const IRModule module = Lowered(func, Target::Host());
  *kernels = CompileInMemory(module, Target::Host(), {.verify = true});
  return kernels->Lookup("kernel");
}

/// The assembly of one kernel.
inline std::string Assembly(const tir::PrimFunc& func, const std::string& target_text) {
  const Target target = Target::Parse(target_text);
  return EmitAssembly(Lowered(func, target), target, {.verify = true});
}

/// Of assembly, what is between two labels, with the most occurrences of `part`.
inline std::string LargestBlock(const std::string& code, const std::string& part) {
  std::istringstream lines(code);
  std::string block, largest;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(':')) block.clear();
    block += line + "\n";
    if (CountOf(block, part) > CountOf(largest, part)) largest = block;
  }
  return largest;
}

/// Instructions of vectors (of "ymm" or "zmm") that load from the stack or store to it.
inline int64_t VectorsOnStack(const std::string& block, const std::string& registers) {
  std::istringstream lines(block);
  int64_t count = 0;
  for (std::string line; std::getline(lines, line);)
    count += CountOf(line, registers) > 0 && CountOf(line, "(%rsp)") > 0;
  return count;
}

}  // namespace deuteron::codegen
