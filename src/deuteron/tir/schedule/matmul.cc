/// \file
/// Matrix products in canonical form: whatever a block sums products over (dense, batched and transposed
/// matmul, convolution as implicit GEMM) becomes C[b, m, n] += A[b, m, k] * B[b, n, k].
#include <algorithm>

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

/// The two factors as they are multiplied, casts included.
std::pair<PrimExpr, PrimExpr> Factors(PrimExpr source) {
  while (source->kind == ExprKind::kCast) source = PrimExpr(static_cast<const CastNode*>(source.get())->value);
  const auto* mul = static_cast<const MulNode*>(source.get());
  return {mul->a, mul->b};
}

/// Fresh iterators with the same domains, for another block.
struct Renamed {
  Array<IterVar> iters;
  Array<PrimExpr> vars;
  ExprVarMap values;
  explicit Renamed(const std::vector<IterVar>& list) {
    for (const IterVar& iter : list) {
      Var var(iter->var->name_hint, iter->var.dtype());
      values[iter->var] = var;
      vars.push_back(var);
      iters.push_back(IterVar(iter->dom, var, IterVarType::kSpatial));
    }
  }
};

/// Whether a store at these indices, over all values of the block's iterators, covers the buffer.
bool CoversBuffer(const PrimFunc& func, const SBlock& block, const Buffer& buffer, const Array<PrimExpr>& indices) {
  arith::Analyzer analyzer;
  BindShapes(func, &analyzer);
  for (size_t d = 0; d < indices.size(); ++d) {
    PrimExpr extent = MakeConst(buffer->shape[d].dtype(), 1);
    bool starts_at_zero = IsZero(indices[d]);
    for (const IterVar& iter : block->iter_vars) {
      if (!indices[d].same_as(iter->var)) continue;
      extent = iter->dom->extent;
      starts_at_zero = IsZero(iter->dom->min);
    }
    if (!starts_at_zero || !analyzer.CanProveEqual(extent, buffer->shape[d])) return false;
  }
  return true;
}

}  // namespace

NormalizedMatmul Schedule::NormalizeMatmul(const Block& name, const NormalizeOptions& options) {
  const Path path = FindBlock(func_, name);
  const SBlockRealize realize = RealizeOf(path);
  const SBlock block = realize->block;
  const BlockInfo info = ClassifyBlock(block);
  if (!info.matmul || info.matmul->k.empty()) {
    DEUTERON_SCHEDULE_ERROR << "normalize_matmul: block " << name << " is no sum of products";
  }
  if (!IsOne(realize->predicate))
    DEUTERON_SCHEDULE_ERROR << "normalize_matmul: block " << name << " runs under a condition";
  const Path top = CheckAlone(path, "normalize_matmul");
  MatmulRoles roles = *info.matmul;
  const ReductionUpdate update = *GetReductionUpdate(block);
  auto [lhs, rhs] = Factors(update.source);
  if (options.swap_operands) {
    std::swap(lhs, rhs);
    std::swap(roles.m, roles.n);
  }

  ExprVarMap values;
  const auto spatial = IterVarType::kSpatial;
  const bool batched = !roles.batch.empty();
  std::vector<IterVar> b;
  if (batched) b.push_back(FuseIters(block, roles.batch, "b", spatial, &values));
  const IterVar m = FuseIters(block, roles.m, "m", spatial, &values);
  const IterVar n = FuseIters(block, roles.n, "n", spatial, &values);
  const IterVar k = FuseIters(block, roles.k, "k", IterVarType::kReduce, &values);
  // Iterators of extent 1 that play no role.
  for (const IterVar& iter : block->iter_vars) values.try_emplace(iter->var, iter->dom->min);
  const auto with_batch = [&](std::initializer_list<IterVar> list) {
    std::vector<IterVar> result = b;
    result.insert(result.end(), list.begin(), list.end());
    return result;
  };
  const auto buffer_over = [&](const std::string& suffix, DataType dtype, const std::vector<IterVar>& iters) {
    Array<PrimExpr> shape;
    for (const IterVar& iter : iters) shape.push_back(iter->dom->extent);
    return Buffer(name + suffix, dtype, shape, "global");
  };
  const auto vars_of = [](const std::vector<IterVar>& iters) {
    Array<PrimExpr> vars;
    for (const IterVar& iter : iters) vars.push_back(iter->var);
    return vars;
  };

  NormalizedMatmul result;
  result.block = name;
  result.batched = batched;
  Array<Stmt> nests;
  PrimFunc func = func_;
  const auto pack = [&](const PrimExpr& factor, const std::vector<IterVar>& iters, const std::string& suffix,
                        std::string* block_name) -> PrimExpr {
    const Buffer buffer = buffer_over(suffix, factor.dtype(), iters);
    *block_name = UniqueBlockName(func_, name + suffix);
    const Renamed own(iters);
    const PrimExpr value = Substitute(Substitute(factor, values), own.values);
    SBlock copy(own.iters, {}, {}, *block_name, BufferStore(buffer, value, own.vars), Stmt(), {},
                {{kWritesOnce, true}});
    nests.push_back(MakeNest(SimplifyBlock(func_, copy)));
    func = AddBuffer(func, buffer);
    return BufferLoad(buffer, vars_of(iters));
  };
  PrimExpr a = options.pack_a ? pack(lhs, with_batch({m, k}), "_a", &result.pack_a) : Substitute(lhs, values);
  PrimExpr c = options.pack_b ? pack(rhs, with_batch({n, k}), "_b", &result.pack_b) : Substitute(rhs, values);

  const std::vector<IterVar> out_iters = with_batch({m, n});
  const Buffer out = buffer_over("_c", update.buffer->dtype, out_iters);
  const Array<PrimExpr> out_indices = vars_of(out_iters);
  Array<IterVar> iters;
  for (const IterVar& iter : out_iters) iters.push_back(iter);
  iters.push_back(k);
  const PrimExpr product = CastTo(update.source.dtype(), a * c);
  SBlock main(iters, {}, {}, name, BufferStore(out, BufferLoad(out, out_indices) + product, out_indices),
              BufferStore(out, update.identity, out_indices), {}, block->annotations, block->span);
  nests.push_back(MakeNest(SimplifyBlock(func_, main)));
  func = AddBuffer(func, out);

  const Renamed own(out_iters);
  result.write_back = UniqueBlockName(func_, name + "_write");
  Map<String, Any> annotations;
  if (CoversBuffer(func_, block, update.buffer, update.indices)) annotations.Set(kWritesOnce, true);
  SBlock write(
      own.iters, {}, {}, result.write_back,
      BufferStore(update.buffer, BufferLoad(out, own.vars), Substitute(Substitute(update.indices, values), own.values)),
      Stmt(), {}, annotations);
  nests.push_back(MakeNest(SimplifyBlock(func_, write)));
  func_ = ReplaceIn(func, top, SeqStmt::Flatten(nests));
  return result;
}

}  // namespace deuteron::tir
