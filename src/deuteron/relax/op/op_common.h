/// \file
/// What the families of operators share: reading arguments and attributes, and inferring broadcast shapes.
///
/// A family `foo` is two files: `foo.h` (attribute classes: names, fields and defaults as they print; constructors, and
/// `FooOps()`, its rows of the table) and `foo.cc`; large families have a file for the attributes. Attributes that mean
/// one value an axis (strides, padding, …) are accepted in every form that the text allows; readers use `Expanded`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/relax/op_info.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

/// Whether `expr` is one of these operators.
bool IsOneOf(const Expr& expr, std::span<const Op> ops);

/// The type of argument number `index`, which must be a tensor; a ModelError otherwise.
const TensorTypeNode* TensorArg(const Call& call, size_t index);
/// The shape of a tensor type, null (std::nullopt) if not known.
std::optional<Array<PrimExpr>> ShapeOf(const TensorTypeNode* type);
/// The shape that an argument of type R.Shape carries, if its dimensions are known.
std::optional<Array<PrimExpr>> ShapeArg(const Call& call, size_t index);
/// The scalar expression of a PrimValue argument; a ModelError if it is none.
PrimExpr PrimArg(const Call& call, size_t index);
/// The dtype of a scalar argument: a PrimValue, or a variable of type R.Prim; a ModelError if it is neither.
DataType PrimArgType(const Call& call, size_t index);
/// Whether the scalar arguments from `first` on are written out, as legalisation needs them.
bool PrimArgsKnown(const Call& call, size_t first);

/// Throws unless the rank is known to be `rank` or unknown.
void CheckRank(const Call& call, size_t index, int64_t rank);

/// `axis` in [0, ndim), counted from the end if negative; a ModelError outside of [-ndim, ndim).
int64_t NormalizeAxis(const Call& call, int64_t axis, int64_t ndim);
/// The same for several; a ModelError if one occurs twice.
std::vector<int64_t> NormalizeAxes(const Call& call, const std::vector<int64_t>& axes, int64_t ndim);

/// An attribute of one value an axis in full: one value stands for all, for `pairs` n values stand for
/// both sides of n axes (begin of each axis, then end of each).
std::vector<int64_t> Expanded(const Array<int64_t>& values, size_t axes);
std::vector<int64_t> ExpandedPadding(const Array<int64_t>& values, size_t axes);
std::vector<int64_t> ToVector(const Array<int64_t>& values);
Array<int64_t> ToArray(const std::vector<int64_t>& values);

/// The dtype of both operands: equal, or one of them unknown; a ModelError otherwise.
DataType CommonDType(const Call& call, size_t first, size_t second);
/// The numpy broadcast of two shapes; nothing where it depends on whether a symbolic dimension is 1; a
/// ModelError that shows both where they cannot match.
std::optional<Array<PrimExpr>> BroadcastShapes(const Call& call, const BlockBuilder& builder, const Array<PrimExpr>& a,
                                               const Array<PrimExpr>& b);
/// The type of an elementwise operation of two tensors, of result dtype `dtype`.
Type BroadcastType(const Call& call, const BlockBuilder& builder, DataType dtype);

/// Where the operands agree on a device, it; null otherwise.
VDevice CommonVDevice(const Call& call);

/// Whether the shapes of all tensor arguments (and fields of tuple arguments) are known, and those of the
/// result: what legalisation needs.
bool ShapesKnown(const Call& call);

/// Legalisation to a kernel of one result: `compute` makes it of the tensors `args`. The call itself where shapes are
/// not known.
template <typename Compute>
Expr CallKernel(BlockBuilder& builder, const Call& call, const std::string& name, const Array<Expr>& args,
                const Compute& compute) {
  if (!ShapesKnown(call)) return call;
  return builder.CallTE(name, args,
                        [&](const Array<te::Tensor>& tensors) { return Array<te::Tensor>{compute(tensors)}; });
}

/// Inference for operators whose result has the type of their first argument.
Type InferSameType(const Call& call, const BlockBuilder& builder);

}  // namespace deuteron::relax
