#include "deuteron/frontend/onnx/index_box.h"

#include <algorithm>
#include <string>
#include <utility>

#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/constant_data.h"

namespace deuteron::onnx {
namespace {

using relax::Expr;

/// A tensor whose element at i is begin + step * i[axis]; axis -1: all are `begin`.
struct Line {
  PrimExpr begin, step;
  int64_t axis = -1;
};

/// A constant of fewer elements that has been brought into a row is looked at.
constexpr size_t kMostElements = size_t{1} << 20;

class LineFinder {
 public:
  explicit LineFinder(const NodeContext& node) : node_(node) {}

  std::optional<Line> Of(const Expr& expr) const {
    if (const auto* constant = expr.as<relax::ConstantNode>()) return OfConstant(*constant, 0, 1);
    const Expr value = BoundTo(expr);
    const auto* call = value.defined() ? value.as<relax::CallNode>() : nullptr;
    if (call == nullptr || call->op->kind != RelaxKind::kOp) return std::nullopt;
    const std::string op = relax::OpName(GetRef<relax::Call>(call));
    if (op == "arange") return OfArange(*call);
    if (op == "astype") return Of(call->args[0]);
    if (op == "strided_slice") return OfSlice(*call);
    if (op == "broadcast_to") return OfBroadcast(expr, call->args[0]);
    if (op == "expand_dims" || op == "squeeze" || op == "reshape") return OfReshape(expr, call->args[0]);
    return std::nullopt;
  }

  /// Each of the elements that stand side by side along the last axis, as a tensor of the other axes.
  std::vector<std::optional<Line>> OfFields(const Expr& indices, int64_t count) const {
    std::vector<std::optional<Line>> fields;
    if (const auto* constant = indices.as<relax::ConstantNode>()) {
      for (int64_t i = 0; i < count; ++i) fields.push_back(OfConstant(*constant, i, count));
      return fields;
    }
    if (count == 1) return {Of(indices)};
    const Expr value = BoundTo(indices);
    const auto* call = value.defined() ? value.as<relax::CallNode>() : nullptr;
    if (call == nullptr || call->op->kind != RelaxKind::kOp) return {};
    if (relax::OpName(GetRef<relax::Call>(call)) != "concat") return {};
    const auto* tuple = call->args[0].as<relax::TupleNode>();
    if (tuple == nullptr) return {};
    const int64_t rank = node_.Rank(indices);
    for (const Expr& field : tuple->fields) {
      if (node_.Rank(field) != rank || !IsOne(node_.Shape(field).back())) return {};
      fields.push_back(Of(field));
    }
    return fields;
  }

 private:
  Expr BoundTo(const Expr& expr) const {
    const auto* var = expr.as<relax::VarNode>();
    return var == nullptr ? Expr() : node_.builder().LookupBinding(GetRef<relax::Var>(var));
  }
  bool AreEqual(const PrimExpr& a, const PrimExpr& b) const { return node_.analyzer().CanProveEqual(a, b); }

  /// Of the elements that come `first`, then every `apart`-th: the last axis is as long, or has one of them.
  std::optional<Line> OfConstant(const relax::ConstantNode& constant, int64_t first, int64_t apart) const {
    const DLDataType dtype = constant.data.dtype();
    if (dtype.code != kDLInt || (dtype.bits != 64 && dtype.bits != 32)) return std::nullopt;
    if (constant.data.numel() == 0 || static_cast<size_t>(constant.data.numel()) > kMostElements) return std::nullopt;
    const Tensor data = relax::CompactData(GetRef<relax::Constant>(&constant));
    const char* bytes = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
    const auto at = [&](int64_t i) {
      i = first + apart * i;
      return dtype.bits == 64 ? reinterpret_cast<const int64_t*>(bytes)[i] : reinterpret_cast<const int32_t*>(bytes)[i];
    };
    std::vector<int64_t> extents(data.shape().begin(), data.shape().end());
    if (apart != 1) extents.back() = 1;
    int64_t axis = -1, step = 0, inner = 1, after = 1;
    for (auto i = static_cast<int64_t>(extents.size()) - 1; i >= 0; --i) {
      if (extents[i] > 1 && at(inner) != at(0)) {
        if (axis >= 0) return std::nullopt;
        axis = i;
        if (__builtin_sub_overflow(at(inner), at(0), &step)) return std::nullopt;
        after = inner;
      }
      inner *= extents[i];
    }
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t position = axis < 0 ? 0 : i / after % extents[axis];
      int64_t expected = 0;
      if (__builtin_mul_overflow(step, position, &expected) || __builtin_add_overflow(at(0), expected, &expected) ||
          at(i) != expected) {
        return std::nullopt;
      }
    }
    return Line{I64(at(0)), I64(step), axis};
  }

  std::optional<Line> OfArange(const relax::CallNode& call) const {
    const auto number = [&](int64_t i) {
      const auto* value = call.args[i].as<relax::PrimValueNode>();
      return value == nullptr || !value->value.dtype().is_int() ? PrimExpr() : CastTo(DataType::Int(64), value->value);
    };
    if (call.args.size() != 3 || !number(0).defined() || !number(2).defined()) return std::nullopt;
    return Line{number(0), number(2), 0};
  }

  std::optional<Line> OfSlice(const relax::CallNode& call) const {
    auto line = Of(call.args[0]);
    if (!line || line->axis < 0) return line;
    const auto number = [&](int64_t which, size_t i) {
      const auto* tuple = call.args[which].as<relax::TupleNode>();
      const auto* value =
          tuple == nullptr ? nullptr : tuple->fields[static_cast<int64_t>(i)].as<relax::PrimValueNode>();
      return value == nullptr ? PrimExpr() : CastTo(DataType::Int(64), value->value);
    };
    const auto* axes = call.args[1].as<relax::TupleNode>();
    if (axes == nullptr || call.args.size() != 5) return std::nullopt;
    for (size_t i = 0; i < axes->fields.size(); ++i) {
      const PrimExpr axis = number(1, i), begin = number(2, i), step = number(4, i);
      if (!axis.defined() || !begin.defined() || !step.defined()) return std::nullopt;
      if (AsConstInt(axis) != line->axis) continue;
      if (!node_.analyzer().CanProve(begin >= 0) || !node_.analyzer().CanProve(step >= 1)) return std::nullopt;
      line->begin = line->begin + begin * line->step;
      line->step = line->step * step;
    }
    return line;
  }

  std::optional<Line> OfBroadcast(const Expr& to, const Expr& from) const {
    auto line = Of(from);
    if (!line || line->axis < 0) return line;
    const Array<PrimExpr> before = node_.Shape(from), after = node_.Shape(to);
    const int64_t axis = line->axis + static_cast<int64_t>(after.size() - before.size());
    if (!AreEqual(before[line->axis], after[axis])) return std::nullopt;
    line->axis = axis;
    return line;
  }

  /// Of what axes of length 1 have come to, or left.
  std::optional<Line> OfReshape(const Expr& to, const Expr& from) const {
    auto line = Of(from);
    if (!line || line->axis < 0) return line;
    const std::vector<int64_t> before = LongAxes(from), after = LongAxes(to);
    if (before.size() != after.size()) return std::nullopt;
    const Array<PrimExpr> old_shape = node_.Shape(from), new_shape = node_.Shape(to);
    std::optional<int64_t> axis;
    for (size_t i = 0; i < before.size(); ++i) {
      if (!AreEqual(old_shape[before[i]], new_shape[after[i]])) return std::nullopt;
      if (before[i] == line->axis) axis = after[i];
    }
    if (!axis) return std::nullopt;
    line->axis = *axis;
    return line;
  }

  std::vector<int64_t> LongAxes(const Expr& expr) const {
    const Array<PrimExpr> shape = node_.Shape(expr);
    std::vector<int64_t> axes;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!IsOne(shape[static_cast<int64_t>(i)])) axes.push_back(static_cast<int64_t>(i));
    }
    return axes;
  }

  const NodeContext& node_;
};

/// `count` positions of the line, from the end where they are negative, if all are of an axis of length `extent`.
std::optional<IndexRange> RangeWithin(const NodeContext& node, const Line& line, const PrimExpr& count,
                                      const PrimExpr& extent) {
  arith::Analyzer& analyzer = node.analyzer();
  const PrimExpr step = line.axis < 0 ? I64(1) : line.step;
  const PrimExpr last = line.begin + (count - 1) * step;
  if (!analyzer.CanProve(step >= 1)) return std::nullopt;
  if (analyzer.CanProve(line.begin >= 0) && analyzer.CanProve(last < extent)) {
    return IndexRange{node.Simplify(line.begin), node.Simplify(step), count};
  }
  if (analyzer.CanProve(line.begin >= -extent) && analyzer.CanProve(last < 0)) {
    return IndexRange{node.Simplify(line.begin + extent), node.Simplify(step), count};
  }
  return std::nullopt;
}

bool IsWhole(const NodeContext& node, const IndexRange& range, const PrimExpr& extent) {
  return IsOne(range.step) && node.analyzer().CanProveEqual(range.count, extent);
}

}  // namespace

std::optional<std::vector<IndexRange>> BoxOf(const NodeContext& node, const Expr& indices,
                                             const Array<PrimExpr>& shape) {
  const Array<PrimExpr> dims = node.Shape(indices);
  const auto count = dims.empty() ? std::nullopt : AsConstInt(dims.back());
  if (!count || *count < 1 || *count > static_cast<int64_t>(shape.size())) return std::nullopt;
  const std::vector<std::optional<Line>> lines = LineFinder(node).OfFields(indices, *count);
  if (static_cast<int64_t>(lines.size()) != *count) return std::nullopt;
  std::vector<IndexRange> box;
  int64_t next = 0;
  const auto has_skipped = [&](int64_t end) {
    for (; next < end; ++next) {
      if (!IsOne(dims[next])) return true;
    }
    return false;
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i]) return std::nullopt;
    const Line& line = *lines[i];
    if (line.axis >= 0) {
      if (line.axis < next || has_skipped(line.axis)) return std::nullopt;
      ++next;
    }
    const PrimExpr extent = shape[static_cast<int64_t>(i)];
    const auto range = RangeWithin(node, line, line.axis < 0 ? I64(1) : dims[line.axis], extent);
    if (!range) return std::nullopt;
    box.push_back(*range);
  }
  if (has_skipped(static_cast<int64_t>(dims.size()) - 1)) return std::nullopt;
  return box;
}

std::optional<IndexRange> RangeAlong(const NodeContext& node, const Expr& indices, int64_t axis,
                                     const PrimExpr& extent) {
  const auto line = LineFinder(node).Of(indices);
  const PrimExpr count = node.Shape(indices)[axis];
  const bool is_along = line && (line->axis == axis || (line->axis < 0 && IsOne(count)));
  if (!is_along) return std::nullopt;
  return RangeWithin(node, *line, count, extent);
}

Expr AssignBox(const NodeContext& node, const Expr& x, const std::vector<IndexRange>& box, const Expr& updates) {
  const Array<PrimExpr> shape = node.Shape(x);
  Array<PrimExpr> filled = shape;
  std::vector<int64_t> cut;
  for (size_t i = 0; i < box.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    filled.Set(axis, box[i].count);
    if (!IsWhole(node, box[i], shape[axis])) cut.push_back(axis);
  }
  const auto end_of = [](const IndexRange& range) { return range.begin + (range.count - 1) * range.step + 1; };
  // What the box leaves of an axis, of the slices along the axes before it.
  std::vector<Expr> around = {x};
  for (size_t i = 0; i + 1 < cut.size(); ++i) {
    const IndexRange& range = box[cut[i]];
    around.push_back(node.Emit(
        relax::StridedSlice(around.back(), {cut[i]}, {range.begin}, {node.Simplify(end_of(range))}, {range.step})));
  }
  Expr result = node.Reshaped(updates, filled);
  for (size_t i = cut.size(); i-- > 0;) {
    const IndexRange& range = box[cut[i]];
    result = node.Emit(
        relax::SliceScatter(around[i], result, range.begin, node.Simplify(end_of(range)), range.step, cut[i]));
  }
  return result;
}

}  // namespace deuteron::onnx
