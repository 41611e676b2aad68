/// \file
/// Tensor expressions to loop nests.
///
/// Each compute becomes one block in its own loops, named after it; tensors become buffers: parameters if they
/// are listed, allocations of the root block otherwise. A reduction stores its identity in `init` and
/// combines in place. An extern op's statements stand in one block over its spatial axes. Nothing is inlined or
/// simplified beyond constant folding: fusion and the schedules come later, and the classification of blocks
/// (AnnotateTIROpPattern) looks at what stands here.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "deuteron/arith/analyzer.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"

namespace deuteron::te {
namespace {

using namespace tir;  // NOLINT: this file is about nothing else

/// A tensor's identity: its op and which of its outputs.
struct TensorKey {
  const Object* op;
  int64_t index;
  bool operator==(const TensorKey& other) const { return op == other.op && index == other.index; }
};
struct TensorKeyHash {
  size_t operator()(const TensorKey& key) const {
    return std::hash<const void*>()(key.op) * 31 + static_cast<size_t>(key.index);
  }
};
using BufferMap = std::unordered_map<TensorKey, Buffer, TensorKeyHash>;

TensorKey KeyOf(const Tensor& tensor) { return {tensor->op.get(), tensor->value_index}; }

/// Expressions of a compute in terms of buffers and of the block's iterators.
class BodyRewriter : public ExprMutator {
 public:
  /// Loads at the block's own `point` share its list of indices.
  BodyRewriter(const BufferMap& buffers, ExprVarMap vars, const Array<PrimExpr>& point)
      : buffers_(buffers), vars_(std::move(vars)), point_(point) {}

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    const auto it = vars_.find(GetRef<Var>(op));
    return it == vars_.end() ? PrimExpr(GetRef<PrimExpr>(op)) : it->second;
  }
  PrimExpr VisitProducerLoad_(const ProducerLoadNode* op) override {
    const auto it = buffers_.find(KeyOf(Downcast<Tensor>(op->producer)));
    DEUTERON_CHECK(it != buffers_.end()) << "tensor " << Downcast<Tensor>(op->producer)->op->name
                                         << " is read but not an argument";
    Array<PrimExpr> indices = VisitExprs(op->indices);
    const bool is_point = std::equal(indices.begin(), indices.end(), point_.begin(), point_.end(),
                                     [](const PrimExpr& a, const PrimExpr& b) { return a.same_as(b); });
    return BufferLoad(it->second, is_point ? point_ : std::move(indices));
  }

 private:
  const BufferMap& buffers_;
  ExprVarMap vars_;
  const Array<PrimExpr>& point_;
};

/// The union of the elements that a block reads of each buffer, in order of first access.
class ReadCollector : public ExprVisitor {
 public:
  /// `point` as indices and as ranges.
  ReadCollector(const Array<PrimExpr>& point, const Array<Range>& point_region)
      : point_(point), point_region_(point_region) {}

  Array<BufferRegion> Regions() const {
    std::vector<BufferRegion> regions;
    for (const auto& [buffer, accesses] : accesses_) regions.push_back(Union(buffer, accesses));
    return regions;
  }

 protected:
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto [it, inserted] = index_.try_emplace(op->buffer.get(), accesses_.size());
    if (inserted) accesses_.push_back({op->buffer, {}});
    accesses_[it->second].second.push_back(op->indices);
    ExprVisitor::VisitBufferLoad_(op);
  }

 private:
  static bool DependsOnData(const PrimExpr& index) {
    bool depends = false;
    PostOrderVisit(index, [&](const PrimExpr& node) { depends |= node->kind == ExprKind::kBufferLoad; });
    return depends;
  }

  /// The range of one axis over all accesses: a point, a constant distance between the accesses, or all.
  static Range AxisRange(const Buffer& buffer, const std::vector<Array<PrimExpr>>& accesses, size_t axis) {
    const auto full = [&] { return Range::FromMinExtent(I64(0), buffer->shape[axis]); };
    const PrimExpr first = accesses[0][axis];
    if (DependsOnData(first)) return full();
    int64_t low = 0;
    int64_t high = 0;
    PrimExpr least = first;
    arith::Analyzer analyzer;
    for (size_t i = 1; i < accesses.size(); ++i) {
      const PrimExpr& index = accesses[i][axis];
      if (ExprEqual(index, first)) continue;
      if (DependsOnData(index)) return full();
      const auto distance = AsConstInt(analyzer.Simplify(index - first));
      if (!distance) return full();
      if (*distance < low) least = index;
      low = std::min(low, *distance);
      high = std::max(high, *distance);
    }
    return Range::FromMinExtent(least, I64(high - low + 1));
  }

  BufferRegion Union(const Buffer& buffer, const std::vector<Array<PrimExpr>>& accesses) const {
    if (accesses.size() == 1 && accesses[0].same_as(point_)) return BufferRegion(buffer, point_region_);
    std::vector<Range> region;
    for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
      region.push_back(AxisRange(buffer, accesses, axis));
    }
    return BufferRegion(buffer, region);
  }

  const Array<PrimExpr>& point_;
  const Array<Range>& point_region_;
  std::vector<std::pair<Buffer, std::vector<Array<PrimExpr>>>> accesses_;
  std::unordered_map<const Object*, size_t> index_;
};

/// Init and update of a reduction into `buffers` at `indices`.
std::pair<Stmt, Stmt> ReductionBody(const ReduceNode* reduce, const Array<PrimExpr>& sources,
                                    const std::vector<Buffer>& buffers, const Array<PrimExpr>& indices) {
  const CommReducer& reducer = reduce->combiner;
  Array<Stmt> init;
  ExprVarMap values;
  for (size_t i = 0; i < buffers.size(); ++i) {
    init.push_back(BufferStore(buffers[i], reducer->identity[i], indices));
    values[reducer->lhs[i]] = BufferLoad(buffers[i], indices);
    values[reducer->rhs[i]] = sources[i];
  }
  Array<Stmt> update;
  if (buffers.size() == 1) {
    update.push_back(BufferStore(buffers[0], Substitute(reducer->result[0], values), indices));
  } else {
    // All results are computed before the first is stored: each may read all.
    std::vector<Var> results;
    for (size_t i = 0; i < buffers.size(); ++i) {
      results.emplace_back("v_" + std::string(buffers[i]->name), buffers[i]->dtype);
      update.push_back(Bind(results[i], Substitute(reducer->result[i], values)));
    }
    for (size_t i = 0; i < buffers.size(); ++i) update.push_back(BufferStore(buffers[i], results[i], indices));
  }
  return {SeqStmt::Flatten(init), SeqStmt::Flatten(update)};
}

class FuncBuilder {
 public:
  PrimFunc Build(const Array<Tensor>& tensors, const Array<Var>& scalars) {
    std::vector<Buffer> params;
    Array<Tensor> outputs;
    for (const Tensor& tensor : tensors) {
      Buffer buffer(BufferName(tensor->op, tensor->value_index), tensor->dtype, tensor->shape);
      DEUTERON_CHECK(buffers_.emplace(KeyOf(tensor), buffer).second)
          << "tensor " << tensor->op->name << " is given twice";
      params.push_back(buffer);
      if (!tensor->op->is_placeholder()) outputs.push_back(tensor);
    }
    Array<Stmt> blocks;
    for (const ComputeOp& op : PostOrder(outputs)) {
      if (!op->is_placeholder()) blocks.push_back(BuildBlock(op));
    }
    DEUTERON_CHECK(!blocks.empty()) << "a function that computes nothing";
    SBlock root(kEmpty, kEmpty, kEmpty, "root", SeqStmt::Flatten(blocks), Stmt(), alloc_);
    DictAttrs attrs(Map<String, Any>{{"tirx.noalias", true}});
    return PrimFunc::FromBuffers(params, scalars, SBlockRealize(kEmpty, True(), root), std::move(attrs));
  }

 private:
  static std::string BufferName(const ComputeOp& op, int64_t index) {
    return std::string(op->name) + (op->body.size() < 2 ? "" : "_v" + std::to_string(index));
  }

  /// The buffers of the outputs of `op`; those that are no parameters are allocated.
  std::vector<Buffer> OutputBuffers(const ComputeOp& op) {
    std::vector<PrimExpr> extents;
    for (const IterVar& axis : op->axis) extents.push_back(axis->dom->extent);
    Array<PrimExpr> shape(extents);
    std::vector<Buffer> outputs;
    for (size_t i = 0; i < op->body.size(); ++i) {
      if (!op->extern_shapes.empty()) shape = op->extern_shapes[i];
      const auto [it, inserted] = buffers_.try_emplace(TensorKey{op.get(), static_cast<int64_t>(i)});
      if (inserted) {
        it->second = Buffer(BufferName(op, static_cast<int64_t>(i)), op->body[i].dtype(), shape);
        alloc_.push_back(it->second);
      }
      outputs.push_back(it->second);
    }
    return outputs;
  }

  std::string UniqueBlockName(const std::string& name) {
    int& uses = block_names_[name];
    return uses++ == 0 ? name : UniqueBlockName(name + "_" + std::to_string(uses - 1));
  }

  Stmt BuildExternBlock(const ComputeOp& op) {
    std::vector<Var> loop_vars;
    Array<IterVar> iter_vars;
    Array<Var> iterators;
    Array<PrimExpr> iter_values;
    for (const IterVar& axis : op->axis) {
      loop_vars.emplace_back(axis->var->name_hint);
      iterators.push_back(Var("v_" + std::string(axis->var->name_hint)));
      iter_vars.push_back(IterVar(axis->dom, iterators.back(), axis->type));
      iter_values.push_back(loop_vars.back());
    }
    Array<Buffer> inputs;
    for (const ObjectRef& input : op->extern_inputs) inputs.push_back(buffers_.at(KeyOf(Downcast<Tensor>(input))));
    const std::vector<Buffer> outputs = OutputBuffers(op);
    ExternBlock parts = op->extern_body(inputs, Array<Buffer>(outputs.begin(), outputs.end()), iterators);
    if (parts.reads.empty()) {
      for (const Buffer& input : inputs) parts.reads.push_back(BufferRegion::Full(input));
    }
    if (parts.writes.empty()) {
      for (const Buffer& output : outputs) parts.writes.push_back(BufferRegion::Full(output));
    }
    SBlock block(std::move(iter_vars), std::move(parts.reads), std::move(parts.writes),
                 UniqueBlockName(std::string(op->name)), std::move(parts.body), Stmt(), kEmpty, op->attrs);
    Stmt nest = SBlockRealize(std::move(iter_values), True(), std::move(block));
    for (size_t i = loop_vars.size(); i-- > 0;) {
      nest = For(loop_vars[i], op->axis[i]->dom->min, op->axis[i]->dom->extent, ForKind::kSerial, std::move(nest));
    }
    return nest;
  }

  Stmt BuildBlock(const ComputeOp& op) {
    if (op->extern_body) return BuildExternBlock(op);
    const auto* reduce = op->body[0].as<ReduceNode>();
    std::vector<IterVar> axes(op->axis.begin(), op->axis.end());
    if (reduce != nullptr) axes.insert(axes.end(), reduce->axis.begin(), reduce->axis.end());

    std::vector<Var> loop_vars;
    std::vector<IterVar> iter_vars;
    std::vector<PrimExpr> iter_values;
    ExprVarMap to_iterators;
    for (const IterVar& axis : axes) {
      Var loop_var(axis->var->name_hint);
      Var iterator("v_" + std::string(axis->var->name_hint));
      to_iterators[axis->var] = iterator;
      iter_vars.push_back(IterVar(axis->dom, iterator, axis->type));
      iter_values.push_back(loop_var);
      loop_vars.push_back(std::move(loop_var));
    }
    if (axes.empty()) {  // a scalar: a block has at least one iterator
      iter_vars.push_back(IterVar(Range::FromMinExtent(I64(0), I64(1)), Var("vi"), IterVarType::kSpatial));
      iter_values.push_back(I64(0));
    }

    const std::vector<Buffer> outputs = OutputBuffers(op);
    const Array<PrimExpr> indices =
        op->axis.Map([&](const IterVar& axis) -> PrimExpr { return to_iterators.at(axis->var); });
    const Array<Range> point = BufferRegion::Point(outputs[0], indices)->region;
    BodyRewriter rewriter(buffers_, std::move(to_iterators), indices);
    Stmt init;
    Stmt body;
    ReadCollector reads(indices, point);
    if (reduce != nullptr) {
      Array<PrimExpr> sources;
      for (const PrimExpr& source : reduce->source) {
        sources.push_back(rewriter.VisitExpr(source));
        reads.VisitExpr(sources.back());
      }
      DEUTERON_CHECK(sources.size() == outputs.size())
          << "reduction " << op->name << " of " << sources.size() << " values into " << outputs.size();
      std::tie(init, body) = ReductionBody(reduce, sources, outputs, indices);
    } else {
      Array<Stmt> stores;
      for (size_t i = 0; i < outputs.size(); ++i) {
        PrimExpr value = rewriter.VisitExpr(op->body[i]);
        reads.VisitExpr(value);
        stores.push_back(BufferStore(outputs[i], std::move(value), indices));
      }
      body = SeqStmt::Flatten(stores);
    }

    std::vector<BufferRegion> writes;
    for (const Buffer& output : outputs) writes.push_back(BufferRegion(output, point));
    SBlock block(iter_vars, reads.Regions(), writes, UniqueBlockName(std::string(op->name)), std::move(body),
                 std::move(init), kEmpty, op->attrs);
    Stmt nest = SBlockRealize(iter_values, True(), std::move(block));
    for (size_t i = axes.size(); i-- > 0;) {
      nest = For(loop_vars[i], axes[i]->dom->min, axes[i]->dom->extent, ForKind::kSerial, std::move(nest));
    }
    return nest;
  }

  BufferMap buffers_;
  Array<Buffer> alloc_ = kEmpty;
  std::unordered_map<std::string, int> block_names_;
};

}  // namespace

PrimFunc CreatePrimFunc(const Array<Tensor>& tensors, const Array<Var>& scalars) {
  return FuncBuilder().Build(tensors, scalars);
}

}  // namespace deuteron::te
