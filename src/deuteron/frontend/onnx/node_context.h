/// \file
/// What a converter sees of the node that it converts.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deuteron/frontend/onnx/model.h"
#include "deuteron/frontend/onnx/symbolic.h"
#include "deuteron/relax/block_builder.h"

namespace deuteron::onnx {

class Importer;

/// A value of the ONNX graph: an expression, known elements, an initialiser not looked at yet, or several of
/// these; or a sequence. Null where an optional input is left out. An optional is the
/// value that it holds.
class Value {
 public:
  /// Tensors of different ranks that branches give: what either is.
  struct ByBranch {
    relax::Expr condition;
    Type then_type, else_type;
  };
  struct State {
    /// Null until asked for.
    relax::Expr expr;
    Symbolic symbolic;
    bool symbolic_known = false;
    const TensorProto* initializer = nullptr;
    /// `expr` is computed from constants alone.
    bool is_constant = false;
    /// Of a sequence; none of an optional that holds nothing.
    std::optional<std::vector<Value>> elements;
    /// A sequence of tensors of one type whose length the run tells: `expr` is the elements on a new first axis.
    bool is_rows = false;
    /// Of such whose elements are of different shapes (sequence_ragged.h) those shapes, a row for each, and their rank;
    /// else null.
    relax::Expr extents;
    int64_t row_rank = 0;
    /// An optional that holds nothing.
    bool is_none = false;
    /// Of a survey: nothing is known of it, for what makes it is not supported.
    bool is_unknown = false;
    /// Of an expression of unknown rank that a branch gives; else null.
    std::shared_ptr<const ByBranch> by_branch;
  };
  Value() = default;
  Value(relax::Expr expr);                                       // NOLINT(google-explicit-constructor)
  Value(relax::Var var) : Value(relax::Expr(std::move(var))) {}  // NOLINT(google-explicit-constructor)
  explicit Value(Symbolic symbolic);
  static Value Initializer(const TensorProto* tensor);
  static Value Sequence(std::vector<Value> elements);
  static Value Rows(relax::Expr stacked);
  static Value None();
  static Value Unknown();
  /// The same value, of which something can be made without changing this one. Constants stay one.
  Value Copy() const;
  bool defined() const { return state_ != nullptr; }
  State* operator->() const { return state_.get(); }

 private:
  std::shared_ptr<State> state_;
};

/// Null if the node has none of that name.
const AttributeProto* FindAttribute(const NodeProto& node, std::string_view name);

/// One node: its inputs, attributes, operator set, and the block that its calls are emitted into.
class NodeContext {
 public:
  NodeContext(Importer* importer, const NodeProto& node, int64_t opset, std::vector<Value> inputs, Span span)
      : importer_(importer), node_(node), opset_(opset), inputs_(std::move(inputs)), span_(std::move(span)) {}

  const NodeProto& node() const { return node_; }
  /// Version of the operator set of the node's domain.
  int64_t opset() const { return opset_; }
  /// The same node, as one of this version.
  NodeContext AtOpset(int64_t opset) const {
    NodeContext other = *this;
    other.opset_ = opset;
    return other;
  }
  /// The same node with `value` for input `index`.
  NodeContext WithInput(size_t index, Value value) const {
    NodeContext other = *this;
    other.inputs_.resize(std::max(other.inputs_.size(), index + 1));
    other.inputs_[index] = std::move(value);
    return other;
  }
  Importer* importer() const { return importer_; }
  relax::BlockBuilder& builder() const;
  arith::Analyzer& analyzer() const;

  /// Throw errors; the importer puts the node's name before the message.
  [[noreturn]] void Fail(const std::string& message) const;
  [[noreturn]] void Unsupported(const std::string& message) const;

  size_t NumInputs() const { return inputs_.size(); }
  size_t NumOutputs() const { return node_.outputs.size(); }
  /// Whether input `index` is given.
  bool Has(size_t index) const { return index < inputs_.size() && inputs_[index].defined(); }
  /// Whether output `index` has a name.
  bool Wants(size_t index) const { return index < node_.outputs.size() && !node_.outputs[index].empty(); }
  /// Input `index`; a ModelError if it is left out.
  const Value& In(size_t index) const;
  /// The same as an expression: a variable or a constant. A ModelError if it is a sequence.
  relax::Expr X(size_t index) const;
  /// The elements of input `index`; a ModelError if it is no sequence. Not of one whose length the run tells.
  const std::vector<Value>& Elements(size_t index) const;
  std::vector<relax::Expr> AllInputs() const;

  /// Of tensor expressions and inputs. UnsupportedErrors where the rank or the shape is not known.
  DataType DType(const relax::Expr& expr) const;
  int64_t Rank(const relax::Expr& expr) const;
  Array<PrimExpr> Shape(const relax::Expr& expr) const;
  DataType DType(size_t index) const { return DType(X(index)); }
  int64_t Rank(size_t index) const { return Rank(X(index)); }
  Array<PrimExpr> Shape(size_t index) const { return Shape(X(index)); }
  /// Dimension `axis`, which must be a number (`what` says of what in the UnsupportedError).
  int64_t StaticDim(const relax::Expr& expr, int64_t axis, const char* what) const;
  /// The shape without forcing an input into an expression; nothing if it is not known.
  std::optional<Array<PrimExpr>> KnownShape(size_t index) const;
  /// dtype without forcing an input into an expression.
  DataType KnownDType(size_t index) const;

  /// Known elements of an input; null if there are none, or too many.
  Symbolic Known(size_t index) const;
  /// The integers of an input that is constant.
  std::optional<std::vector<int64_t>> ConstInts(size_t index) const;
  /// The same; an UnsupportedError if the input (`what`) is computed at run time.
  std::vector<int64_t> RequireInts(size_t index, const char* what) const;
  std::optional<double> ConstFloat(size_t index) const;
  std::optional<std::vector<double>> ConstFloats(size_t index) const;
  /// An input that is a vector of `count` elements, which its type may not say.
  relax::Expr Vector(size_t index, int64_t count) const;
  /// An integer vector as a shape: its known elements, else symbolic dimensions that are bound at run time. `count`:
  /// how many there must be, where the node says so and the vector's type may not.
  Array<PrimExpr> Dims(size_t index, const char* what, std::optional<int64_t> count = std::nullopt) const;
  /// The same of what a tensor is made as long as, or longer by: a ModelError where no tensor is that long, and an
  /// error of the run where it finds one below `least`. Sums of them do not overflow.
  Array<PrimExpr> Sizes(size_t index, const char* what, std::optional<int64_t> count = std::nullopt,
                        int64_t least = 0) const;
  /// A shape of these extents, as the run tells them: an error of the run where one is less than `least`.
  relax::Var CheckedShape(const Array<PrimExpr>& extents, int64_t least, const std::string& what) const;
  /// An error where no tensor is as long as the number, whatever its sign.
  void CheckSize(int64_t size, const char* what) const;
  /// An integer as a dimension: input `index`, of one element, known or bound at run time. What is less than `least` is
  /// an error, of the run where only that knows it, and so is there what is more than `most`.
  PrimExpr Dim(size_t index, const char* what, std::optional<int64_t> least = std::nullopt,
               const PrimExpr& most = PrimExpr()) const;
  /// The same of a number of something: below 0 it is 0.
  PrimExpr Count(size_t index, const char* what) const;
  /// Symbolic dimensions for the elements of a vector of int64, which is of constant length; none is negative.
  Array<PrimExpr> BoundDims(const relax::Expr& vector, const char* what) const;

  /// Attributes. ModelErrors where the attribute is of another type, or required and not there.
  bool HasAttr(std::string_view name) const { return FindAttr(name) != nullptr; }
  int64_t Int(std::string_view name, int64_t otherwise) const;
  /// An integer that is 0 or 1; a ModelError where it is another.
  bool Flag(std::string_view name, bool otherwise) const;
  int64_t RequiredInt(std::string_view name) const;
  double Float(std::string_view name, double otherwise) const;
  std::string Str(std::string_view name, const std::string& otherwise) const;
  std::optional<std::vector<int64_t>> Ints(std::string_view name) const;
  std::vector<double> Floats(std::string_view name) const;
  std::vector<std::string> Strs(std::string_view name) const;
  std::optional<Tensor> TensorAttr(std::string_view name) const;
  const GraphProto& GraphAttr(std::string_view name) const;

  /// `axis` in [0, rank); a ModelError outside of [-rank, rank).
  int64_t Axis(int64_t axis, int64_t rank) const;
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int64_t rank) const;
  /// Axes given as an attribute before operator set `input_since`, as input `index` from it on.
  std::optional<std::vector<int64_t>> AxesArgument(size_t index, int64_t input_since) const;

  /// Whether these axes are a value of the run: axes.h has what can be done then.
  bool AxesAtRunTime(size_t index, int64_t input_since) const;

  /// Binds a call, with this node's name. Errors call it `what`, several words.
  relax::Var Emit(const relax::Expr& expr, const std::string& what = "") const;
  /// Field `index` of a bound tuple, bound.
  relax::Var Field(const relax::Var& tuple, int64_t index) const;
  /// A scalar constant.
  relax::Expr Scalar(DataType dtype, double value) const;
  /// The scalar whose value is that of an integer of the shapes.
  relax::Expr ScalarOf(DataType dtype, const PrimExpr& value) const;
  relax::Expr ConstantOf(const Tensor& tensor) const;
  /// A constant vector of integers.
  relax::Expr ConstantInts(const std::vector<int64_t>& values, DataType dtype = DataType::Int(64)) const;
  relax::Expr ConstantFloats(const std::vector<double>& values, const std::vector<int64_t>& shape,
                             DataType dtype) const;
  /// Input `index`, whose elements are indices (from the end, if negative) of axes of these extents: of one, or of as
  /// many as the last axis has. A ModelError if a constant is outside; what is computed is checked at run time.
  relax::Expr Indices(size_t index, const Array<PrimExpr>& extents) const;
  relax::Expr Checked(const relax::Expr& indices, const Array<PrimExpr>& extents) const;
  /// The same of positions, of which none is negative.
  relax::Expr CheckedPositions(const relax::Expr& positions, const Array<PrimExpr>& extents) const;
  /// Values, of int64 or float64, that the run compares: each has to be at least (of check_above: more than) `least`,
  /// and at most `most` where it is given. Errors call one of them `what`.
  relax::Expr CheckedWithin(const relax::Expr& values, const PrimExpr& least, const PrimExpr& most,
                            const std::string& what) const;
  relax::Expr CheckedAbove(const relax::Expr& values, const PrimExpr& least, const PrimExpr& most,
                           const std::string& what) const;
  /// A tensor that has to have this shape, which is checked at run time unless its type shows it. Errors call it
  /// `what`, several words, or by the input that it is.
  relax::Expr WithShape(const relax::Expr& tensor, const Array<PrimExpr>& shape, const std::string& what = "") const;
  /// A value that has to be of this type, likewise.
  relax::Expr WithType(const relax::Expr& value, const Type& type, const std::string& what = "") const;
  /// What errors call an input: `input 'x'`.
  std::string InputWords(size_t index) const;
  /// Whether the type of a tensor shows that this is its shape.
  bool HasShape(const relax::Expr& tensor, const Array<PrimExpr>& shape) const;
  /// A tensor (`what`) whose dimensions from `axis` on have to be `sizes`: a ModelError where its type shows others,
  /// checked at run time where it shows none.
  relax::Expr WithSizes(const relax::Expr& tensor, int64_t axis, const std::vector<int64_t>& sizes,
                        const char* what) const;
  /// The same elements in another shape: of constants without a call, and nothing if the shape is the same.
  relax::Expr Reshaped(const relax::Expr& expr, const Array<PrimExpr>& shape) const;
  relax::Expr CastTo(const relax::Expr& expr, DataType dtype) const;
  /// What is narrower than 32 bits as float32: sums of float16 may be greater than the greatest one.
  relax::Expr Widened(const relax::Expr& expr) const;
  PrimExpr Simplify(const PrimExpr& expr) const;
  PrimExpr Product(const Array<PrimExpr>& dims, int64_t begin, int64_t end) const;

 private:
  /// What errors call a value, or nothing where the model has no name for it.
  std::string WordsFor(const relax::Expr& value) const;
  /// `type`: of what the check returns, if not that of the values.
  relax::Var CheckedBy(const char* check, const relax::Expr& values, const Array<PrimExpr>& bounds,
                       const std::string& what = "", const Type& type = Type()) const;
  const AttributeProto* FindAttr(std::string_view name) const;
  const AttributeProto* TypedAttr(std::string_view name, AttributeType type, const char* type_name) const;

  Importer* importer_;
  const NodeProto& node_;
  int64_t opset_;
  std::vector<Value> inputs_;
  Span span_;
};

/// Converts a node to calls; one value an output.
using Results = std::vector<Value>;

/// The tensors among values and in sequences among them, in order; of those of different shapes these come second.
Results Flattened(const Results& values);
/// Values like `like`, of the tensors that `Flattened` gives of them.
Results PutTogether(const Results& like, std::span<const Value> flat);
/// Whether sequences stand at the same places, and are of the same lengths, or of lengths and shapes that the run
/// tells.
bool AreAlike(const Results& a, const Results& b);

using Converter = Results (*)(const NodeContext& node);

}  // namespace deuteron::onnx
