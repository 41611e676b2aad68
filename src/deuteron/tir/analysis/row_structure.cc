#include "deuteron/tir/analysis/row_structure.h"

#include <algorithm>
#include <unordered_map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/block_analysis.h"
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

bool RowExtent::operator==(const RowExtent& other) const {
  return constant == other.constant && symbols.size() == other.symbols.size() &&
         std::equal(symbols.begin(), symbols.end(), other.symbols.begin(),
                    [](const PrimExpr& a, const PrimExpr& b) { return ExprEqual(a, b); });
}

double RowExtent::Count(double symbolic) const {
  double count = static_cast<double>(constant);
  for (size_t i = 0; i < symbols.size(); ++i) count *= symbolic;
  return count;
}

namespace {

PrimExpr FlatIndex(const Buffer& buffer, const Array<PrimExpr>& indices) {
  PrimExpr flat = I64(0);
  for (size_t i = 0; i < indices.size(); ++i) {
    flat = flat * buffer->shape[static_cast<int64_t>(i)] + CastTo(DataType::Int(64), indices[static_cast<int64_t>(i)]);
  }
  return flat;
}

}  // namespace

bool CopiesInOrder(const SBlock& block, const StoredValue& stored) {
  const auto* load = stored.value.as<BufferLoadNode>();
  if (load == nullptr || !load->buffer->strides.empty() || !stored.buffer->strides.empty()) return false;
  PrimExpr from = I64(1);
  PrimExpr to = I64(1);
  for (const PrimExpr& dim : load->buffer->shape) from = from * dim;
  for (const PrimExpr& dim : stored.buffer->shape) to = to * dim;
  arith::Analyzer analyzer;
  for (const IterVar& iter : block->iter_vars) analyzer.Bind(iter->var, iter->dom);
  return analyzer.CanProveEqual(from, to) &&
         analyzer.CanProveEqual(FlatIndex(load->buffer, load->indices), FlatIndex(stored.buffer, stored.indices));
}

namespace {

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
    if (info.kind == BlockClass::kMatmul) return "holds a matrix product or convolution";
    RowGraph::Block added;
    std::unordered_map<const Object*, int> position;
    for (const IterVar& iter : block->iter_vars) {
      if (IsOne(iter->dom->extent)) continue;
      if (!IsConstInt(iter->dom->min, 0)) return "is scheduled already";
      position.emplace(iter->var.get(), static_cast<int>(added.extents.size()));
      added.extents.push_back(iter->dom->extent);
      added.is_reduced.push_back(iter->type == IterVarType::kReduce);
    }
    bool window = false;
    bool transposes = false;
    const auto note = [&](const Buffer& buffer, const Array<PrimExpr>& indices, bool is_write) {
      RowGraph::Access access{TensorOf(buffer), is_write, {}};
      for (size_t i = 0; i < indices.size(); ++i) {
        const PrimExpr& index = indices[static_cast<int64_t>(i)];
        const PrimExpr& dim = buffer->shape[static_cast<int64_t>(i)];
        const bool plain = index->kind == ExprKind::kVar || index->kind == ExprKind::kIntImm;
        if (IsOne(dim)) continue;
        window = window || !plain;
        const auto iter = position.find(index.get());
        const bool whole = iter != position.end() && ExprEqual(dim, added.extents[static_cast<size_t>(iter->second)]);
        access.iters.push_back(whole ? iter->second : -1);
      }
      int last[2] = {-1, -1};
      for (const int iter : access.iters) {
        if (iter < 0) continue;
        int& before = last[added.is_reduced[static_cast<size_t>(iter)] ? 1 : 0];
        transposes = transposes || iter < before;
        before = iter;
      }
      if (is_write) graph_.tensors[access.tensor].written = true;
      added.accesses.push_back(std::move(access));
    };
    PostOrderVisit(block->body, [&](const ObjectRef& node) {
      if (const auto* load = node.as<BufferLoadNode>()) note(load->buffer, load->indices, false);
      if (const auto* store = node.as<BufferStoreNode>()) note(store->buffer, store->indices, true);
    });
    // In step it may be, but not in vectors of neighbours.
    if (transposes) return "reads or writes transposed";
    if (info.kind == BlockClass::kReduction) {
      if (IsSumOfProducts(info)) return "holds a sum of products";
      if (!GetReductionUpdate(block)) return "holds a reduction of several values at once";
      if (window) return "reduces over windows or gathered elements";
      added.reduces = true;
    } else if (const auto stored = GetStoredValue(block->body)) {
      added.reshapes = window && CopiesInOrder(block, *stored);
    } else {
      return "holds a block that is neither injective nor a reduction";
    }
    graph_.blocks.push_back(std::move(added));
    return nullptr;
  }

  RowGraph& graph_;
  std::unordered_map<const Object*, size_t> tensor_of_;
};

void Append(RowPattern* pattern, bool is_row, const PrimExpr& dim) {
  if (pattern->empty() || pattern->back().is_row != is_row) pattern->push_back({is_row, {}});
  pattern->back().extent.Add(dim);
}

/// Labels blocks from tensors and tensors from blocks until nothing is left.
class Labeller {
 public:
  explicit Labeller(const RowGraph& graph) : graph_(graph) {
    labels_.is_row.resize(graph.blocks.size());
    labels_.patterns.resize(graph.tensors.size());
    done_.resize(graph.blocks.size());
  }

  RowLabels Run() {
    labels_.why_not = Label();
    return std::move(labels_);
  }

 private:
  const char* Label() {
    bool any = false;
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      const RowGraph::Block& block = graph_.blocks[b];
      if (!block.reduces) continue;
      std::vector<bool> is_row;
      RowExtent rows;
      for (size_t i = 0; i < block.extents.size(); ++i) {
        is_row.push_back(!block.is_reduced[i]);
        if (is_row.back()) rows.Add(block.extents[i]);
      }
      if (any && !(rows == labels_.rows)) return "reduces rows of different kinds";
      labels_.rows = std::move(rows);
      any = true;
      if (const char* why = Settle(b, std::move(is_row))) return why;
    }
    if (!any) return "does not reduce";
    // What blocks make of each other's results comes in order; what they read alike may need a second look.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = 0; b < graph_.blocks.size(); ++b) {
        if (done_[b]) continue;
        auto is_row = FromTensors(graph_.blocks[b]);
        if (is_row.empty() && !graph_.blocks[b].extents.empty()) continue;
        if (const char* why = Settle(b, std::move(is_row))) return why;
        changed = true;
      }
    }
    if (std::find(done_.begin(), done_.end(), false) != done_.end()) return "holds blocks that are not in step";
    return FindGroups();
  }

  /// The labels of a block that reads or writes a tensor in step; none if there is no such tensor.
  std::vector<bool> FromTensors(const RowGraph::Block& block) const {
    // What other blocks write decides before what is only read alike.
    for (const bool written : {true, false}) {
      for (const RowGraph::Access& access : block.accesses) {
        const RowPattern& pattern = labels_.patterns[access.tensor];
        if (pattern.empty() || graph_.tensors[access.tensor].written != written) continue;
        if (block.reshapes && !access.is_write) continue;
        std::vector<bool> is_row(block.extents.size());
        if (Transfer(pattern, graph_.tensors[access.tensor], access, &is_row)) return is_row;
      }
      if (!block.reshapes) continue;
      for (const RowGraph::Access& access : block.accesses) {
        const RowPattern& pattern = labels_.patterns[access.tensor];
        if (access.is_write || pattern.empty()) continue;
        // The other side has the same pattern; its dimensions are the iterators.
        for (const RowGraph::Access& result : block.accesses) {
          std::vector<bool> is_row(block.extents.size());
          if (result.is_write && Transfer(pattern, graph_.tensors[result.tensor], result, &is_row)) return is_row;
        }
      }
    }
    return {};
  }

  /// Cuts a pattern at the dimensions of a tensor. False if a cut is within a dimension, or rows lie at no iterator.
  static bool Transfer(const RowPattern& pattern, const RowGraph::Tensor& tensor, const RowGraph::Access& access,
                       std::vector<bool>* is_row) {
    size_t next = 0;
    for (const RowSegment& segment : pattern) {
      RowExtent sum;
      while (!(sum == segment.extent)) {
        if (next == tensor.shape.size()) return false;
        const int iter = access.iters[next];
        if (segment.is_row) {
          if (iter < 0) return false;
          (*is_row)[static_cast<size_t>(iter)] = true;
        }
        sum.Add(tensor.shape[next++]);
      }
    }
    return next == tensor.shape.size();
  }

  const char* Settle(size_t at, std::vector<bool> is_row) {
    const RowGraph::Block& block = graph_.blocks[at];
    done_[at] = true;
    RowExtent rows;
    for (size_t i = 0; i < block.extents.size(); ++i) {
      if (is_row[i]) rows.Add(block.extents[i]);
    }
    if (!(rows == labels_.rows)) return "has blocks of different numbers of rows";
    labels_.is_row[at] = is_row;
    for (const RowGraph::Access& access : block.accesses) {
      const bool written = graph_.tensors[access.tensor].written;
      RowPattern pattern;
      if (block.reshapes && !access.is_write) {
        // That of what it is copied to.
        for (const RowGraph::Access& result : block.accesses) {
          if (result.is_write) pattern = PatternOf(is_row, result);
        }
      } else {
        pattern = PatternOf(is_row, access);
      }
      RowPattern& known = labels_.patterns[access.tensor];
      if (!written) {
        if (known.empty()) known = std::move(pattern);
        continue;
      }
      if (pattern.empty() && labels_.rows == RowExtent()) {
        // One row: everything is in step.
        for (const PrimExpr& dim : graph_.tensors[access.tensor].shape) Append(&pattern, false, dim);
      } else if (pattern.empty()) {
        return "passes on a value that is not in step with the rows";
      }
      if (known.empty()) {
        known = std::move(pattern);
      } else if (!(known == pattern)) {
        return "passes on a value whose rows lie elsewhere";
      }
    }
    return nullptr;
  }

  /// Empty if the access is not in step: rows are missing or in another order.
  RowPattern PatternOf(const std::vector<bool>& is_row, const RowGraph::Access& access) const {
    RowPattern pattern;
    int last = -1;
    RowExtent rows;
    const auto& shape = graph_.tensors[access.tensor].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int iter = access.iters[i];
      const bool counts = iter >= 0 && is_row[static_cast<size_t>(iter)];
      if (counts) {
        if (iter <= last) return {};
        last = iter;
        rows.Add(shape[i]);
      }
      Append(&pattern, counts, shape[i]);
    }
    return rows == labels_.rows ? pattern : RowPattern();
  }

  /// Where the rows of what is reduced lie, the same for all reductions.
  const char* FindGroups() {
    bool any = false;
    for (const RowGraph::Block& block : graph_.blocks) {
      if (!block.reduces) continue;
      const RowPattern* widest = nullptr;
      for (const RowGraph::Access& access : block.accesses) {
        const RowPattern& pattern = labels_.patterns[access.tensor];
        if (!access.is_write && (widest == nullptr || pattern.size() > widest->size())) widest = &pattern;
      }
      if (widest == nullptr || widest->empty()) return "reduces something that is not read in step with the rows";
      const bool columns = widest->back().is_row && widest->size() > 1;
      std::vector<RowExtent> groups;
      for (const RowSegment& segment : *widest) {
        if (segment.is_row) groups.push_back(segment.extent);
      }
      if (any && (columns != labels_.columns || groups != labels_.groups))
        return "reduces along axes of different kinds";
      labels_.columns = columns;
      labels_.groups = std::move(groups);
      any = true;
    }
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      std::vector<PrimExpr> dims;
      for (size_t i = 0; i < labels_.is_row[b].size(); ++i) {
        if (labels_.is_row[b][i]) dims.push_back(graph_.blocks[b].extents[i]);
      }
      if (!GroupDims(dims, labels_.groups)) return "has rows that do not come out even";
    }
    return nullptr;
  }

  const RowGraph& graph_;
  RowLabels labels_;
  std::vector<bool> done_;
};

}  // namespace

std::optional<std::vector<size_t>> GroupDims(const std::vector<PrimExpr>& dims, const std::vector<RowExtent>& groups) {
  std::vector<size_t> group_of;
  size_t next = 0;
  for (size_t group = 0; group < groups.size(); ++group) {
    RowExtent sum;
    while (!(sum == groups[group])) {
      if (next == dims.size()) return std::nullopt;
      sum.Add(dims[next++]);
      group_of.push_back(group);
    }
  }
  if (next != dims.size()) return std::nullopt;
  return group_of;
}

bool IsSumOfProducts(const BlockInfo& info) {
  if (!info.matmul) return false;
  const MatmulRoles& roles = *info.matmul;
  if (roles.lhs_load.defined() && roles.rhs_load.defined())
    return !roles.lhs_load->buffer.same_as(roles.rhs_load->buffer);
  return !ExprEqual(roles.lhs, roles.rhs);
}

const char* BuildRowGraph(const PrimFunc& func, RowGraph* graph) { return GraphBuilder(graph).Run(func); }

RowLabels LabelRows(const RowGraph& graph) { return Labeller(graph).Run(); }

}  // namespace deuteron::tir
