/// \file
/// Whether two modules compute the same: inputs, both ways to run a module at any stage, comparison. What `verify` and
/// `bisect` are made of.
#pragma once

#include <string>
#include <vector>

#include "deuteron/driver/compile.h"

namespace deuteron {

/// Arguments of "main": tensors, shapes, arrays for tuples.
using Arguments = std::vector<Any>;

/// Random arguments for the parameters of "main". Symbolic dimensions are what the module demands
/// (demanded_extents.h), else `symbolic_extent`. An UnsupportedError for parameters without a known shape.
Arguments RandomArguments(const IRModule& module, uint64_t seed, int64_t symbolic_extent);

/// The tensors of a value, tuples flattened.
std::vector<Tensor> FlattenValue(const Any& value);

/// Results of "main" by the interpreter.
std::vector<Tensor> Interpret(const IRModule& module, const Arguments& arguments);

/// Results of "main" as compiled code, from any stage: what is missing of the lowering is done in the plainest way,
/// nothing is fused, scheduled or planned that is not so already. `after_lowering` sees the lowered kernels; may be
/// empty.
std::vector<Tensor> RunCompiled(IRModule module, const Arguments& arguments, const CompileOptions& options,
                                const std::function<IRModule(IRModule)>& after_lowering = {});

/// What says which results are right: the interpreter, or, for modules on which it would take minutes, the code that
/// RunCompiled makes.
class Oracle {
 public:
  /// The interpreter.
  Oracle() = default;
  /// For the imported module and what passes make of it. It is interpreted if its products and convolutions are of no
  /// more than `most_interpreted` operations; symbolic dimensions count as `symbolic_extent`.
  /// An UnsupportedError if `options` compile for another machine: there is nothing to compare.
  Oracle(const IRModule& imported, const CompileOptions& options, int64_t symbolic_extent, double most_interpreted);
  bool interprets() const { return interprets_; }
  std::vector<Tensor> Run(const IRModule& module, const Arguments& arguments) const;

 private:
  CompileOptions options_;
  bool interprets_ = true;
};

/// How far results are apart.
struct Difference {
  /// Greatest |difference| as a share of the greatest |value| of that output.
  double error = 0;
  /// Which output decided, or the first that is wrong.
  size_t output = 0;
  /// Empty if all is within tolerance; else what is wrong.
  std::string problem;
};

/// For each result of "main" the float type of least precision among the values that it is computed from, void if there
/// is none. A float32 result of a network that computes in float16 is no more precise than that, nor is one of products
/// of float32 whose operands may be rounded to `products` (CompileOptions::precision).
std::vector<DataType> LeastPrecisions(const IRModule& module, const std::string& products = "f32");

/// Integers and booleans must be equal, floats within `tolerance` for float32, and for other dtypes as much more or
/// less as their precision is, or that of what they are computed from (`through`, LeastPrecisions) if that is less.
Difference CompareResults(const std::vector<Tensor>& expected, const std::vector<Tensor>& actual, double tolerance,
                          const std::vector<DataType>& through = {});

/// The tolerance for a dtype where that for float32 is `tolerance`; 0 for integers.
double ToleranceOf(DataType dtype, double tolerance);

}  // namespace deuteron
