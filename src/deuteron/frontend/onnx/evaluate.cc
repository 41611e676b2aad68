#include "deuteron/frontend/onnx/evaluate.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/ir/expr_functor.h"

namespace deuteron::onnx {
namespace {

/// Tensors with elements that are no literals have at most this many, and the expressions this many nodes: what is
/// simplified and proved of them takes time.
constexpr int64_t kMostExpressions = 256;
constexpr int64_t kMostExpressionNodes = 256;

struct EvaluatorRow {
  /// Inputs that must be given.
  size_t least;
  Evaluator evaluate;
};

const std::unordered_map<std::string_view, EvaluatorRow>& Evaluators() {
  static const std::unordered_map<std::string_view, EvaluatorRow> kTable = {
      {"Abs", {1, EvaluateUnary}},
      {"Add", {2, EvaluateBinary}},
      {"And", {2, EvaluateBinary}},
      {"Cast", {1, EvaluateCast}},
      {"CastLike", {2, EvaluateCastLike}},
      {"Ceil", {1, EvaluateUnary}},
      {"Clip", {1, EvaluateClip}},
      {"Concat", {1, EvaluateConcat}},
      {"ConstantOfShape", {1, EvaluateConstantOfShape}},
      {"CumSum", {2, EvaluateCumSum}},
      {"Div", {2, EvaluateBinary}},
      {"Equal", {2, EvaluateBinary}},
      {"Exp", {1, EvaluateUnary}},
      {"Expand", {2, EvaluateExpand}},
      {"Flatten", {1, EvaluateRearranged}},
      {"Floor", {1, EvaluateUnary}},
      {"Gather", {2, EvaluateGather}},
      {"GatherElements", {2, EvaluateGatherElements}},
      {"GatherND", {2, EvaluateGatherND}},
      {"Greater", {2, EvaluateBinary}},
      {"GreaterOrEqual", {2, EvaluateBinary}},
      {"Less", {2, EvaluateBinary}},
      {"LessOrEqual", {2, EvaluateBinary}},
      {"Log", {1, EvaluateUnary}},
      {"Max", {1, EvaluateVariadic}},
      {"Min", {1, EvaluateVariadic}},
      {"Mod", {2, EvaluateBinary}},
      {"Mul", {2, EvaluateBinary}},
      {"Neg", {1, EvaluateUnary}},
      {"NonZero", {1, EvaluateNonZero}},
      {"Not", {1, EvaluateUnary}},
      {"Or", {2, EvaluateBinary}},
      {"Pad", {1, EvaluatePad}},
      {"Pow", {2, EvaluateBinary}},
      {"Range", {3, EvaluateRange}},
      {"Reciprocal", {1, EvaluateUnary}},
      {"ReduceMax", {1, EvaluateReduce}},
      {"ReduceMin", {1, EvaluateReduce}},
      {"ReduceProd", {1, EvaluateReduce}},
      {"ReduceSum", {1, EvaluateReduce}},
      {"Reshape", {2, EvaluateRearranged}},
      {"Round", {1, EvaluateUnary}},
      {"ScatterElements", {3, EvaluateScatterElements}},
      {"ScatterND", {3, EvaluateScatterND}},
      {"Sign", {1, EvaluateUnary}},
      {"Slice", {1, EvaluateSlice}},
      {"Split", {1, EvaluateSplit}},
      {"Sqrt", {1, EvaluateUnary}},
      {"Squeeze", {1, EvaluateRearranged}},
      {"Sub", {2, EvaluateBinary}},
      {"Sum", {1, EvaluateVariadic}},
      {"Tile", {2, EvaluateTile}},
      {"Transpose", {1, EvaluateTranspose}},
      {"Unsqueeze", {1, EvaluateRearranged}},
      {"Where", {3, EvaluateWhere}},
      {"Xor", {2, EvaluateBinary}},
  };
  return kTable;
}

/// Whether an expression has few nodes, one that is used twice counted twice, as those who simplify it do.
bool IsSmall(const PrimExpr& expr) {
  struct Counter : ExprVisitor {
    int64_t count = 0;
    void VisitExpr(const PrimExpr& node) override {
      if (++count <= kMostExpressionNodes) ExprVisitor::VisitExpr(node);
    }
  } counter;
  counter.VisitExpr(expr);
  return counter.count <= kMostExpressionNodes;
}

bool IsBounded(const SymbolicTensor& tensor) {
  if (tensor.IsConstant()) return true;
  return static_cast<int64_t>(tensor.values.size()) <= kMostExpressions &&
         std::all_of(tensor.values.begin(), tensor.values.end(), IsSmall);
}

}  // namespace

std::vector<Symbolic> EvaluateKnown(const NodeContext& node) {
  if (!IsOnnxDomain(node.node().domain)) return {};
  const auto row = Evaluators().find(node.node().op_type);
  if (row == Evaluators().end() || node.NumInputs() < row->second.least) return {};
  Known inputs;
  bool constant = true;
  for (size_t i = 0; i < node.NumInputs(); ++i) {
    inputs.push_back(node.Known(i));
    if (inputs.back() != nullptr) {
      constant &= inputs.back()->IsConstant();
    } else if (i < row->second.least || node.Has(i)) {
      return {};
    }
  }
  std::vector<Symbolic> results = row->second.evaluate(node, inputs);
  const bool good = std::all_of(results.begin(), results.end(), [&](const Symbolic& result) {
    // What literals do not fold to is left to the interpreter.
    return result != nullptr && (constant ? result->IsConstant() : IsBounded(*result));
  });
  return good ? results : std::vector<Symbolic>();
}

// ----- Constants

namespace {

/// The bindings that an expression needs, in order.
class ConstantSlice {
 public:
  explicit ConstantSlice(const relax::BlockBuilder& builder) : builder_(builder) {}

  /// False where they need what is no constant, or are too many or too large.
  bool Collect(const relax::Var& root) {
    std::vector<relax::Var> work = {root};
    while (!work.empty()) {
      const relax::Var var = work.back();
      if (done_.count(var.get()) != 0) {
        work.pop_back();
        continue;
      }
      const relax::Expr value = builder_.LookupBinding(var);
      if (!value.defined() || work.size() > kMostBindings || bindings_.size() > kMostBindings) return false;
      const size_t before = work.size();
      if (!AddOperands(value, &work)) return false;
      if (work.size() > before) continue;
      work.pop_back();
      if (!HasSmallType(var.ty())) return false;
      done_.insert(var.get());
      bindings_.push_back(relax::VarBinding(var, value));
    }
    return true;
  }

  IRModule AsModule(const relax::Var& root) const {
    const relax::SeqExpr body({relax::BindingBlock(Array<relax::Binding>(bindings_.begin(), bindings_.end()))}, root);
    IRModule module = IRModule::Empty();
    module.AddUnique("main", relax::Function({}, body, root.ty()));
    return module;
  }

 private:
  static constexpr size_t kMostBindings = 256;
  static constexpr int64_t kMostElements = int64_t{1} << 16;

  /// A type of few elements, all of whose dimensions are numbers.
  static bool HasSmallType(const Type& type) {
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      return std::all_of(tuple->fields.begin(), tuple->fields.end(), HasSmallType);
    }
    const auto* tensor = type.as<TensorTypeNode>();
    if (tensor == nullptr) return true;
    const auto dims = tensor->shape.has_value() ? AsConstInts(*tensor->shape) : std::nullopt;
    if (!dims) return false;
    const int64_t count = ElementCount(*dims);
    return count >= 0 && count <= kMostElements;
  }

  /// Adds the variables among the operands of `value` that are not bound yet.
  bool AddOperands(const relax::Expr& value, std::vector<relax::Var>* work) const {
    std::vector<relax::Expr> operands;
    if (const auto* call = value.as<relax::CallNode>()) {
      operands.assign(call->args.begin(), call->args.end());
    } else if (const auto* tuple = value.as<relax::TupleNode>()) {
      operands.assign(tuple->fields.begin(), tuple->fields.end());
    } else if (const auto* item = value.as<relax::TupleGetItemNode>()) {
      operands.push_back(item->tuple);
    } else {
      operands.push_back(value);
    }
    while (!operands.empty()) {
      const relax::Expr operand = operands.back();
      operands.pop_back();
      if (const auto* tuple = operand.as<relax::TupleNode>()) {
        operands.insert(operands.end(), tuple->fields.begin(), tuple->fields.end());
      } else if (operand.as<relax::VarNode>() != nullptr) {
        const relax::Var var = Downcast<relax::Var>(operand);
        if (done_.count(var.get()) == 0) work->push_back(var);
      } else if (operand.as<relax::ConstantNode>() != nullptr && !HasSmallType(operand.ty())) {
        return false;
      }
    }
    return true;
  }

  const relax::BlockBuilder& builder_;
  std::unordered_set<const Object*> done_;
  std::vector<relax::Binding> bindings_;
};

}  // namespace

Symbolic EvaluateConstant(const relax::BlockBuilder& builder, const relax::Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  const auto dims = type != nullptr && type->shape.has_value() ? AsConstInts(*type->shape) : std::nullopt;
  if (!dims || !SmallCount(*dims) || expr.as<relax::VarNode>() == nullptr) return nullptr;
  const relax::Var root = Downcast<relax::Var>(expr);
  ConstantSlice slice(builder);
  if (!slice.Collect(root)) return nullptr;
  try {
    const interpreter::Value value =
        interpreter::Run(slice.AsModule(root), "main", {}, {.max_steps = int64_t{1} << 22});
    const auto tensor = value.try_cast<Tensor>();
    return tensor ? SymbolicFromTensor(*tensor) : nullptr;
  } catch (const ffi::Error&) {
    // Too long, or wrong: a run says so where it comes to it.
    return nullptr;
  }
}

// ----- What evaluators share

std::optional<int64_t> SmallCount(const std::vector<int64_t>& shape) {
  const int64_t count = ElementCount(shape);
  if (count < 0 || count > kMaxSymbolicElements) return std::nullopt;
  return count;
}

std::optional<std::vector<int64_t>> LiteralInts(const Symbolic& tensor) {
  if (!tensor->dtype.is_integer()) return std::nullopt;
  return AsConstInts(Array<PrimExpr>(tensor->values.begin(), tensor->values.end()));
}

std::optional<std::vector<int64_t>> LiteralAxes(const NodeContext& node, const Known& in, size_t index,
                                                int64_t input_since, bool* known) {
  *known = true;
  if (node.opset() < input_since) return node.Ints("axes");
  if (index >= in.size() || in[index] == nullptr) return std::nullopt;
  const auto axes = LiteralInts(in[index]);
  *known = axes.has_value();
  return axes;
}

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

}  // namespace deuteron::onnx
