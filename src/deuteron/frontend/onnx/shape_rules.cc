#include "deuteron/frontend/onnx/shape_rules.h"

#include <algorithm>
#include <numeric>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {
namespace {

/// The factors of a product.
void AddFactors(const PrimExpr& expr, std::vector<PrimExpr>* factors) {
  std::vector<PrimExpr> work = {expr};
  while (!work.empty()) {
    const PrimExpr top = work.back();
    work.pop_back();
    if (top->kind == ExprKind::kMul) {
      const auto* product = static_cast<const tir::BinaryNode*>(top.get());
      work.push_back(product->b);
      work.push_back(product->a);
    } else {
      factors->push_back(top);
    }
  }
}

/// Takes the literals out of `factors` and returns their product; nothing if it overflows.
std::optional<int64_t> TakeLiterals(std::vector<PrimExpr>* factors) {
  int64_t product = 1;
  std::vector<PrimExpr> rest;
  for (const PrimExpr& factor : *factors) {
    if (const auto value = AsConstInt(factor)) {
      if (__builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    } else {
      rest.push_back(factor);
    }
  }
  *factors = std::move(rest);
  return product;
}

PrimExpr ProductOf(const std::vector<PrimExpr>& factors, int64_t literal) {
  PrimExpr product = I64(literal);
  for (const PrimExpr& factor : factors) product = factor * product;
  return product;
}

/// Of two dimensions that follow from one symbol, and are equal unless that is 0, the one that is less then; else null.
/// (n - 1) / 2 + 1 that rounds towards 0, and (n + 1) / 2 that rounds down, are such: the sizes of half an image.
PrimExpr LessWhereEmpty(const PrimExpr& a, const PrimExpr& b) {
  const std::vector<tir::Var> symbols = FreeVars(a), others = FreeVars(b);
  if (symbols.size() != 1 || others.size() != 1 || !others[0].same_as(symbols[0])) return PrimExpr();
  arith::Analyzer analyzer;
  const tir::Var rest(symbols[0]->name_hint, symbols[0].dtype());
  analyzer.MarkNonNegative(rest);
  const auto with = [&](const PrimExpr& dim, const PrimExpr& value) {
    return analyzer.Simplify(Substitute(dim, ExprVarMap{{symbols[0], value}}));
  };
  if (!analyzer.CanProveEqual(with(a, rest + 1), with(b, rest + 1))) return PrimExpr();
  const auto empty_a = AsConstInt(with(a, MakeConst(rest.dtype(), 0)));
  const auto empty_b = AsConstInt(with(b, MakeConst(rest.dtype(), 0)));
  if (!empty_a || !empty_b) return PrimExpr();
  return *empty_a < *empty_b ? a : b;
}

/// Of two dimensions of which one is the other cut off at a number above 1 (a slice of a table), and which are equal
/// wherever they can be broadcast, the other; else null.
PrimExpr WithoutCut(const NodeContext& node, const PrimExpr& a, const PrimExpr& b) {
  const auto is_cut = [&](const PrimExpr& dim, const PrimExpr& whole) {
    if (dim->kind != ExprKind::kMin) return false;
    const auto* op = static_cast<const tir::BinaryNode*>(dim.get());
    const auto is_of = [&](const PrimExpr& part, const PrimExpr& most) {
      return AsConstInt(most).value_or(0) > 1 && node.analyzer().CanProveEqual(part, whole);
    };
    return is_of(op->a, op->b) || is_of(op->b, op->a);
  };
  if (is_cut(a, b)) return b;
  return is_cut(b, a) ? a : PrimExpr();
}

/// The dimensions that JointDim has made `dim` of.
void AddJoined(const PrimExpr& dim, std::vector<PrimExpr>* dims) {
  if (const auto* op = dim.as<tir::SelectNode>(); op != nullptr && op->condition->kind == ExprKind::kEQ) {
    const auto* equal = static_cast<const tir::BinaryNode*>(op->condition.get());
    if (IsOne(equal->b) && ExprEqual(equal->a, op->false_value)) {
      AddJoined(op->true_value, dims);
      AddJoined(op->false_value, dims);
      return;
    }
  }
  dims->push_back(dim);
}

/// Whether `dim` is what `other` and more are broadcast to: then it is what both are.
bool Joins(const PrimExpr& dim, const PrimExpr& other) {
  std::vector<PrimExpr> dims, others;
  AddJoined(dim, &dims);
  AddJoined(other, &others);
  return std::all_of(others.begin(), others.end(), [&](const PrimExpr& one) {
    return std::any_of(dims.begin(), dims.end(), [&](const PrimExpr& own) { return ExprEqual(own, one); });
  });
}

/// What two dimensions are broadcast to: of a number other than 1 and a symbolic dimension, which has to be that number
/// or 1, the number; of two symbolic ones that may differ that which is not 1. Null where both are numbers and differ.
/// However often dimensions are joined with each other, the expression has each of them once or twice.
PrimExpr JointDim(const NodeContext& node, const PrimExpr& a, const PrimExpr& b) {
  if (IsOne(a)) return b;
  if (IsOne(b) || node.analyzer().CanProveEqual(a, b)) return a;
  const bool a_is_number = AsConstInt(a).has_value();
  const bool b_is_number = AsConstInt(b).has_value();
  if (a_is_number != b_is_number) return a_is_number ? a : b;
  if (a_is_number) return PrimExpr();
  if (const PrimExpr less = LessWhereEmpty(a, b); less.defined()) return less;
  if (const PrimExpr whole = WithoutCut(node, a, b); whole.defined()) return whole;
  if (Joins(a, b)) return a;
  return Joins(b, a) ? b : SelectExpr(Equal(b, I64(1)), a, b);
}

/// An operand of which dimensions that must be those of `joint`, the last ones of its own, are said to be.
relax::Expr WithoutCuts(const NodeContext& node, const relax::Expr& operand, size_t axes,
                        const std::vector<PrimExpr>& joint) {
  std::vector<PrimExpr> dims(node.Shape(operand).begin(), node.Shape(operand).end());
  for (size_t i = 0; i < axes; ++i) {
    const PrimExpr& dim = joint[joint.size() - axes + i];
    if (AsConstInt(dims[i]) || AsConstInt(dim) || node.analyzer().CanProveEqual(dims[i], dim)) continue;
    if (WithoutCut(node, dims[i], dim).same_as(dim)) dims[i] = dim;
  }
  return node.WithShape(operand, {dims.begin(), dims.end()});
}

}  // namespace

PrimExpr DivideProducts(const NodeContext& node, std::vector<PrimExpr> numerator, std::vector<PrimExpr> denominator) {
  std::vector<PrimExpr> above;
  std::vector<PrimExpr> below;
  for (const PrimExpr& factor : numerator) AddFactors(factor, &above);
  for (const PrimExpr& factor : denominator) AddFactors(factor, &below);
  const auto top = TakeLiterals(&above);
  const auto bottom = TakeLiterals(&below);
  if (!top || !bottom) node.Fail("the product of the dimensions overflows");
  for (auto it = below.begin(); it != below.end();) {
    const auto match = std::find_if(above.begin(), above.end(), [&](const PrimExpr& factor) {
      return factor.same_as(*it) || node.analyzer().CanProveEqual(factor, *it);
    });
    if (match == above.end()) {
      ++it;
    } else {
      above.erase(match);
      it = below.erase(it);
    }
  }
  if (*bottom == 0) return I64(0);
  const int64_t common = *top == 0 ? 1 : std::gcd(*top, *bottom);
  const PrimExpr rest_above = ProductOf(above, *top / common);
  const PrimExpr rest_below = ProductOf(below, *bottom / common);
  return node.Simplify(IsOne(rest_below) ? rest_above : FloorDiv(rest_above, rest_below));
}

Array<PrimExpr> ResolveReshape(const NodeContext& node, const Array<PrimExpr>& source, const Array<PrimExpr>& target,
                               bool keep_zero) {
  std::vector<PrimExpr> dims;
  std::vector<PrimExpr> known;
  int64_t inferred = -1;
  bool is_empty = false;
  for (size_t i = 0; i < target.size(); ++i) {
    const auto value = AsConstInt(target[i]);
    if (value && *value == -1) {
      if (inferred >= 0) node.Fail("the shape " + relax::Describe(target) + " has two dimensions of -1");
      inferred = static_cast<int64_t>(i);
      dims.emplace_back();
      continue;
    }
    if (value && *value < -1) node.Fail("the shape " + relax::Describe(target) + " has a negative dimension");
    PrimExpr dim = target[i];
    if (value && *value == 0 && !keep_zero) {
      if (i >= source.size()) {
        node.Fail("dimension " + std::to_string(i) + " of the shape " + relax::Describe(target) +
                  " is 0 (as the input's) and the input " + relax::Describe(source) + " has none there");
      }
      dim = source[i];
    }
    is_empty = is_empty || (value && *value == 0 && keep_zero);
    dims.push_back(dim);
    known.push_back(dim);
  }
  const std::vector<PrimExpr> all(source.begin(), source.end());
  if (inferred >= 0 && is_empty) node.Fail("the shape " + relax::Describe(target) + " has both 0 and -1");
  if (inferred >= 0) {
    dims[inferred] = DivideProducts(node, all, known);
    known.push_back(dims[inferred]);
  }
  const Array<PrimExpr> result(dims.begin(), dims.end());
  const auto before = AsConstInt(node.Product(source, 0, static_cast<int64_t>(source.size())));
  const auto after = AsConstInt(node.Product(result, 0, static_cast<int64_t>(result.size())));
  if (before && after && *before != *after) {
    node.Fail("a tensor of shape " + relax::Describe(source) + " cannot be reshaped to " + relax::Describe(target));
  }
  return result;
}

Array<PrimExpr> BroadcastDims(const NodeContext& node, const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
  const size_t rank = std::max(a.size(), b.size());
  std::vector<PrimExpr> dims(rank, I64(1));
  for (size_t i = 1; i <= rank; ++i) {
    const PrimExpr da = i <= a.size() ? a[a.size() - i] : I64(1);
    const PrimExpr db = i <= b.size() ? b[b.size() - i] : I64(1);
    dims[rank - i] = JointDim(node, da, db);
    if (!dims[rank - i].defined()) {
      node.Fail("the shapes " + relax::Describe(a) + " and " + relax::Describe(b) + " cannot be broadcast");
    }
  }
  return {dims.begin(), dims.end()};
}

relax::Expr WithDim(const NodeContext& node, const relax::Expr& x, int64_t axis, const PrimExpr& dim) {
  Array<PrimExpr> shape = node.Shape(x);
  if (AsConstInt(shape[axis]) && AsConstInt(dim)) return x;
  shape.Set(axis, dim);
  return node.WithShape(x, shape);
}

std::vector<relax::Expr> BroadcastOperands(const NodeContext& node, std::vector<relax::Expr> operands, size_t kept) {
  std::vector<Array<PrimExpr>> shapes;  // of what is broadcast
  size_t rank = 0;
  for (const relax::Expr& operand : operands) {
    const auto* type = operand.ty().as<TensorTypeNode>();
    if (type == nullptr || !type->shape.has_value()) return operands;
    const size_t axes = type->shape.value().size() - std::min(kept, type->shape.value().size());
    shapes.emplace_back(type->shape.value().begin(), type->shape.value().begin() + static_cast<int64_t>(axes));
    rank = std::max(rank, axes);
  }
  std::vector<PrimExpr> joint(rank, I64(1));
  for (const Array<PrimExpr>& shape : shapes) {
    for (size_t i = 0; i < shape.size(); ++i) {
      PrimExpr& dim = joint[rank - shape.size() + i];
      dim = JointDim(node, dim, shape[i]);
      // Numbers that differ are for the operator to refuse.
      if (!dim.defined()) return operands;
    }
  }
  for (size_t n = 0; n < operands.size(); ++n) {
    operands[n] = WithoutCuts(node, operands[n], shapes[n].size(), joint);
    const Array<PrimExpr> own = node.Shape(operands[n]);
    const Array<PrimExpr> shape(own.begin(), own.begin() + static_cast<int64_t>(shapes[n].size()));
    bool fits = true;
    for (size_t i = 0; i < shape.size(); ++i) {
      fits &= IsOne(shape[i]) || node.analyzer().CanProveEqual(shape[i], joint[rank - shape.size() + i]);
    }
    if (fits) continue;
    Array<PrimExpr> stretched(joint.begin(), joint.end());
    for (size_t i = shape.size(); i < own.size(); ++i) stretched.push_back(own[static_cast<int64_t>(i)]);
    operands[n] = node.Emit(relax::BroadcastTo(operands[n], stretched));
  }
  return operands;
}

relax::Expr SumOf(const NodeContext& node, const relax::Expr& a, const relax::Expr& b) {
  const std::vector<relax::Expr> operands = BroadcastOperands(node, {a, b});
  return node.Emit(relax::Add(operands[0], operands[1]));
}

relax::Expr MatrixProduct(const NodeContext& node, const relax::Expr& a, const relax::Expr& b) {
  const std::vector<relax::Expr> operands = BroadcastOperands(node, {a, b}, 2);
  return node.Emit(relax::Matmul(operands[0], operands[1]));
}

relax::Expr ProductOf(const NodeContext& node, const relax::Expr& a, const relax::Expr& b) {
  const std::vector<relax::Expr> operands = BroadcastOperands(node, {a, b});
  return node.Emit(relax::Multiply(operands[0], operands[1]));
}

}  // namespace deuteron::onnx
