#include <algorithm>
#include <functional>
#include <map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"
#include "deuteron/topi/transform.h"

namespace deuteron::topi {
namespace {

Array<PrimExpr> BatchDims(const te::Tensor& x) {
  const Array<PrimExpr>& shape = x.shape();
  if (shape.size() <= 2) return {};
  return {shape.begin(), shape.end() - 2};
}

/// The indices of the batch axes of an operand, from those of the result.
Array<PrimExpr> BatchIndices(const Array<PrimExpr>& operand, const Array<PrimExpr>& result,
                             const Array<tir::Var>& vars) {
  Array<PrimExpr> indices;
  const size_t skipped = result.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) {
    const bool stretched = IsOne(operand[i]) && !IsOne(result[skipped + i]);
    indices.push_back(stretched ? I64(0) : PrimExpr(vars[skipped + i]));
  }
  return indices;
}

/// Data (..., k) times a weight whose element at output column and k is `element`, before it is cast to the result's
/// type. `parts`: the axis along which the products of parts are summed, of which data have `depth` each (null: none).
te::Tensor Layer(const te::Tensor& given, const PrimExpr& columns, const PrimExpr& depth,
                 const std::function<PrimExpr(const tir::Var& column, const tir::Var& k)>& element, DataType out_dtype,
                 const char* name, const Packing& packing = "", const tir::IterVar& parts = tir::IterVar()) {
  const DataType accumulator = AccumulatorType(out_dtype);
  const te::Tensor data = packing.empty() ? Widened(given, accumulator) : given;
  Array<PrimExpr> shape(data.shape().begin(), data.shape().end() - 1);
  shape.push_back(columns);
  const tir::IterVar k = te::ReduceAxis(depth, "k");
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> index(vars.begin(), vars.end() - 1);
        index.push_back(parts.defined() ? PartOfData(parts) * depth + k->var : PrimExpr(k->var));
        const PrimExpr weight = element(vars[vars.size() - 1], k->var);
        const Array<tir::IterVar> axes = parts.defined() ? Array<tir::IterVar>{parts, k} : Array<tir::IterVar>{k};
        return te::Sum(PackedProduct(packing, data(index), weight, accumulator), axes);
      },
      name);
}

}  // namespace

te::Tensor Matmul(const te::Tensor& a, const te::Tensor& b, DataType out_dtype, const Packing& packing,
                  bool may_round) {
  const bool a_vector = a.ndim() == 1;
  const bool b_vector = b.ndim() == 1;
  const Array<PrimExpr> a_batch = BatchDims(a);
  const Array<PrimExpr> b_batch = BatchDims(b);
  Array<PrimExpr> shape = BroadcastShape(a_batch, b_batch);
  const Array<PrimExpr> batch = shape;
  if (!a_vector) shape.push_back(a.shape()[a.shape().size() - 2]);
  if (!b_vector) shape.push_back(b.shape()[b.shape().size() - 1]);
  const tir::IterVar k = te::ReduceAxis(a.shape()[a.shape().size() - 1], "k");
  const DataType accumulator = AccumulatorType(out_dtype);
  deuteron::Map<String, Any> attrs;
  if (may_round) attrs.Set(tir::kMayRound, true);
  const te::Tensor product = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> a_index = BatchIndices(a_batch, batch, vars);
        Array<PrimExpr> b_index = BatchIndices(b_batch, batch, vars);
        if (!a_vector) a_index.push_back(vars[batch.size()]);
        a_index.push_back(k->var);
        b_index.push_back(k->var);
        if (!b_vector) b_index.push_back(vars[vars.size() - 1]);
        return te::Sum(PackedProduct(packing, a(a_index), b(b_index), accumulator), {k});
      },
      packing.empty() ? "matmul" : "matmul_pack", attrs);
  return CastBack(product, out_dtype);
}

te::Tensor Dense(const te::Tensor& data, const te::Tensor& weight, DataType out_dtype) {
  const te::Tensor product = Layer(
      data, weight.shape()[0], weight.shape()[1],
      [&](const tir::Var& column, const tir::Var& k) {
        return weight({column, k});
      },
      out_dtype, "dense");
  return CastBack(product, out_dtype);
}

te::Tensor DensePack(const te::Tensor& data, const te::Tensor& weight, int64_t columns, const Packing& packing,
                     DataType out_dtype) {
  const PrimExpr block = weight.shape()[2];
  const bool has_parts = packing == kHalvesInParts;
  const tir::IterVar parts = has_parts ? ProductsOfParts() : tir::IterVar();
  const te::Tensor held = has_parts ? PartsOfWeight(weight, 1) : weight;
  const te::Tensor product = Layer(
      data, weight.shape()[0] * block, held.shape()[held.ndim() - 2],
      [&](const tir::Var& column, const tir::Var& k) {
        Array<PrimExpr> index = {FloorDiv(column, block), k, FloorMod(column, block)};
        if (has_parts) index.insert(index.begin(), PartOfWeight(parts));
        return held(index);
      },
      out_dtype, "dense_pack", packing, parts);
  return CastBack(Leading(product, product.ndim() - 1, I64(columns)), out_dtype);
}

te::Tensor DenseQuantized(const te::Tensor& data, const QuantizedWeight& weight, int64_t columns, DataType out_dtype) {
  const DataType wide = DataType::Float(32), integer = DataType::Int(32);
  const bool has_blocks = weight.scales.ndim() == 3;
  const Array<PrimExpr>& packed = weight.numbers.shape();
  const te::Tensor dequantized = te::Compute(
      {packed[0], I64(weight.depth), packed[2]},
      [&](const Array<tir::Var>& vars) {
        const PrimExpr k = vars[1];
        const auto at = [&](const te::Tensor& tensor, int64_t rows) {
          const PrimExpr row = FloorDiv(k, I64(rows));
          return tensor({vars[0], IsOne(tensor.shape()[1]) ? I64(0) : row, vars[2]});
        };
        PrimExpr number = CastTo(integer, at(weight.numbers, weight.has_halves ? 2 : 1));
        if (weight.has_halves) {
          const PrimExpr shift = CastTo(integer, FloorMod(k, I64(2)) * I64(4));
          number = CallIntrin("bitwise_and", {CallIntrin("shift_right", {number, shift}), MakeConst(integer, 15)});
        }
        PrimExpr value = CastTo(wide, number);
        if (weight.zeros.defined()) {
          const PrimExpr zero = at(weight.zeros, weight.rows);
          value = value - (weight.zeros.dtype().is_float() ? zero : CastTo(wide, CastTo(integer, zero)));
        } else if (weight.zero != 0) {
          value = value - MakeConst(wide, weight.zero);
        }
        return has_blocks ? value * CastTo(wide, at(weight.scales, weight.rows)) : value;
      },
      "dequantized", {{tir::kDequantizedWeight, weight.rows}});
  const te::Tensor sums = DensePack(data, dequantized, columns, "", wide);
  if (has_blocks) return CastBack(sums, out_dtype);
  const te::Tensor scaled = te::Compute(
      sums.shape(),
      [&](const Array<tir::Var>& vars) {
        return sums(Array<PrimExpr>(vars.begin(), vars.end())) * CastTo(wide, weight.scales({vars[vars.size() - 1]}));
      },
      "scaled");
  return CastBack(scaled, out_dtype);
}

te::Tensor Einsum(const Array<te::Tensor>& operands, const std::vector<std::string>& terms, const std::string& output) {
  std::map<char, PrimExpr> extents;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t axis = 0; axis < terms[i].size(); ++axis) {
      const auto [it, inserted] = extents.try_emplace(terms[i][axis], operands[i].shape()[axis]);
      if (!inserted && IsOne(it->second)) it->second = operands[i].shape()[axis];
    }
  }
  Array<PrimExpr> shape;
  for (const char letter : output) shape.push_back(extents.at(letter));
  Array<tir::IterVar> reduce;
  std::map<char, PrimExpr> position;
  for (const auto& [letter, extent] : extents) {
    if (output.find(letter) != std::string::npos) continue;
    reduce.push_back(te::ReduceAxis(extent, std::string(1, letter)));
    position[letter] = reduce.back()->var;
  }
  const DataType dtype = operands[0].dtype();
  const DataType accumulator = reduce.empty() ? dtype : AccumulatorType(dtype);
  const te::Tensor sum = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        for (size_t i = 0; i < output.size(); ++i) position[output[i]] = vars[i];
        PrimExpr product;
        for (size_t i = 0; i < terms.size(); ++i) {
          Array<PrimExpr> indices;
          for (size_t axis = 0; axis < terms[i].size(); ++axis) {
            const char letter = terms[i][axis];
            const bool stretched = IsOne(operands[i].shape()[axis]) && !IsOne(extents.at(letter));
            indices.push_back(stretched ? I64(0) : position.at(letter));
          }
          const PrimExpr element = CastTo(accumulator, operands[i](indices));
          product = product.defined() ? product * element : element;
        }
        return reduce.empty() ? product : te::Sum(product, reduce);
      },
      "T_einsum", {}, NamesOfAxes(AxisNames::kAx, shape.size()));
  return CastBack(sum, dtype);
}

}  // namespace deuteron::topi
