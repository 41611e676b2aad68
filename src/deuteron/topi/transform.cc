#include "deuteron/topi/transform.h"

#include <algorithm>
#include <functional>

#include "deuteron/arith/analyzer.h"
#include "deuteron/topi/elementwise.h"

namespace deuteron::topi {
namespace {

bool IsAmong(size_t axis, const std::vector<size_t>& axes) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// So many conditions follow one another.
constexpr size_t kChain = 16;

/// The element of the last of the parts [begin, end) that the index has reached; those of many are found by halves, so
/// that the expression nests as deep as the logarithm of their number.
PrimExpr Chosen(size_t begin, size_t end, const std::function<PrimExpr(size_t)>& reached,
                const std::function<PrimExpr(size_t)>& element) {
  if (end - begin > kChain) {
    const size_t middle = begin + (end - begin) / 2;
    return IfThenElse(reached(middle), Chosen(middle, end, reached, element), Chosen(begin, middle, reached, element));
  }
  PrimExpr value = element(begin);
  for (size_t i = begin + 1; i < end; ++i) value = IfThenElse(reached(i), element(i), value);
  return value;
}

}  // namespace

te::Tensor Transpose(const te::Tensor& x, const std::vector<size_t>& axes) {
  Array<PrimExpr> shape;
  for (size_t axis : axes) shape.push_back(x.shape()[axis]);
  return ComputeAx(shape, "T_transpose", [&](const Array<tir::Var>& vars) {
    std::vector<PrimExpr> indices(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) indices[axes[i]] = vars[i];
    return x({indices.begin(), indices.end()});
  });
}

te::Tensor DynamicTranspose(const te::Tensor& x, const Array<PrimExpr>& order, const Array<PrimExpr>& shape) {
  return ComputeAx(shape, "T_transpose", [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices;
    for (int64_t axis = 0; axis < static_cast<int64_t>(vars.size()); ++axis) {
      PrimExpr index = vars.back();
      for (auto i = static_cast<int64_t>(vars.size()) - 2; i >= 0; --i) {
        index = SelectExpr(Equal(order[i], I64(axis)), vars[i], index);
      }
      // It is inside where `shape` is that of `x` in this order; whatever it is, nothing else is read.
      indices.push_back(Min(index, x.shape()[axis] - 1));
    }
    return x(indices);
  });
}

te::Tensor ExpandDims(const te::Tensor& x, const std::vector<size_t>& axes) {
  Array<PrimExpr> shape;
  const size_t rank = x.shape().size() + axes.size();
  for (size_t i = 0, next = 0; i < rank; ++i) shape.push_back(IsAmong(i, axes) ? I64(1) : x.shape()[next++]);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> indices;
        for (size_t i = 0; i < rank; ++i) {
          if (!IsAmong(i, axes)) indices.push_back(vars[i]);
        }
        return x(indices);
      },
      "expand_dims");
}

te::Tensor Squeeze(const te::Tensor& x, const std::vector<size_t>& axes) {
  Array<PrimExpr> shape;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (!IsAmong(i, axes)) shape.push_back(x.shape()[i]);
  }
  return ComputeAx(shape, "T_squeeze", [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices;
    for (size_t i = 0, next = 0; i < x.shape().size(); ++i) {
      indices.push_back(IsAmong(i, axes) ? I64(0) : PrimExpr(vars[next++]));
    }
    return x(indices);
  });
}

te::Tensor BroadcastTo(const te::Tensor& x, const Array<PrimExpr>& shape) {
  arith::Analyzer analyzer;
  const size_t skipped = shape.size() - x.shape().size();
  return ComputeAx(shape, "T_broadcast_to", [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices;
    for (size_t i = 0; i < x.shape().size(); ++i) {
      const PrimExpr& source = x.shape()[i];
      const PrimExpr& target = shape[skipped + i];
      const tir::Var& var = vars[skipped + i];
      if (AsConstInt(source) || analyzer.CanProveEqual(source, target)) {
        indices.push_back(IsOne(source) && !IsOne(target) ? I64(0) : PrimExpr(var));
      } else {
        // It may be 1 at run time.
        indices.push_back(SelectExpr(Equal(source, I64(1)), I64(0), var));
      }
    }
    return x(indices);
  });
}

te::Tensor Concat(const Array<te::Tensor>& tensors, size_t axis) {
  arith::Analyzer analyzer;
  std::vector<PrimExpr> offsets;
  PrimExpr extent = I64(0);
  for (const te::Tensor& tensor : tensors) {
    offsets.push_back(extent);
    extent = analyzer.Simplify(extent + tensor.shape()[axis]);
  }
  std::vector<size_t> parts;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!IsZero(tensors[i].shape()[axis])) parts.push_back(i);
  }
  return ComputeAx(WithAxis(tensors[0].shape(), axis, extent), "T_concat", [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> indices = Indices(vars);
    if (parts.empty()) return tensors[0](indices);
    return Chosen(
        0, parts.size(), [&](size_t i) { return offsets[parts[i]] <= indices[axis]; },
        [&](size_t i) { return tensors[parts[i]](WithAxis(indices, axis, indices[axis] - offsets[parts[i]])); });
  });
}

te::Tensor Stack(const Array<te::Tensor>& tensors, size_t axis) {
  Array<PrimExpr> shape = tensors[0].shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), I64(static_cast<int64_t>(tensors.size())));
  return ComputeAx(shape, "T_stack", [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices = Indices(vars);
    indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(axis));
    if (tensors.size() > kChain) {
      return Chosen(
          0, tensors.size(), [&](size_t i) { return static_cast<int64_t>(i) <= vars[axis]; },
          [&](size_t i) { return tensors[i](indices); });
    }
    PrimExpr value = tensors[0](indices);
    for (size_t i = 1; i < tensors.size(); ++i) {
      value = IfThenElse(Equal(vars[axis], static_cast<int64_t>(i)), tensors[i](indices), value);
    }
    return value;
  });
}

Array<te::Tensor> Split(const te::Tensor& x, const std::vector<PrimExpr>& begins, const std::vector<PrimExpr>& extents,
                        size_t axis, const std::string& name) {
  Array<te::Tensor> pieces;
  for (size_t i = 0; i < begins.size(); ++i) {
    pieces.push_back(ComputeAx(WithAxis(x.shape(), axis, extents[i]), name, [&](const Array<tir::Var>& vars) {
      return x(WithAxis(Indices(vars), axis, vars[axis] + begins[i]));
    }));
  }
  return pieces;
}

te::Tensor Tile(const te::Tensor& x, const std::vector<int64_t>& repeats) {
  const size_t rank = std::max(x.shape().size(), repeats.size());
  const size_t x_skip = rank - x.shape().size();
  const size_t repeat_skip = rank - repeats.size();
  arith::Analyzer analyzer;
  Array<PrimExpr> shape;
  for (size_t i = 0; i < rank; ++i) {
    const PrimExpr extent = i < x_skip ? I64(1) : x.shape()[i - x_skip];
    shape.push_back(i < repeat_skip ? extent : analyzer.Simplify(extent * repeats[i - repeat_skip]));
  }
  return ComputeAx(shape, "T_tile", [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices;
    for (size_t i = x_skip; i < rank; ++i) {
      const PrimExpr& extent = x.shape()[i - x_skip];
      const bool once = i < repeat_skip || repeats[i - repeat_skip] == 1;
      indices.push_back(once ? PrimExpr(vars[i]) : IsOne(extent) ? I64(0) : FloorMod(vars[i], extent));
    }
    return x(indices);
  });
}

te::Tensor Repeat(const te::Tensor& x, int64_t repeats, size_t axis) {
  const PrimExpr extent = arith::Analyzer().Simplify(x.shape()[axis] * repeats);
  return ComputeAx(WithAxis(x.shape(), axis, extent), "T_repeat", [&](const Array<tir::Var>& vars) {
    // Repeated no times there is none whose index could be divided.
    return x(WithAxis(Indices(vars), axis, FloorDiv(vars[axis], std::max<int64_t>(repeats, 1))));
  });
}

te::Tensor Flip(const te::Tensor& x, size_t axis) {
  return ComputeAx(x.shape(), "T_reverse_sequence", [&](const Array<tir::Var>& vars) {
    return x(WithAxis(Indices(vars), axis, x.shape()[axis] - 1 - vars[axis]));
  });
}

te::Tensor StridedSlice(const te::Tensor& x, const std::vector<PrimExpr>& begins, const std::vector<int64_t>& strides,
                        const Array<PrimExpr>& shape, const std::string& name) {
  return ComputeAx(shape, name, [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices;
    for (size_t i = 0; i < vars.size(); ++i) indices.push_back(vars[i] * strides[i] + begins[i]);
    return x(indices);
  });
}

te::Tensor Leading(const te::Tensor& x, size_t axis, const PrimExpr& extent) {
  if (ExprEqual(x.shape()[static_cast<int64_t>(axis)], extent)) return x;
  Array<PrimExpr> shape = x.shape();
  shape.Set(static_cast<int64_t>(axis), extent);
  return StridedSlice(x, std::vector<PrimExpr>(shape.size(), I64(0)), std::vector<int64_t>(shape.size(), 1), shape,
                      std::string(x->op->name) + "_leading");
}

te::Tensor CollapseSum(const te::Tensor& x, const Array<PrimExpr>& shape) {
  const size_t skip = x.shape().size() - shape.size();
  Array<tir::IterVar> axes;
  std::vector<bool> is_reduced(x.shape().size());
  for (size_t i = 0; i < x.shape().size(); ++i) {
    is_reduced[i] = i < skip || (IsOne(shape[i - skip]) && !IsOne(x.shape()[i]));
    if (is_reduced[i]) axes.push_back(te::ReduceAxis(x.shape()[i], "k" + std::to_string(i)));
  }
  return ComputeAx(shape, std::string(x->op->name) + "_red", [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices;
    size_t next = 0;
    for (size_t i = 0; i < x.shape().size(); ++i) {
      indices.push_back(is_reduced[i] ? axes[next++]->var : vars[i - skip]);
    }
    return axes.empty() ? x(indices) : te::Sum(x(indices), axes);
  });
}

Array<te::Tensor> Meshgrid(const Array<te::Tensor>& vectors, bool exchange_first_two) {
  std::vector<size_t> axis_of(vectors.size());
  for (size_t i = 0; i < vectors.size(); ++i) axis_of[i] = i;
  if (exchange_first_two && vectors.size() >= 2) std::swap(axis_of[0], axis_of[1]);
  std::vector<PrimExpr> extents(vectors.size());
  for (size_t i = 0; i < vectors.size(); ++i) {
    extents[axis_of[i]] = vectors[i].ndim() == 0 ? I64(1) : vectors[i].shape()[0];
  }
  const Array<PrimExpr> shape(extents.begin(), extents.end());
  Array<te::Tensor> grids;
  for (size_t i = 0; i < vectors.size(); ++i) {
    grids.push_back(ComputeAx(shape, "T_meshgrid", [&](const Array<tir::Var>& vars) {
      return vectors[i].ndim() == 0 ? vectors[i]({}) : vectors[i]({vars[axis_of[i]]});
    }));
  }
  return grids;
}

te::Tensor Full(const Array<PrimExpr>& shape, const PrimExpr& value) {
  return ComputeAx(shape, "T_full", [&](const Array<tir::Var>&) { return value; });
}

te::Tensor Trilu(const te::Tensor& x, const PrimExpr& k, bool upper) {
  return te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        const PrimExpr diagonal = vars[vars.size() - 2] + CastTo(DataType::Int(64), k);
        const PrimExpr column = vars.back();
        return SelectExpr(upper ? diagonal <= column : column <= diagonal, x(Indices(vars)), MakeConst(x.dtype(), 0));
      },
      "trilu");
}

}  // namespace deuteron::topi
