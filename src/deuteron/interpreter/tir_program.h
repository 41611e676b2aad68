/// \file
/// A PrimFunc prepared for interpretation: variables and buffers resolved to slots, nothing else changed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/interpreter/scalar.h"

namespace deuteron::interpreter {

/// How an expression is evaluated that is met often: without asking for its kind. What it means is the same.
enum class ExprForm : uint8_t {
  kByKind,
  kConstant,
  /// A variable that is no vector, or a sum that needs no wrapping.
  kVariable,
  /// An integer that is a sum of multiples of variables, as most indices are, wrapped to its width once: so is each of
  /// its operations, and wrapping commutes with them. It is not evaluated but follows its variables.
  kLinear,
  kLoad,
  /// Of float32, as its arithmetic.
  kSingleLoad,
  kSingleAdd,
  kSingleSub,
  kSingleMul,
  /// Of two operands, both evaluated.
  kBinary,
};

/// A multiple of a variable.
struct LinearTerm {
  int slot;
  int64_t factor;
  auto operator<=>(const LinearTerm&) const = default;
};

/// A sum that changes by a multiple of what a variable changes by.
struct Follower {
  int slot;
  int64_t factor;
};

/// An expression. Vectors are evaluated lane by lane.
struct ExprCode {
  ExprKind kind;
  ExprForm form = ExprForm::kByKind;
  /// Element type of the result.
  DataType dtype;
  int lanes = 1;
  /// Element type of the operands (comparisons, casts, predicates).
  DataType operand;
  /// Slot of a variable (kVar, kLet), of a buffer (kBufferLoad) or of a sum, which is behind those of the variables.
  int slot = -1;
  /// Of a constant, or the constant part (kLinear).
  Scalar imm;
  /// kLinear: the variable part, and what each further lane adds.
  std::vector<LinearTerm> terms;
  int64_t per_lane = 0;
  Intrinsic intrinsic = nullptr;
  Binary binary = nullptr;
  /// kCall: the intrinsics that are not plain functions of their arguments.
  enum class Special : uint8_t { kNone, kIfThenElse, kReinterpret } special = Special::kNone;
  std::vector<ExprCode> children;
  /// kBufferLoad: of each index, if all are variables and sums; else empty.
  std::vector<int> index_slots;
};

/// An iterator of a block. Of those that are sums of variables only what begins a reduction is left.
struct IterCode {
  /// -1: a sum.
  int slot;
  bool is_reduce;
  ExprCode value;
  ExprCode dom_min;
};

struct BufferCode {
  std::string name;
  DataType dtype;
  std::vector<ExprCode> shape;
  /// Empty: compact.
  std::vector<ExprCode> strides;
  /// Of a view: where it begins in the buffer whose data it is; empty: with it.
  std::vector<ExprCode> offset;
  int slot;
};

/// A buffer of another one's data.
struct ViewCode {
  BufferCode buffer;
  /// Slot of the other one.
  int owner;
};

struct StmtCode {
  tir::StmtKind kind;
  /// Variable (kBind, kFor) or buffer (kBufferStore).
  int slot = -1;
  /// kBind: value. kAssert, kIfThenElse, kWhile: condition. kBufferStore: value, then indices. kFor: min,
  /// extent. kSBlockRealize: predicate. kEvaluate: value.
  std::vector<ExprCode> exprs;
  /// kBufferStore: as of a load.
  std::vector<int> index_slots;
  /// Children in order; kIfThenElse: then[, else]; kSBlockRealize: body.
  std::vector<StmtCode> body;
  std::vector<IterCode> iters;
  std::vector<BufferCode> allocs;
  std::unique_ptr<StmtCode> init;
  std::string text;
};

struct TirProgram {
  std::string name;
  std::vector<BufferCode> param_buffers;
  std::vector<ViewCode> views;
  std::vector<int> scalar_params;
  /// Slot of each symbolic dimension that is a plain variable: [parameter][axis], -1 if the dimension is another
  /// expression.
  std::vector<std::vector<int>> shape_slots;
  int num_vars = 0;
  int num_buffers = 0;
  /// Of each sum, what it is while all variables are 0; of each variable, what follows it.
  std::vector<int64_t> sums;
  std::vector<std::vector<Follower>> followers;
  StmtCode body;
};

/// Throws an UnsupportedError for what the interpreter does not run (unknown intrinsics).
std::shared_ptr<const TirProgram> Prepare(const tir::PrimFunc& func);
/// See RunPrimFunc.
void Execute(const TirProgram& program, const std::vector<Tensor>& tensors, const std::vector<int64_t>& scalars,
             const Options& options);

}  // namespace deuteron::interpreter
