/// \file
/// Scatters: a copy, then updates in row-major order, so that the last of several to one element wins.
#include "deuteron/ir/expr_functor.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"
#include "deuteron/topi/lines.h"
#include "deuteron/topi/reduction.h"

namespace deuteron::topi {
namespace {

using tir::Buffer;
using tir::BufferLoad;
using tir::BufferStore;
using tir::For;
using tir::ForKind;
using tir::Stmt;
using tir::Var;

PrimExpr Combine(const std::string& reduction, const PrimExpr& old_value, const PrimExpr& update) {
  if (reduction == "update") return update;
  if (reduction == "add" || reduction == "mean") return old_value + update;
  if (reduction == "mul") return old_value * update;
  if (reduction == "min") return Min(old_value, update);
  if (reduction == "max") return Max(old_value, update);
  DEUTERON_THROW(UnsupportedError) << "scatter: unknown reduction \"" << reduction << "\"";
}

/// Serial loops around `body(indices)`.
Stmt Loops(const Array<PrimExpr>& extents, const std::function<Stmt(const Array<PrimExpr>&)>& body) {
  std::vector<Var> vars;
  Array<PrimExpr> indices;
  for (size_t i = 0; i < extents.size(); ++i) {
    vars.emplace_back("j" + std::to_string(i));
    indices.push_back(vars.back());
  }
  Stmt nest = body(indices);
  for (size_t i = extents.size(); i-- > 0;) nest = For(vars[i], I64(0), extents[i], ForKind::kSerial, nest);
  return nest;
}

}  // namespace

te::Tensor ScatterElements(const te::Tensor& x, const te::Tensor& indices, const te::Tensor& updates, size_t axis,
                           const std::string& reduction) {
  const Lines lines(x.shape(), axis);
  const PrimExpr extent = x.shape()[axis];
  const Array<PrimExpr> index_shape = indices.shape();
  const bool is_mean = reduction == "mean";
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const auto loop = [&](const PrimExpr& count, const std::function<Stmt(const PrimExpr&)>& step) {
      const Var k("k");
      return For(k, I64(0), count, ForKind::kSerial, step(k));
    };
    Array<Stmt> steps;
    steps.push_back(loop(extent, [&](const PrimExpr& k) {
      return lines.ForVectors(iterators, [&](const Lines::At& at) {
        const Stmt copy = BufferStore(outputs[0], BufferLoad(inputs[0], at(k)), at(k));
        if (!is_mean) return copy;
        return tir::SeqStmt::Flatten({copy, BufferStore(outputs[1], I64(1), at(k))});
      });
    }));
    steps.push_back(loop(index_shape[axis], [&](const PrimExpr& k) {
      return lines.ForEach(iterators, [&](const Lines::At& at) {
        const Array<PrimExpr> source = at(k);
        const Array<PrimExpr> target = at(FromEnd(BufferLoad(inputs[1], source), extent));
        const PrimExpr value = Combine(reduction, BufferLoad(outputs[0], target), BufferLoad(inputs[2], source));
        Stmt update = BufferStore(outputs[0], value, target);
        if (is_mean) {
          const Stmt count = BufferStore(outputs[1], BufferLoad(outputs[1], target) + 1, target);
          update = tir::SeqStmt::Flatten({update, count});
        }
        // `indices` may be smaller than `x` on the other axes.
        PrimExpr inside = True();
        for (size_t i = 0; i < source.size(); ++i) {
          if (i != axis && !ExprEqual(index_shape[i], x.shape()[i])) inside = inside && (source[i] < index_shape[i]);
        }
        return IsOne(inside) ? update : Stmt(tir::IfThenElse(inside, update));
      });
    }));
    if (is_mean) {
      steps.push_back(loop(extent, [&](const PrimExpr& k) {
        return lines.ForEach(iterators, [&](const Lines::At& at) {
          const PrimExpr sum = BufferLoad(outputs[0], at(k));
          const PrimExpr count = CastTo(sum.dtype(), BufferLoad(outputs[1], at(k)));
          return BufferStore(outputs[0], sum.dtype().is_float() ? sum / count : FloorDiv(sum, count), at(k));
        });
      }));
    }
    return te::ExternBlock{tir::SeqStmt::Flatten(steps), {}, {}};
  };
  std::vector<std::pair<Array<PrimExpr>, DataType>> outputs = {{x.shape(), x.dtype()}};
  if (is_mean) outputs.emplace_back(x.shape(), DataType::Int(64));
  return te::Extern("scatter_elements", {Materialized(x), Materialized(indices), Materialized(updates)}, outputs,
                    lines.spatial(), body)[0];
}

te::Tensor ScatterND(const te::Tensor& x, const te::Tensor& indices, const te::Tensor& updates,
                     const std::string& reduction) {
  const size_t tuple_axis = indices.shape().size() - 1;
  const auto depth = static_cast<size_t>(*AsConstInt(indices.shape()[tuple_axis]));
  const Array<PrimExpr> shape = x.shape();
  const Array<PrimExpr> update_shape = updates.shape();
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>&) {
    const Stmt copy =
        Loops(shape, [&](const Array<PrimExpr>& at) { return BufferStore(outputs[0], BufferLoad(inputs[0], at), at); });
    const Stmt update = Loops(update_shape, [&](const Array<PrimExpr>& at) {
      Array<PrimExpr> target;
      for (size_t i = 0; i < depth; ++i) {
        Array<PrimExpr> tuple(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(tuple_axis));
        tuple.push_back(I64(static_cast<int64_t>(i)));
        target.push_back(FromEnd(BufferLoad(inputs[1], tuple), shape[i]));
      }
      for (size_t i = tuple_axis; i < at.size(); ++i) target.push_back(at[i]);
      return BufferStore(outputs[0], Combine(reduction, BufferLoad(outputs[0], target), BufferLoad(inputs[2], at)),
                         target);
    });
    return te::ExternBlock{tir::SeqStmt::Flatten({copy, update}), {}, {}};
  };
  return te::Extern("scatter_nd", {Materialized(x), Materialized(indices), Materialized(updates)},
                    {{x.shape(), x.dtype()}}, {I64(1)}, body)[0];
}

te::Tensor IndexPut(const te::Tensor& x, const Array<te::Tensor>& indices, const te::Tensor& values,
                    const Array<PrimExpr>& shape, bool accumulate) {
  Array<te::Tensor> inputs = {Materialized(x), Materialized(values)};
  for (const te::Tensor& index : indices) inputs.push_back(Materialized(index));
  const auto body = [=](const Array<Buffer>& buffers, const Array<Buffer>& outputs, const Array<Var>&) {
    /// The element that stands at `at` after broadcasting.
    const auto broadcast = [&](const Buffer& buffer, const Array<PrimExpr>& at) {
      Array<PrimExpr> source;
      const size_t missing = at.size() - buffer->shape.size();
      for (size_t i = 0; i < buffer->shape.size(); ++i) {
        source.push_back(IsOne(buffer->shape[i]) && !IsOne(shape[missing + i]) ? I64(0) : at[missing + i]);
      }
      return BufferLoad(buffer, source);
    };
    const Stmt copy = Loops(
        x.shape(), [&](const Array<PrimExpr>& at) { return BufferStore(outputs[0], BufferLoad(buffers[0], at), at); });
    const Stmt update = Loops(shape, [&](const Array<PrimExpr>& at) {
      Array<PrimExpr> target;
      for (size_t i = 0; i < indices.size(); ++i)
        target.push_back(FromEnd(broadcast(buffers[2 + i], at), x.shape()[i]));
      const PrimExpr value = broadcast(buffers[1], at);
      return BufferStore(outputs[0], accumulate ? BufferLoad(outputs[0], target) + value : value, target);
    });
    return te::ExternBlock{tir::SeqStmt::Flatten({copy, update}), {}, {}};
  };
  return te::Extern("index_put", inputs, {{x.shape(), x.dtype()}}, {I64(1)}, body)[0];
}

}  // namespace deuteron::topi
