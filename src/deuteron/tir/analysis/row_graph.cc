#include "deuteron/tir/analysis/row_graph.h"

#include <algorithm>
#include <unordered_map>

#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/reshape.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {

void RowExtent::Add(const PrimExpr& dim) {
  if (const auto* product = dim.as<MulNode>()) {
    Add(product->a);
    Add(product->b);
  } else if (const auto value = AsConstInt(dim)) {
    constant *= *value;
  } else {
    symbols.push_back(dim);
  }
}

void RowExtent::Add(const RowExtent& other) {
  constant *= other.constant;
  symbols.insert(symbols.end(), other.symbols.begin(), other.symbols.end());
}

namespace {

bool SameExpr(const PrimExpr& a, const PrimExpr& b) { return ExprEqual(a, b); }

}  // namespace

bool RowExtent::operator==(const RowExtent& other) const {
  return constant == other.constant &&
         std::equal(symbols.begin(), symbols.end(), other.symbols.begin(), other.symbols.end(), SameExpr);
}

std::optional<RowExtent> RowExtent::Without(const RowExtent& other) const {
  if (*this == other) return RowExtent();
  if (other.constant <= 0 || constant % other.constant != 0 || symbols.size() < other.symbols.size() ||
      !std::equal(other.symbols.begin(), other.symbols.end(), symbols.begin(), SameExpr)) {
    return std::nullopt;
  }
  RowExtent rest;
  rest.constant = constant / other.constant;
  rest.symbols.assign(symbols.begin() + static_cast<int64_t>(other.symbols.size()), symbols.end());
  return rest;
}

double RowExtent::Count(double symbolic) const {
  double count = static_cast<double>(constant);
  for (size_t i = 0; i < symbols.size(); ++i) count *= symbolic;
  return count;
}

bool RowGraph::reduces() const {
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.reduces; });
}

namespace {

/// Whether a reduction sums products of two different values: of vectors, of a matrix and a vector. A sum of squares,
/// as a norm has it, is none.
bool IsSumOfProducts(const BlockInfo& info) {
  if (!info.matmul) return false;
  const MatmulRoles& roles = *info.matmul;
  if (roles.lhs_load.defined() && roles.rhs_load.defined())
    return !roles.lhs_load->buffer.same_as(roles.rhs_load->buffer);
  return !ExprEqual(roles.lhs, roles.rhs);
}

/// Whether the reduction runs along the last dimension of what it reads: its last iterator is the last index of some
/// operand, and no operand slides a window along its last dimension (an index of that iterator and others together).
bool ReducesLastAxis(const SBlock& block, const PrimExpr& source) {
  const VarNode* last = nullptr;
  for (const IterVar& iter : block->iter_vars) {
    if (iter->type == IterVarType::kReduce) last = iter->var.get();
  }
  bool found = false;
  bool window = false;
  PostOrderVisit(source, [&](const PrimExpr& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || load->indices.empty()) return;
    const PrimExpr& index = load->indices.back();
    if (index.get() == last) {
      found = true;
    } else if (UsesVar(index, [&](const VarNode* used) { return used == last; })) {
      window = true;
    }
  });
  return found && !window;
}

/// Whether a product is of a matrix, summed along its last dimension, and one column: sums of rows.
bool IsOfAColumn(const SBlock& block, const BlockInfo& info) {
  if (info.kind != BlockClass::kMatmul || !info.matmul || !info.matmul->lhs_load.defined()) return false;
  const MatmulRoles& roles = *info.matmul;
  const auto is_unit = [&](size_t axis) { return IsOne(block->iter_vars[axis]->dom->extent); };
  return std::all_of(roles.n.begin(), roles.n.end(), is_unit) && ReducesLastAxis(block, roles.lhs_load);
}

class GraphBuilder {
 public:
  explicit GraphBuilder(RowGraph* graph) : graph_(*graph) {}

  const char* Run(const PrimFunc& func) {
    if (!HasRootBlock(func)) return "is no kernel with a root block";
    for (const Buffer& buffer : ParamBuffers(func)) TensorOf(buffer);
    for (const SBlockRealize& realize : AnalyzeScope(RootBlock(func)->body).blocks) {
      for (const PrimExpr& value : realize->iter_values) {
        if (value->kind != ExprKind::kVar && !AsConstInt(value)) return "is scheduled already";
      }
      if (!IsOne(realize->predicate)) return "is scheduled already";
      if (const char* why = AddBlock(realize->block)) return why;
    }
    return nullptr;
  }

 private:
  size_t TensorOf(const Buffer& buffer) {
    const auto [it, inserted] = tensor_of_.try_emplace(buffer.get(), graph_.tensors.size());
    if (inserted) {
      RowGraph::Tensor tensor;
      for (const PrimExpr& dim : buffer->shape) {
        if (!IsOne(dim)) tensor.shape.push_back(dim);
      }
      graph_.tensors.push_back(std::move(tensor));
    }
    return it->second;
  }

  const char* AddBlock(const SBlock& block) {
    const BlockInfo info = ClassifyBlock(block);
    if (info.kind == BlockClass::kOpaque) return "holds a block that is neither injective nor a reduction";
    const bool is_of_a_column = IsOfAColumn(block, info);
    if (info.kind == BlockClass::kMatmul && !is_of_a_column) return "holds a matrix product or convolution";
    RowGraph::Block added;
    position_.clear();
    for (const IterVar& iter : block->iter_vars) {
      if (IsOne(iter->dom->extent)) continue;
      if (!IsConstInt(iter->dom->min, 0)) return "is scheduled already";
      position_.emplace(iter->var.get(), static_cast<int>(added.extents.size()));
      added.extents.push_back(iter->dom->extent);
      added.is_reduced.push_back(iter->type == IterVarType::kReduce);
    }
    bool plain = true;
    PostOrderVisit(block->body, [&](const ObjectRef& node) {
      if (const auto* load = node.as<BufferLoadNode>()) plain &= Note(load->buffer, load->indices, false, &added);
      if (const auto* store = node.as<BufferStoreNode>()) plain &= Note(store->buffer, store->indices, true, &added);
    });
    if (info.kind == BlockClass::kReduction || is_of_a_column) {
      const auto update = GetReductionUpdate(block);
      if (!update) return "holds a reduction of several values at once";
      added.reduces = true;
      added.reduces_last = ReducesLastAxis(block, update->source);
      if (!plain) added.why_alone = "reduces over windows or gathered elements";
      if (IsSumOfProducts(info)) added.why_alone = "holds a sum of products";
    } else if (const auto stored = GetStoredValue(block->body)) {
      added.reshapes = !plain && CopiesInOrder(block, *stored);
    } else {
      return "holds a block that is neither injective nor a reduction";
    }
    graph_.blocks.push_back(std::move(added));
    return nullptr;
  }

  /// Adds an access. Whether all its indices are iterators or constants.
  bool Note(const Buffer& buffer, const Array<PrimExpr>& indices, bool is_write, RowGraph::Block* block) {
    RowGraph::Access access{TensorOf(buffer), is_write};
    bool plain = true;
    for (size_t i = 0; i < indices.size(); ++i) {
      const PrimExpr& index = indices[static_cast<int64_t>(i)];
      const PrimExpr& dim = buffer->shape[static_cast<int64_t>(i)];
      if (IsOne(dim)) continue;
      plain = plain && (index->kind == ExprKind::kVar || index->kind == ExprKind::kIntImm);
      const auto iter = position_.find(index.get());
      const bool whole = iter != position_.end() && ExprEqual(dim, block->extents[static_cast<size_t>(iter->second)]);
      access.iters.push_back(whole ? iter->second : -1);
    }
    int last[2] = {-1, -1};
    for (const int iter : access.iters) {
      if (iter < 0) continue;
      int& before = last[block->is_reduced[static_cast<size_t>(iter)] ? 1 : 0];
      access.is_transposed = access.is_transposed || iter < before;
      before = iter;
    }
    if (is_write) graph_.tensors[access.tensor].written = true;
    block->accesses.push_back(std::move(access));
    return plain;
  }

  RowGraph& graph_;
  std::unordered_map<const Object*, size_t> tensor_of_;
  /// Of the iterators of the block at hand.
  std::unordered_map<const Object*, int> position_;
};

}  // namespace

const char* BuildRowGraph(const PrimFunc& func, RowGraph* graph) { return GraphBuilder(graph).Run(func); }

const char* AppendRowGraph(const RowGraph& part, const std::vector<size_t>& tensors,
                           const std::function<PrimExpr(const PrimExpr&)>& renew, RowGraph* graph) {
  std::vector<size_t> id = tensors;
  std::vector<std::vector<bool>> counts;  // by tensor of the part and dimension: more than one element
  for (size_t t = 0; t < part.tensors.size(); ++t) {
    const RowGraph::Tensor& tensor = part.tensors[t];
    if (t >= id.size()) id.push_back(graph->AddTensor());
    std::vector<PrimExpr> shape;
    counts.emplace_back();
    for (const PrimExpr& dim : tensor.shape) {
      PrimExpr extent = renew(dim);
      counts.back().push_back(!IsOne(extent));
      if (counts.back().back()) shape.push_back(std::move(extent));
    }
    RowGraph::Tensor& known = graph->tensors[id[t]];
    known.written = known.written || tensor.written;
    if (known.shape.empty()) known.shape = std::move(shape);
  }
  for (const RowGraph::Block& block : part.blocks) {
    RowGraph::Block added = block;
    for (PrimExpr& extent : added.extents) extent = renew(extent);
    for (RowGraph::Access& access : added.accesses) {
      std::vector<int> iters;
      for (size_t i = 0; i < access.iters.size(); ++i) {
        if (counts[access.tensor][i]) iters.push_back(access.iters[i]);
      }
      access.iters = std::move(iters);
      access.tensor = id[access.tensor];
      if (graph->tensors[access.tensor].shape.size() != access.iters.size()) return "sees a tensor as of another shape";
    }
    graph->blocks.push_back(std::move(added));
  }
  return nullptr;
}

}  // namespace deuteron::tir
