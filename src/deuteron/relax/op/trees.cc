#include "deuteron/relax/op/trees.h"

#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/indexing.h"

namespace deuteron::relax {
namespace {

/// Bits of a number that is not negative.
constexpr int64_t kMostBits = 31;

Type InferWalkTrees(const Call& call, const BlockBuilder&) {
  CheckArity(call, 3, 3);
  CheckRank(call, 0, 2);
  CheckRank(call, 1, 2);
  CheckRank(call, 2, 1);
  const auto* attrs = AttrsOf<WalkTreesAttrsNode>(call);
  const TensorTypeNode *x = TensorArg(call, 0), *nodes = TensorArg(call, 1), *roots = TensorArg(call, 2);
  const DataType integer = DataType::Int(32);
  const auto is_other = [](const TensorTypeNode* type, DataType dtype) {
    return !type->dtype.is_void() && type->dtype != dtype;
  };
  if (is_other(x, DataType::Float(32)) || is_other(nodes, integer) || is_other(roots, integer)) {
    ThrowOpError(call, "its features must be float32, its nodes and roots int32, and are " + Describe(GetRef<Type>(x)) +
                           ", " + Describe(GetRef<Type>(nodes)) + " and " + Describe(GetRef<Type>(roots)));
  }
  if (nodes->has_shape() && AsConstInt((*nodes->shape)[1]).value_or(2) != 2) {
    ThrowOpError(call, "its nodes must be (count, 2) and are " + Describe(*nodes->shape));
  }
  if (attrs->child_bits < 0 || attrs->child_bits > kMostBits) {
    ThrowOpError(call, "its child_bits must be from 0 to " + std::to_string(kMostBits));
  }
  int64_t end = 0;
  for (size_t group = 0; group < attrs->ends.size(); ++group) {
    if (attrs->ends[group] < end) ThrowOpError(call, "its groups must end one behind the other");
    end = attrs->ends[group];
  }
  if (attrs->levels.size() != attrs->ends.size()) ThrowOpError(call, "its levels must be as many as its ends");
  for (const int64_t levels : attrs->levels) {
    if (levels < 0 || levels > topi::kMostLevelsOfTrees) {
      ThrowOpError(call, "its levels must be from 0 to " + std::to_string(topi::kMostLevelsOfTrees));
    }
  }
  if (!roots->has_shape() || !x->has_shape()) return TensorType::WithNDim(2, integer, x->vdevice);
  if (const auto trees = AsConstInt((*roots->shape)[0]); !trees || *trees != end) {
    ThrowOpError(call, "its last group must end with the last of its trees, which are " + Describe(*roots->shape));
  }
  return TensorType({(*x->shape)[0], I64(end)}, integer, x->vdevice);
}

Expr LegalizeWalkTrees(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<WalkTreesAttrsNode>(call);
  const topi::TreeWalk walk{
      attrs->child_bits, {attrs->ends.begin(), attrs->ends.end()}, {attrs->levels.begin(), attrs->levels.end()}};
  return builder.CallTE("walk_trees", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::WalkTrees(args[0], args[1], args[2], walk)};
  });
}

}  // namespace

std::vector<OpInfo> TreeOps() {
  return {{"walk_trees", {"x", "nodes", "roots"}, "deuteron.relax.WalkTreesAttrs", InferWalkTrees, LegalizeWalkTrees}};
}

Expr WalkTrees(Expr x, Expr nodes, Expr roots, int64_t child_bits, std::vector<int64_t> ends,
               std::vector<int64_t> levels) {
  auto attrs = MakeNode<WalkTreesAttrsNode>();
  attrs->child_bits = child_bits;
  attrs->ends = ToArray(ends);
  attrs->levels = ToArray(levels);
  return MakeCall("walk_trees", {std::move(x), std::move(nodes), std::move(roots)}, Attrs(attrs));
}

void WalkTreesAttrsNode::RegisterReflection() {
  refl::ObjectDef<WalkTreesAttrsNode>()
      .def_ro("child_bits", &WalkTreesAttrsNode::child_bits)
      .def_ro("ends", &WalkTreesAttrsNode::ends)
      .def_ro("levels", &WalkTreesAttrsNode::levels);
}
DEUTERON_REFLECTION() { WalkTreesAttrsNode::RegisterReflection(); }

}  // namespace deuteron::relax
