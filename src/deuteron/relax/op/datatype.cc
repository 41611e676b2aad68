#include "deuteron/relax/op/datatype.h"

#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/elementwise.h"

namespace deuteron::relax {
namespace {

template <typename Node>
Type InferCast(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  return WithDType(TensorArg(call, 0), AttrsOf<Node>(call)->dtype);
}

template <typename Node>
Expr LegalizeCast(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "cast", call->args, [&](const Array<te::Tensor>& args) {
    const DataType dtype = AttrsOf<Node>(call)->dtype;
    return topi::Map(args[0], [&](PrimExpr value) { return CastTo(dtype, std::move(value)); });
  });
}

}  // namespace

std::vector<OpInfo> DatatypeOps() {
  return {
      {"astype", {"x"}, "deuteron.relax.AstypeAttrs", InferCast<AstypeAttrsNode>, LegalizeCast<AstypeAttrsNode>},
      {"wrap_param",
       {"data"},
       "deuteron.relax.WrapParamAttrs",
       InferCast<WrapParamAttrsNode>,
       LegalizeCast<WrapParamAttrsNode>},
  };
}

Expr Astype(Expr x, DataType dtype) {
  auto attrs = MakeNode<AstypeAttrsNode>();
  attrs->dtype = dtype;
  return MakeCall("astype", {std::move(x)}, Attrs(attrs));
}
Expr WrapParam(Expr data, DataType dtype) {
  auto attrs = MakeNode<WrapParamAttrsNode>();
  attrs->dtype = dtype;
  return MakeCall("wrap_param", {std::move(data)}, Attrs(attrs));
}

void AstypeAttrsNode::RegisterReflection() {
  refl::ObjectDef<AstypeAttrsNode>().def_ro("dtype", &AstypeAttrsNode::dtype);
}
void WrapParamAttrsNode::RegisterReflection() {
  refl::ObjectDef<WrapParamAttrsNode>().def_ro("dtype", &WrapParamAttrsNode::dtype);
}
DEUTERON_REFLECTION() {
  AstypeAttrsNode::RegisterReflection();
  WrapParamAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
