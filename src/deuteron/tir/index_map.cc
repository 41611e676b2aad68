#include "deuteron/tir/index_map.h"

#include "deuteron/ir/expr_functor.h"

namespace deuteron::tir {

IndexMap::IndexMap(Array<Var> initial_indices, Array<PrimExpr> final_indices) {
  auto node = MakeNode<IndexMapNode>();
  node->initial_indices = std::move(initial_indices);
  node->final_indices = std::move(final_indices);
  *this = IndexMap(std::move(node));
}

Array<PrimExpr> IndexMap::MapIndices(const Array<PrimExpr>& indices) const {
  DEUTERON_CHECK(indices.size() == get()->initial_indices.size())
      << indices.size() << " indices for a map of " << get()->initial_indices.size();
  ExprVarMap values;
  for (size_t i = 0; i < indices.size(); ++i) values[get()->initial_indices[i]] = indices[i];
  return get()->final_indices.Map([&](const PrimExpr& index) { return Substitute(index, values); });
}

void IndexMapNode::RegisterReflection() {
  refl::ObjectDef<IndexMapNode>()
      .def_ro("initial_indices", &IndexMapNode::initial_indices, refl::AttachFieldFlag::SEqHashDefPattern())
      .def_ro("final_indices", &IndexMapNode::final_indices);
}
DEUTERON_REFLECTION() { IndexMapNode::RegisterReflection(); }

}  // namespace deuteron::tir
