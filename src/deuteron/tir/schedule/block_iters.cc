/// \file
/// Iterators of blocks: one made two.
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

void Schedule::SplitBlockIter(const Block& name, size_t position, int64_t factor) {
  const SBlock block = Get(name);
  const auto fail = [&](const std::string& why) {
    DEUTERON_SCHEDULE_ERROR << "split_block_iter of block " << name << ": " << why;
  };
  if (position >= block->iter_vars.size()) fail("iterator " + std::to_string(position) + " does not exist");
  const IterVar& iter = block->iter_vars[position];
  const auto extent = AsConstInt(iter->dom->extent);
  if (!extent || factor < 1 || *extent % factor != 0 || !IsZero(iter->dom->min)) {
    fail(std::to_string(factor) + " does not divide iterator " + std::string(iter->var->name_hint));
  }
  const auto loop = As<Var>(GetRealize(name)->iter_values[position]);
  if (!loop.defined() || ConstExtent(loop) != extent) {
    fail("iterator " + std::string(iter->var->name_hint) + " has no loop of its own");
  }
  const std::vector<Loop> loops = Split(loop, std::vector<int64_t>{*extent / factor, factor});

  const DataType dtype = iter->var.dtype();
  const auto part = [&](const char* suffix, int64_t length) {
    return IterVar(Range::FromMinExtent(MakeConst(dtype, 0), MakeConst(dtype, length)),
                   Var(iter->var->name_hint + suffix, dtype), iter->type);
  };
  const IterVar parts[] = {part("_o", *extent / factor), part("_i", factor)};
  const ExprVarMap values = {{iter->var, parts[0]->var * MakeConst(dtype, factor) + parts[1]->var}};
  SBlockRealize realize = GetRealize(name);
  Array<IterVar> iters;
  Array<PrimExpr> iter_values;
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (i != position) {
      iters.push_back(block->iter_vars[i]);
      iter_values.push_back(realize->iter_values[i]);
      continue;
    }
    for (const size_t k : {0, 1}) {
      iters.push_back(parts[k]);
      iter_values.push_back(loops[k]);
    }
  }
  SBlock result = block;
  auto* node = CopyOnWrite(&result);
  node->iter_vars = iters;
  node->body = tir::Substitute(node->body, values);
  if (node->init.defined()) node->init = tir::Substitute(node->init, values);
  auto* realized = CopyOnWrite(&realize);
  realized->iter_values = iter_values;
  realized->block = SimplifyBlock(func_, result);
  func_ = ReplaceIn(func_, FindBlock(func_, name), realize);
}

}  // namespace deuteron::tir
