/// \file
/// Purpose: to say, without building it, whether a kernel merged of others can run as one loop over rows, all of its
/// stages working on one row while it is in the cache.
///
/// How: in every block the leading spatial iterators are compared with the leading indices of each access. As far as
/// they are the same variables over whole dimensions, the access is *in step* with the block. Dimensions of extent 1
/// do not count. A pure reshape keeps the order of memory, so all of it is in step, whatever its dimensions.
///
/// What it must not do: call a row what a reduction only covers a part of, or take matrix products and windows for
/// rows; these have schedules of their own.
#include "deuteron/relax/transform/fusion/row_kernels.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/symbolic_matcher.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/tir/analysis/row_structure.h"

namespace deuteron::relax::fusion {

using tir::Buffer;
using tir::IterVar;
using tir::SBlock;

namespace {

bool IsUnit(const PrimExpr& dim) { return IsConstInt(dim, 1); }

/// The first `count` dimensions of a shape without those of extent 1.
RowDims Leading(const Array<PrimExpr>& shape, size_t count) {
  RowDims dims;
  for (size_t i = 0; i < std::min<size_t>(count, shape.size()); ++i) {
    if (!IsUnit(shape[static_cast<int64_t>(i)])) dims.push_back(shape[static_cast<int64_t>(i)]);
  }
  return dims;
}

/// The iterators of a block that count: spatial ones, then reduced ones.
struct BlockAxes {
  std::vector<IterVar> spatial;
  std::vector<IterVar> reduced;
  explicit BlockAxes(const SBlock& block) {
    for (const IterVar& iter : block->iter_vars) {
      if (IsUnit(iter->dom->extent)) continue;
      (iter->type == tir::IterVarType::kReduce ? reduced : spatial).push_back(iter);
    }
  }
};

/// How far an access is in step with its block.
struct Step {
  /// Dimensions of the buffer, those of extent 1 included.
  size_t dims = 0;
  /// Iterators of the block.
  size_t iters = 0;
};
Step InStep(const BlockAxes& axes, const Buffer& buffer, const Array<PrimExpr>& indices, size_t limit) {
  Step step;
  for (size_t i = 0; i < buffer->shape.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (!IsUnit(buffer->shape[at])) {
      if (step.iters == std::min(limit, axes.spatial.size())) break;
      const IterVar& iter = axes.spatial[step.iters];
      if (!indices[at].same_as(iter->var) || !ExprEqual(iter->dom->extent, buffer->shape[at])) break;
      ++step.iters;
    }
    step.dims = i + 1;
  }
  return step;
}

struct Access {
  size_t block;
  Buffer buffer;
  Array<PrimExpr> indices;
  bool is_write;
};

constexpr const char* kOtherAxes = "reduces along other axes than the last";

/// Whether a reduction runs along the last dimensions of what it reads in step, at plain indices.
const char* WhyNotAlongRow(const SBlock& block, const BlockAxes& axes) {
  const auto update = tir::GetReductionUpdate(block);
  if (!update) return "holds a reduction of several values at once";
  if (axes.reduced.empty()) return nullptr;
  const char* why = kOtherAxes;
  const char* window = nullptr;
  PostOrderVisit(update->source, [&](const PrimExpr& node) {
    const auto* load = node.as<tir::BufferLoadNode>();
    if (load == nullptr || load->indices.empty()) return;
    size_t next = 0;
    const size_t count = axes.spatial.size() + axes.reduced.size();
    bool ordered = true;
    for (size_t i = 0; i < load->indices.size(); ++i) {
      const PrimExpr& index = load->indices[static_cast<int64_t>(i)];
      if (index->kind == ExprKind::kIntImm || IsUnit(load->buffer->shape[static_cast<int64_t>(i)])) continue;
      if (index->kind != ExprKind::kVar) {
        window = "reduces over windows or gathered elements";
        return;
      }
      const auto& iter = next < axes.spatial.size() ? axes.spatial[next]
                                                    : axes.reduced[std::min(next, count - 1) - axes.spatial.size()];
      ordered = ordered && next < count && index.same_as(iter->var);
      ++next;
    }
    if (ordered && next == count) why = nullptr;
  });
  return window != nullptr ? window : why;
}

}  // namespace

// ----- Dimensions.

RowDims CommonRows(const RowDims& a, const RowDims& b) {
  RowDims common;
  size_t i = 0;
  size_t j = 0;
  PrimExpr left = a.empty() ? PrimExpr() : a[0];
  PrimExpr right = b.empty() ? PrimExpr() : b[0];
  const auto advance = [](const RowDims& dims, size_t* at, PrimExpr* now) {
    *now = ++*at < dims.size() ? dims[*at] : PrimExpr();
  };
  while (left.defined() && right.defined()) {
    if (ExprEqual(left, right)) {
      common.push_back(left);
      advance(a, &i, &left);
      advance(b, &j, &right);
      continue;
    }
    const auto x = AsConstInt(left);
    const auto y = AsConstInt(right);
    if (!x || !y || *x <= 0 || *y <= 0) break;
    if (*x % *y == 0) {
      common.push_back(right);
      left = I64(*x / *y);
      advance(b, &j, &right);
    } else if (*y % *x == 0) {
      common.push_back(left);
      right = I64(*y / *x);
      advance(a, &i, &left);
    } else {
      break;
    }
  }
  return common;
}

bool SameRowCount(const RowDims& a, const RowDims& b) {
  if (a.size() == b.size() &&
      std::equal(a.begin(), a.end(), b.begin(), [](const PrimExpr& x, const PrimExpr& y) { return ExprEqual(x, y); })) {
    return true;
  }
  double product[2] = {1, 1};
  for (const PrimExpr& dim : a) {
    const auto value = AsConstInt(dim);
    if (!value) return false;
    product[0] *= static_cast<double>(*value);
  }
  for (const PrimExpr& dim : b) {
    const auto value = AsConstInt(dim);
    if (!value) return false;
    product[1] *= static_cast<double>(*value);
  }
  return product[0] == product[1];
}

double CountRows(const RowDims& rows, double symbolic) {
  double count = 1;
  for (const PrimExpr& dim : rows) {
    const auto value = AsConstInt(dim);
    count *= value ? static_cast<double>(*value) : symbolic;
  }
  return count;
}

// ----- Kernels.

/// A kernel, whatever the dimensions of its arguments.
struct RowAnalyzer::Kernel {
  const char* why_not = nullptr;
  bool has_reduction = false;
  bool is_strided = false;
  bool has_inner = false;
  double flops = 0;
  /// For each tensor parameter, how many leading dimensions are in step.
  std::vector<size_t> dims;
  /// How many leading dimensions of the last parameter are the rows that its reductions run along.
  size_t reduced_dims = 0;
};

RowAnalyzer::~RowAnalyzer() = default;

std::shared_ptr<const RowAnalyzer::Kernel> RowAnalyzer::LookAt(const GlobalVar& callee) {
  auto [it, inserted] = kernels_.try_emplace(callee.get());
  if (!inserted) return it->second;
  auto result = std::make_shared<Kernel>();
  it->second = result;
  Kernel& kernel = *result;
  const auto refuse = [&](const char* why) {
    kernel.why_not = why;
    return result;
  };
  const auto func = As<tir::PrimFunc>(module_.Lookup(callee));
  if (!func.defined() || !tir::HasRootBlock(func)) return refuse("is no kernel with a root block");
  const tir::ScopeInfo scope = tir::AnalyzeScope(tir::RootBlock(func)->body);
  const Array<Buffer> params = tir::ParamBuffers(func);
  std::unordered_map<const Object*, size_t> param_index;
  for (size_t i = 0; i < params.size(); ++i) param_index.emplace(params[static_cast<int64_t>(i)].get(), i);

  std::vector<BlockAxes> axes;
  std::vector<Access> accesses;
  bool is_reshape = false;
  std::optional<size_t> rows;  // of reductions, in iterators
  std::vector<IterVar> row_iters;
  for (size_t b = 0; b < scope.blocks.size(); ++b) {
    const tir::SBlockRealize& realize = scope.blocks[b];
    const SBlock& block = realize->block;
    axes.emplace_back(block);
    for (const PrimExpr& value : realize->iter_values) {
      if (value->kind != ExprKind::kVar && !AsConstInt(value)) return refuse("is scheduled already");
    }
    if (!IsOne(realize->predicate)) return refuse("is scheduled already");
    const tir::BlockInfo info = tir::ClassifyBlock(block);
    if (info.kind == tir::BlockClass::kOpaque) return refuse("holds a block that is neither injective nor a reduction");
    if (info.kind == tir::BlockClass::kMatmul) return refuse("holds a matrix product or convolution");
    kernel.flops += tir::OpsPerInstance(block) * tir::NumInstances(block);
    if (info.kind == tir::BlockClass::kReduction) {
      if (tir::IsSumOfProducts(info)) return refuse("holds a sum of products");
      if (const char* why = WhyNotAlongRow(block, axes.back())) {
        if (why != kOtherAxes) return refuse(why);
        kernel.is_strided = true;
        continue;
      }
      const auto& spatial = axes.back().spatial;
      if (rows && (*rows != spatial.size() || !std::equal(spatial.begin(), spatial.end(), row_iters.begin(),
                                                          [](const IterVar& x, const IterVar& y) {
                                                            return ExprEqual(x->dom->extent, y->dom->extent);
                                                          }))) {
        return refuse("reduces rows of different kinds");
      }
      rows = spatial.size();
      row_iters = spatial;
    } else if (const auto stored = tir::GetStoredValue(block->body); scope.blocks.size() == 1 && stored) {
      is_reshape = tir::CopiesInOrder(block, *stored);
    }
    const auto note = [&](const Buffer& buffer, const Array<PrimExpr>& indices, bool is_write) {
      accesses.push_back({b, buffer, indices, is_write});
    };
    PostOrderVisit(block->body, [&](const ObjectRef& node) {
      if (const auto* load = node.as<tir::BufferLoadNode>()) note(load->buffer, load->indices, false);
      if (const auto* store = node.as<tir::BufferStoreNode>()) note(store->buffer, store->indices, true);
    });
  }
  if (kernel.is_strided) {
    kernel.has_reduction = true;
    return refuse(kOtherAxes);
  }
  // How far the blocks are in step with each other.
  size_t limit = SIZE_MAX;
  std::unordered_map<const Object*, bool> written;
  for (const Access& access : accesses) written[access.buffer.get()] |= access.is_write;
  for (const Access& access : accesses) {
    const bool is_result = param_index.count(access.buffer.get()) != 0;
    if (is_result && (!access.is_write || !written[access.buffer.get()])) continue;
    limit = std::min(limit, InStep(axes[access.block], access.buffer, access.indices, SIZE_MAX).iters);
    kernel.has_inner |= !is_result;
  }
  kernel.dims.assign(params.size(), SIZE_MAX);
  for (const Access& access : accesses) {
    const auto param = param_index.find(access.buffer.get());
    if (param == param_index.end()) continue;
    size_t& dims = kernel.dims[param->second];
    dims = std::min(dims, is_reshape ? access.buffer->shape.size()
                                     : InStep(axes[access.block], access.buffer, access.indices, limit).dims);
  }
  for (size_t& dims : kernel.dims) {
    if (dims == SIZE_MAX) dims = 0;  // never touched
  }
  if (rows) {
    kernel.has_reduction = true;
    if (limit < *rows) return refuse("changes the order of rows");
    // In dimensions of the last result.
    for (const Access& access : accesses) {
      if (!access.is_write || !access.buffer.same_as(params.back())) continue;
      kernel.reduced_dims = InStep(axes[access.block], access.buffer, access.indices, *rows).dims;
    }
  }
  return result;
}

std::shared_ptr<const RowSummary> RowAnalyzer::SummarizeKernelCall(const Call& call) {
  auto summary = std::make_shared<RowSummary>();
  const CallTIRView view = ViewCallTIR(call);
  const auto kernel = LookAt(view.func);
  summary->why_not = kernel->why_not;
  summary->has_reduction = kernel->has_reduction;
  summary->is_strided = kernel->why_not == kOtherAxes;
  summary->flops = kernel->flops;
  if (summary->why_not != nullptr) return summary;
  const auto refuse = [&](const char* why) {
    summary->why_not = why;
    return summary;
  };
  if (IsCallTIRInplace(call)) return refuse("works in place");
  size_t next = 0;
  const auto dims_of = [&](const Type& type) -> std::optional<RowDims> {
    const auto* tensor = type.as<TensorTypeNode>();
    if (tensor == nullptr || !tensor->has_shape() || next == kernel->dims.size()) return std::nullopt;
    return Leading(*tensor->shape, kernel->dims[next++]);
  };
  for (const Expr& arg : view.args->fields) {
    if (arg->kind == RelaxKind::kPrimValue) continue;
    auto dims = dims_of(arg.ty());
    if (!dims) return refuse("takes arguments of unknown shape");
    summary->arguments.push_back(std::move(*dims));
  }
  std::vector<Type> results{view.out_ty};
  if (const auto* tuple = view.out_ty.as<TupleTypeNode>()) results = {tuple->fields.begin(), tuple->fields.end()};
  for (const Type& type : results) {
    auto dims = dims_of(type);
    if (!dims) return refuse("has results of unknown shape");
    summary->results.push_back(std::move(*dims));
  }
  if (kernel->has_reduction) {
    summary->reduced = Leading(*results.back().as<TensorTypeNode>()->shape, kernel->reduced_dims);
  }
  if (kernel->has_inner) {
    for (const RowDims& dims : summary->results)
      summary->inner = summary->inner ? CommonRows(*summary->inner, dims) : dims;
  }
  return summary;
}

// ----- Functions.

namespace {

int64_t CountKernels(const Function& function) {
  int64_t count = 0;
  for (const BindingBlock& block : function->body->blocks) {
    for (const Binding& binding : block->bindings) count += IsAnyCallTIR(BoundValue(binding));
  }
  return count;
}

}  // namespace

Function RowAnalyzer::PrimitiveCallee(const Expr& value) const {
  const auto* call = value.as<CallNode>();
  if (call == nullptr || call->op->kind != RelaxKind::kGlobalVar) return Function();
  const auto function = As<Function>(module_.Lookup(Downcast<GlobalVar>(call->op)));
  const bool ours = function.defined() && function->HasNonzeroAttr("Primitive") &&
                    !function->attrs->dict.count("Codegen") && !function->attrs->dict.count("Composite");
  return ours ? function : Function();
}

std::shared_ptr<const RowSummary> RowAnalyzer::SummarizeFunction(const GlobalVar& callee, const Function& function) {
  auto [it, inserted] = functions_.try_emplace(callee.get());
  if (!inserted) return it->second;
  auto summary = std::make_shared<RowSummary>();
  it->second = summary;
  summary->kernels = CountKernels(function);
  const auto refuse = [&](const char* why) {
    summary->why_not = why;
    return summary;
  };
  const auto limit = [&](const RowDims& dims) {
    summary->inner = summary->inner ? CommonRows(*summary->inner, dims) : dims;
  };
  /// The dimensions in step of each value made inside, by result.
  std::unordered_map<const Object*, std::vector<RowDims>> made;
  std::unordered_map<const Object*, size_t> params;
  for (size_t i = 0; i < function->params.size(); ++i)
    params.emplace(function->params[static_cast<int64_t>(i)].get(), i);
  std::vector<std::optional<RowDims>> taken(function->params.size());
  for (const BindingBlock& block : function->body->blocks) {
    for (const Binding& binding : block->bindings) {
      const Expr& value = BoundValue(binding);
      if (const auto* item = value.as<TupleGetItemNode>()) {
        const auto tuple = made.find(item->tuple.get());
        if (tuple == made.end()) return refuse("takes apart a tuple from outside");
        made[binding->var.get()] = {tuple->second.at(static_cast<size_t>(item->index))};
        continue;
      }
      if (!IsAnyCallTIR(value)) return refuse("holds something else than calls of kernels");
      const auto inner = SummarizeKernelCall(Downcast<Call>(value));
      summary->has_reduction |= inner->has_reduction;
      summary->flops += inner->flops;
      if (inner->is_strided) {
        summary->is_strided = true;
        continue;
      }
      if (inner->why_not != nullptr) {
        summary->is_strided = false;
        return refuse(inner->why_not);
      }
      if (summary->is_strided) continue;
      if (inner->inner) limit(*inner->inner);
      if (inner->reduced) {
        if (summary->reduced && !SameRowCount(*summary->reduced, *inner->reduced))
          return refuse("reduces rows of different kinds");
        summary->reduced = inner->reduced;
      }
      size_t next = 0;
      for (const Expr& arg : ViewCallTIR(Downcast<Call>(value)).args->fields) {
        if (arg->kind == RelaxKind::kPrimValue) continue;
        const RowDims& dims = inner->arguments[next++];
        if (auto producer = made.find(arg.get()); producer != made.end()) {
          limit(CommonRows(producer->second.at(0), dims));
        } else if (auto param = params.find(arg.get()); param != params.end()) {
          auto& known = taken[param->second];
          known = known ? CommonRows(*known, dims) : dims;
        }
      }
      made[binding->var.get()] = inner->results;
    }
  }
  if (summary->is_strided) return refuse(kOtherAxes);
  for (size_t i = 0; i < taken.size(); ++i) {
    const Type& type = function->params[static_cast<int64_t>(i)].ty();
    if (type.as<TupleTypeNode>()) return refuse("takes a tuple");
    if (!type.as<TensorTypeNode>()) continue;
    summary->arguments.push_back(taken[i].value_or(RowDims()));
  }
  const auto result = [&](const Expr& expr) {
    const auto it = made.find(expr.get());
    if (it == made.end()) return false;
    summary->results.insert(summary->results.end(), it->second.begin(), it->second.end());
    return true;
  };
  if (const auto* tuple = function->body->body.as<TupleNode>()) {
    for (const Expr& field : tuple->fields) {
      if (!result(field)) return refuse("returns a value that it does not compute");
    }
  } else if (!result(function->body->body)) {
    return refuse("returns a value that it does not compute");
  }
  if (summary->reduced && summary->inner &&
      !SameRowCount(CommonRows(*summary->inner, *summary->reduced), *summary->reduced)) {
    return refuse("changes the order of rows");
  }
  return summary;
}

std::shared_ptr<const RowSummary> RowAnalyzer::Summarize(const Expr& value) {
  if (IsAnyCallTIR(value)) return SummarizeKernelCall(Downcast<Call>(value));
  const Function function = PrimitiveCallee(value);
  if (!function.defined()) return nullptr;
  const auto call = Downcast<Call>(value);
  auto summary = SummarizeFunction(Downcast<GlobalVar>(call->op), function);
  bool symbolic = false;
  for (const Var& param : function->params) symbolic |= !SymbolicVars(param.ty()).empty();
  if (!symbolic || summary->why_not != nullptr) return summary;
  // In the caller's symbols.
  auto own = std::make_shared<RowSummary>(*summary);
  arith::Analyzer analyzer;
  SymbolicMatcher matcher;
  for (size_t i = 0; i < function->params.size(); ++i) {
    const Type& declared = function->params[static_cast<int64_t>(i)].ty();
    const Type& given = call->args[static_cast<int64_t>(i)].ty();
    const auto* tensor = declared.as<TensorTypeNode>();
    const auto* argument = given.as<TensorTypeNode>();
    if (tensor && argument && tensor->has_shape() && argument->has_shape())
      matcher.Match(*tensor->shape, *argument->shape);
    const auto* shape = declared.as<ShapeTypeNode>();
    const auto* values = given.as<ShapeTypeNode>();
    if (shape && values && shape->values.has_value() && values->values.has_value())
      matcher.Match(*shape->values, *values->values);
  }
  if (!matcher.Solve(&analyzer)) {
    own->why_not = "is called with shapes that cannot be matched";
    return own;
  }
  const auto renew = [&](RowDims* dims) {
    RowDims renewed;
    for (const PrimExpr& dim : *dims) {
      PrimExpr value = analyzer.Simplify(Substitute(dim, matcher.values()));
      if (!IsUnit(value)) renewed.push_back(std::move(value));
    }
    *dims = std::move(renewed);
  };
  for (RowDims& dims : own->arguments) renew(&dims);
  for (RowDims& dims : own->results) renew(&dims);
  if (own->inner) renew(&*own->inner);
  if (own->reduced) renew(&*own->reduced);
  return own;
}

}  // namespace deuteron::relax::fusion
