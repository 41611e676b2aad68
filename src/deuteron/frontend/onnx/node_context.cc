#include "deuteron/frontend/onnx/node_context.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {
namespace {

/// Names the calls nested in `expr` (made by a converter, so not deep) after the node.
void StampSpans(const relax::Expr& expr, const Span& span) {
  const auto* call = expr.as<relax::CallNode>();
  if (call == nullptr || call->span.defined()) return;
  call->span = span;
  for (const relax::Expr& argument : call->args) {
    if (const auto* tuple = argument.as<relax::TupleNode>()) {
      for (const relax::Expr& field : tuple->fields) StampSpans(field, span);
    } else {
      StampSpans(argument, span);
    }
  }
}

}  // namespace

Value::Value(relax::Expr expr) : state_(std::make_shared<State>()) { state_->expr = std::move(expr); }
Value::Value(Symbolic symbolic) : state_(std::make_shared<State>()) {
  state_->symbolic = std::move(symbolic);
  state_->symbolic_known = true;
}
Value Value::Initializer(const TensorProto* tensor) {
  Value value{relax::Expr()};
  value->initializer = tensor;
  return value;
}

Value Value::Sequence(std::vector<Value> elements) {
  Value value{relax::Expr()};
  value->elements = std::move(elements);
  return value;
}

Value Value::Rows(relax::Expr stacked) {
  Value value{std::move(stacked)};
  value->is_rows = true;
  return value;
}

Value Value::Unknown() {
  Value value;
  value.state_ = std::make_shared<State>();
  value->is_unknown = true;
  return value;
}

Value Value::None() {
  Value value = Sequence({});
  value->is_none = true;
  return value;
}

Value Value::Copy() const {
  if (state_ == nullptr || state_->initializer != nullptr) return *this;
  Value copy;
  copy.state_ = std::make_shared<State>(*state_);
  if (copy->elements) {
    for (Value& element : *copy->elements) element = element.Copy();
  }
  return copy;
}

Results Flattened(const Results& values) {
  Results flat;
  for (const Value& value : values) {
    if (value.defined() && value->extents.defined()) {
      flat.emplace_back(value->expr);
      flat.emplace_back(value->extents);
      continue;
    }
    if (!value.defined() || !value->elements) {
      flat.push_back(value);
      continue;
    }
    const Results inner = Flattened(*value->elements);
    flat.insert(flat.end(), inner.begin(), inner.end());
  }
  return flat;
}

Results PutTogether(const Results& like, std::span<const Value> flat) {
  Results values;
  for (const Value& value : like) {
    if (!value.defined() || !value->elements) {
      const bool is_ragged = value.defined() && value->extents.defined();
      values.push_back(flat[0]);
      if (value.defined() && value->is_rows) values.back()->is_rows = true;
      if (is_ragged) {
        values.back()->extents = flat[1]->expr;
        values.back()->row_rank = value->row_rank;
      }
      flat = flat.subspan(is_ragged ? 2 : 1);
      continue;
    }
    const size_t count = Flattened(*value->elements).size();
    values.push_back(Value::Sequence(PutTogether(*value->elements, flat.subspan(0, count))));
    values.back()->is_none = value->is_none;
    flat = flat.subspan(count);
  }
  return values;
}

bool AreAlike(const Results& a, const Results& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Value& left, const Value& right) {
    const bool is_sequence = left.defined() && left->elements;
    if (is_sequence != (right.defined() && right->elements)) return false;
    if (left.defined() && right.defined() &&
        (left->is_rows != right->is_rows || left->extents.defined() != right->extents.defined())) {
      return false;
    }
    return !is_sequence || (left->is_none == right->is_none && AreAlike(*left->elements, *right->elements));
  });
}

relax::BlockBuilder& NodeContext::builder() const { return importer_->builder(); }
arith::Analyzer& NodeContext::analyzer() const { return builder().analyzer(); }

void NodeContext::Fail(const std::string& message) const { DEUTERON_THROW(ModelError) << message; }
void NodeContext::Unsupported(const std::string& message) const { DEUTERON_THROW(UnsupportedError) << message; }

const Value& NodeContext::In(size_t index) const {
  if (!Has(index)) Fail("input " + std::to_string(index) + " is missing");
  return inputs_[index];
}

relax::Expr NodeContext::X(size_t index) const {
  if (In(index)->is_rows) Fail("input " + std::to_string(index) + " is a sequence where a tensor is expected");
  return importer_->ExprOf(In(index), span_);
}

const std::vector<Value>& NodeContext::Elements(size_t index) const {
  const Value& value = In(index);
  if (value->is_rows) Unsupported("a sequence whose length only the run tells");
  if (!value->elements) Fail("input " + std::to_string(index) + " is a tensor where a sequence is expected");
  return *value->elements;
}

std::vector<relax::Expr> NodeContext::AllInputs() const {
  std::vector<relax::Expr> exprs;
  for (size_t i = 0; i < NumInputs(); ++i) exprs.push_back(X(i));
  if (exprs.empty()) Fail("it has no inputs");
  return exprs;
}

namespace {
const TensorTypeNode* TensorTypeOf(const NodeContext& node, const relax::Expr& expr) {
  if (!expr.defined()) node.Fail("one of its inputs is missing");
  const auto* type = expr.ty().as<TensorTypeNode>();
  if (type == nullptr) node.Fail("a tensor is expected, not " + relax::Describe(expr.ty()));
  return type;
}
}  // namespace

DataType NodeContext::DType(const relax::Expr& expr) const { return TensorTypeOf(*this, expr)->dtype; }

int64_t NodeContext::Rank(const relax::Expr& expr) const {
  const int64_t rank = TensorTypeOf(*this, expr)->ndim;
  if (rank == kUnknownNDim) Unsupported("a tensor of unknown rank; give its shape (--shape for inputs)");
  return rank;
}

Array<PrimExpr> NodeContext::Shape(const relax::Expr& expr) const {
  const auto* type = TensorTypeOf(*this, expr);
  if (!type->shape.has_value()) {
    Unsupported("the shape of " + relax::Describe(expr.ty()) +
                " is known at run time only; fix it with --shape, or make what it depends on an initialiser");
  }
  return type->shape.value();
}

int64_t NodeContext::StaticDim(const relax::Expr& expr, int64_t axis, const char* what) const {
  const Array<PrimExpr> shape = Shape(expr);
  const PrimExpr& dim = shape[Axis(axis, static_cast<int64_t>(shape.size()))];
  const auto value = AsConstInt(dim);
  if (!value) {
    Unsupported(std::string(what) + " must be a number and is " + relax::Describe(dim) + "; fix it with --shape");
  }
  return *value;
}

std::optional<Array<PrimExpr>> NodeContext::KnownShape(size_t index) const {
  const Type type = importer_->TypeOf(In(index));
  const auto* tensor = type.defined() ? type.as<TensorTypeNode>() : nullptr;
  if (tensor == nullptr || !tensor->shape.has_value()) return std::nullopt;
  return tensor->shape.value();
}

DataType NodeContext::KnownDType(size_t index) const {
  const Type type = importer_->TypeOf(In(index));
  const auto* tensor = type.defined() ? type.as<TensorTypeNode>() : nullptr;
  return tensor == nullptr ? DType(index) : tensor->dtype;
}

Symbolic NodeContext::Known(size_t index) const { return Has(index) ? importer_->SymbolicOf(inputs_[index]) : nullptr; }

std::optional<std::vector<int64_t>> NodeContext::ConstInts(size_t index) const {
  const Symbolic known = Known(index);
  if (known == nullptr || !known->dtype.is_integer()) return std::nullopt;
  std::vector<int64_t> values;
  for (const PrimExpr& element : known->values) {
    const auto value = AsConstInt(element);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::vector<int64_t> NodeContext::RequireInts(size_t index, const char* what) const {
  const auto values = ConstInts(index);
  if (!values)
    Unsupported(std::string(what) + " (input " + std::to_string(index) +
                ") must be constant integers; make them an initialiser");
  return *values;
}

std::optional<std::vector<double>> NodeContext::ConstFloats(size_t index) const {
  const Symbolic known = Known(index);
  if (known == nullptr) return std::nullopt;
  std::vector<double> values;
  for (const PrimExpr& element : known->values) {
    if (const auto* real = element.as<tir::FloatImmNode>()) {
      values.push_back(real->value);
    } else if (const auto integer = AsConstInt(element)) {
      values.push_back(static_cast<double>(*integer));
    } else {
      return std::nullopt;
    }
  }
  return values;
}

std::optional<double> NodeContext::ConstFloat(size_t index) const {
  const auto values = ConstFloats(index);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

relax::Expr NodeContext::Vector(size_t index, int64_t count) const {
  const relax::Expr x = X(index);
  const Array<PrimExpr> shape = Shape(x);
  return shape.size() == 1 && !AsConstInt(shape[0]) ? WithShape(x, {I64(count)}) : x;
}

Array<PrimExpr> NodeContext::Dims(size_t index, const char* what, std::optional<int64_t> count) const {
  if (const Symbolic known = Known(index)) {
    if (known->rank() > 1 || !known->dtype.is_integer()) Fail(std::string(what) + " must be a vector of integers");
    Array<PrimExpr> dims;
    for (const PrimExpr& value : known->values) dims.push_back(deuteron::CastTo(DataType::Int(64), value));
    return dims;
  }
  return BoundDims(CastTo(count ? Vector(index, *count) : X(index), DataType::Int(64)), what);
}

Array<PrimExpr> NodeContext::Sizes(size_t index, const char* what, std::optional<int64_t> count, int64_t least) const {
  if (Known(index) == nullptr) {
    const relax::Expr given = CastTo(count ? Vector(index, *count) : X(index), DataType::Int(64));
    return BoundDims(CheckedWithin(given, I64(least), PrimExpr(), std::string("an element of ") + what), what);
  }
  const Array<PrimExpr> sizes = Dims(index, what, count);
  for (const PrimExpr& size : sizes) {
    if (const auto number = AsConstInt(size)) CheckSize(*number, what);
  }
  return sizes;
}

void NodeContext::CheckSize(int64_t size, const char* what) const {
  CheckLimit(&Limits::extent, std::abs(static_cast<double>(size)), what + (" of " + std::to_string(size)));
}

PrimExpr NodeContext::Dim(size_t index, const char* what, std::optional<int64_t> least, const PrimExpr& most) const {
  const auto bound = [&](const relax::Expr& value) {
    return BoundDims(least ? CheckedWithin(value, I64(*least), most, what) : value, what)[0];
  };
  const Symbolic known = Known(index);
  if (known == nullptr) return bound(CastTo(Reshaped(X(index), {I64(1)}), DataType::Int(64)));
  if (known->values.size() != 1 || !known->dtype.is_integer()) Fail(std::string(what) + " must be one integer");
  PrimExpr value = deuteron::CastTo(DataType::Int(64), known->values[0]);
  if (most.defined() && analyzer().CanProve(value > most)) {
    Fail(std::string(what) + " is " + relax::Describe(value) + " and has to be at most " + relax::Describe(most));
  }
  if (!least || analyzer().CanProve(value >= I64(*least))) return value;
  if (const auto number = AsConstInt(value)) {
    Fail(std::string(what) + " is " + std::to_string(*number) + " and has to be at least " + std::to_string(*least));
  }
  return bound(importer()->ExprOf(Value(SymbolicVector({value})), Span()));
}

PrimExpr NodeContext::Count(size_t index, const char* what) const {
  // What is bound is taken for a size.
  if (Known(index) != nullptr) return Simplify(Max(Dim(index, what), I64(0)));
  const relax::Expr given = CastTo(Reshaped(X(index), {I64(1)}), DataType::Int(64));
  return BoundDims(Emit(relax::Maximum(given, Scalar(DataType::Int(64), 0))), what)[0];
}

Array<PrimExpr> NodeContext::BoundDims(const relax::Expr& vector, const char* what) const {
  const auto shape = Shape(vector);
  const auto count = shape.size() == 1 ? AsConstInt(shape[0]) : std::nullopt;
  if (!count) Unsupported(std::string(what) + " has no constant length; fix it with --shape");
  const relax::Var as_shape = Emit(relax::TensorToShape(vector));
  Array<PrimExpr> dims;
  for (int64_t i = 0; i < *count; ++i) {
    dims.push_back(tir::Var(String(std::string(node_.op_type) + "_d" + std::to_string(i))));
  }
  WithType(as_shape, ShapeType(dims));
  return dims;
}

relax::Expr NodeContext::Indices(size_t index, const Array<PrimExpr>& extents) const {
  const auto known = ConstInts(index);
  if (!known || extents.empty()) return extents.empty() ? X(index) : Checked(X(index), extents);
  for (size_t i = 0; i < known->size(); ++i) {
    const auto extent = AsConstInt(extents[i % extents.size()]);
    if (!extent) return Checked(X(index), extents);
    if ((*known)[i] >= -*extent && (*known)[i] < *extent) continue;
    Fail("index " + std::to_string((*known)[i]) + " is outside of an axis of length " + std::to_string(*extent));
  }
  return X(index);
}

relax::Expr NodeContext::Checked(const relax::Expr& indices, const Array<PrimExpr>& extents) const {
  return CheckedBy("deuteron.vm.check_indices", indices, extents);
}

relax::Expr NodeContext::CheckedPositions(const relax::Expr& positions, const Array<PrimExpr>& extents) const {
  return CheckedBy("deuteron.vm.check_positions", positions, extents);
}

relax::Expr NodeContext::CheckedWithin(const relax::Expr& values, const PrimExpr& least, const PrimExpr& most,
                                       const std::string& what) const {
  return CheckedBy("deuteron.vm.check_within", values, {least, most.defined() ? most : I64(INT64_MAX)}, what);
}

relax::Expr NodeContext::CheckedAbove(const relax::Expr& values, const PrimExpr& least, const PrimExpr& most,
                                      const std::string& what) const {
  return CheckedBy("deuteron.vm.check_above", values, {least, most.defined() ? most : I64(INT64_MAX)}, what);
}

relax::Var NodeContext::CheckedShape(const Array<PrimExpr>& extents, int64_t least, const std::string& what) const {
  return CheckedBy("deuteron.vm.check_within", relax::ShapeExpr(extents), {I64(least), I64(INT64_MAX)}, what,
                   ShapeType::WithNDim(static_cast<int>(extents.size())));
}

relax::Var NodeContext::CheckedBy(const char* check, const relax::Expr& values, const Array<PrimExpr>& bounds,
                                  const std::string& what, const Type& type) const {
  const std::string source = span_.defined() ? std::string(span_->source) : std::string(node_.op_type);
  const std::string place = "node '" + source + "'" + (what.empty() ? "" : ": " + what);
  return Emit(relax::CallPurePacked(relax::ExternFunc(check),
                                    {values, relax::ShapeExpr(bounds), relax::StringImm(place)},
                                    {type.defined() ? type : values.ty()}));
}

relax::Expr NodeContext::WithShape(const relax::Expr& tensor, const Array<PrimExpr>& shape,
                                   const std::string& what) const {
  if (HasShape(tensor, shape)) return tensor;
  return WithType(tensor, TensorType(shape, DType(tensor)), what);
}

relax::Expr NodeContext::WithType(const relax::Expr& value, const Type& type, const std::string& what) const {
  const std::string words = what.empty() ? WordsFor(value) : what;
  if (!relax::MayBe(type, value.ty(), &analyzer())) {
    Fail((words.empty() ? "a value within it" : words) + " is " + relax::Describe(value.ty()) + " and has to be " +
         relax::Describe(type));
  }
  return builder().EmitMatchCast(value, type, words, span_);
}

std::string NodeContext::WordsFor(const relax::Expr& value) const {
  if (const auto* var = value.as<relax::VarNode>()) {
    const std::string name(var->name_hint);
    if (name.find(' ') != std::string::npos) return name;
  }
  for (size_t i = 0; i < NumInputs(); ++i) {
    if (Has(i) && In(i)->expr.same_as(value)) return InputWords(i);
  }
  return "";
}

std::string NodeContext::InputWords(size_t index) const { return "input '" + std::string(node_.inputs[index]) + "'"; }

bool NodeContext::HasShape(const relax::Expr& tensor, const Array<PrimExpr>& shape) const {
  const auto* type = TensorTypeOf(*this, tensor);
  bool same = type->has_shape() && type->shape->size() == shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i) same = analyzer().CanProveEqual((*type->shape)[i], shape[i]);
  return same;
}

relax::Expr NodeContext::WithSizes(const relax::Expr& tensor, int64_t axis, const std::vector<int64_t>& sizes,
                                   const char* what) const {
  Array<PrimExpr> shape = Shape(tensor);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t at = Axis(axis + static_cast<int64_t>(i), static_cast<int64_t>(shape.size()));
    if (const auto own = AsConstInt(shape[at]); own && *own != sizes[i]) {
      Fail("axis " + std::to_string(at) + " of " + what + " is " + std::to_string(*own) + ", not " +
           std::to_string(sizes[i]));
    }
    shape.Set(at, I64(sizes[i]));
  }
  return WithShape(tensor, shape);
}

int64_t NodeContext::Axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) {
    Fail("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> NodeContext::Axes(const std::vector<int64_t>& axes, int64_t rank) const {
  std::vector<int64_t> normal;
  for (const int64_t axis : axes) normal.push_back(Axis(axis, rank));
  std::vector<int64_t> sorted = normal;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) Fail("an axis is given twice");
  return normal;
}

std::optional<std::vector<int64_t>> NodeContext::AxesArgument(size_t index, int64_t input_since) const {
  if (opset_ < input_since) return Ints("axes");
  if (!Has(index)) return std::nullopt;
  if (const auto shape = KnownShape(index); shape && shape->size() == 1 && IsZero((*shape)[0])) {
    return std::vector<int64_t>{};
  }
  return RequireInts(index, "axes");
}

bool NodeContext::AxesAtRunTime(size_t index, int64_t input_since) const {
  if (opset_ < input_since || !Has(index) || ConstInts(index)) return false;
  const auto shape = KnownShape(index);
  return !(shape && shape->size() == 1 && IsZero((*shape)[0]));
}

relax::Var NodeContext::Emit(const relax::Expr& expr, const std::string& what) const {
  StampSpans(expr, span_);
  return builder().Emit(expr, what, span_);
}

relax::Var NodeContext::Field(const relax::Var& tuple, int64_t index) const {
  return Emit(relax::TupleGetItem(tuple, index));
}

relax::Expr NodeContext::Scalar(DataType dtype, double value) const { return relax::Constant::Scalar(dtype, value); }

relax::Expr NodeContext::ScalarOf(DataType dtype, const PrimExpr& value) const {
  if (const auto number = AsConstInt(value)) return relax::Constant::Scalar(dtype, *number);
  return CastTo(Reshaped(importer_->ExprOf(Value(SymbolicVector({value})), span_), {}), dtype);
}

relax::Expr NodeContext::ConstantOf(const Tensor& tensor) const { return relax::Constant(tensor); }

relax::Expr NodeContext::ConstantInts(const std::vector<int64_t>& values, DataType dtype) const {
  std::vector<PrimExpr> elements;
  for (const int64_t value : values) elements.push_back(MakeConst(dtype, value));
  const auto count = static_cast<int64_t>(values.size());
  return relax::Constant(TensorFromSymbolic({dtype, {count}, std::move(elements)}));
}

relax::Expr NodeContext::ConstantFloats(const std::vector<double>& values, const std::vector<int64_t>& shape,
                                        DataType dtype) const {
  const bool is_double = dtype.bits() == 64;
  Tensor tensor = EmptyHostTensor(shape, is_double ? dtype : DataType::Float(32));
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_double) {
      static_cast<double*>(tensor.data_ptr())[i] = values[i];
    } else {
      static_cast<float*>(tensor.data_ptr())[i] = static_cast<float>(values[i]);
    }
  }
  return CastTo(relax::Constant(tensor), dtype);
}

relax::Expr NodeContext::Reshaped(const relax::Expr& expr, const Array<PrimExpr>& shape) const {
  if (HasShape(expr, shape)) return expr;
  const auto* type = TensorTypeOf(*this, expr);
  const auto dims = AsConstInts(shape);
  if (const auto* constant = expr.as<relax::ConstantNode>(); constant != nullptr && dims) {
    const Tensor& data = constant->data;
    if (ElementCount(*dims) == data.numel()) {
      auto owner = std::make_shared<Tensor>(data);
      return relax::Constant(BorrowedHostTensor(*dims, data.dtype(), data.data_ptr(), owner));
    }
  }
  // Of nothing, nothing: a 0 in R.reshape would be the dimension that stands there in `expr`.
  const bool is_empty = type->shape.has_value() && IsZero(Product(shape, 0, static_cast<int64_t>(shape.size())));
  if (is_empty) {
    // Whether there is nothing may be left to the run.
    const PrimExpr elements = Product(*type->shape, 0, type->ndim);
    if (!IsZero(elements)) WithShape(Emit(relax::Reshape(expr, {elements})), {I64(0)});
    return Emit(relax::Zeros(shape, type->dtype));
  }
  return Emit(relax::Reshape(expr, shape));
}

relax::Expr NodeContext::CastTo(const relax::Expr& expr, DataType dtype) const {
  return DType(expr) == dtype ? expr : relax::Expr(Emit(relax::Astype(expr, dtype)));
}

relax::Expr NodeContext::Widened(const relax::Expr& expr) const {
  return DType(expr).bits() < 32 ? CastTo(expr, DataType::Float(32)) : expr;
}

PrimExpr NodeContext::Simplify(const PrimExpr& expr) const {
  return expr->kind == ExprKind::kIntImm || expr->kind == ExprKind::kVar ? expr : analyzer().Simplify(expr);
}

PrimExpr NodeContext::Product(const Array<PrimExpr>& dims, int64_t begin, int64_t end) const {
  PrimExpr product = I64(1);
  for (int64_t i = begin; i < end; ++i) product = product * dims[i];
  return Simplify(product);
}

}  // namespace deuteron::onnx
