#include "deuteron/tir/function.h"

namespace deuteron::tir {
namespace {

/// Kernels are called with any arguments; a function of scalars returns one.
Type TypeOf(const PrimFuncNode& func) {
  static const Op ret = Op::Get("tir.ret");
  const auto* statement = func.body.as<EvaluateNode>();
  const auto* call = statement == nullptr ? nullptr : statement->value.as<CallNode>();
  static const auto* const any = new FuncType(FuncType::Opaque(AnyType::Get()));
  if (call == nullptr || !call->op.same_as(ret) || !func.buffer_map.empty()) return *any;
  return FuncType(func.params.Map([](const Var& param) -> Type { return PrimType(param->dtype); }),
                  PrimType(call->args[0].dtype()));
}

}  // namespace

PrimFunc::PrimFunc(Array<Var> params, Map<Var, Buffer> buffer_map, Stmt body, DictAttrs attrs, Span span) {
  auto node = MakeNode<PrimFuncNode>();
  node->params = std::move(params);
  node->buffer_map = std::move(buffer_map);
  node->body = std::move(body);
  node->ty = TypeOf(*node);
  node->attrs = std::move(attrs);
  node->span = std::move(span);
  data_ = std::move(node);
}

PrimFunc PrimFunc::FromBuffers(const Array<Buffer>& buffers, const Array<Var>& scalars, Stmt body, DictAttrs attrs) {
  std::vector<Var> params;
  params.reserve(buffers.size() + scalars.size());
  Map<Var, Buffer> buffer_map;
  for (const Buffer& buffer : buffers) {
    Var handle(buffer->name, DataType::Handle());
    buffer_map.Set(handle, buffer);
    params.push_back(handle);
  }
  params.insert(params.end(), scalars.begin(), scalars.end());
  return PrimFunc(params, std::move(buffer_map), std::move(body), std::move(attrs));
}

Array<Buffer> ParamBuffers(const PrimFunc& func) {
  Array<Buffer> buffers;
  for (const Var& param : func->params) {
    if (auto it = func->buffer_map.find(param); it != func->buffer_map.end()) buffers.push_back((*it).second);
  }
  return buffers;
}

bool HasRootBlock(const PrimFunc& func) {
  const auto* realize = func->body.as<SBlockRealizeNode>();
  return realize != nullptr && realize->block->iter_vars.empty();
}

SBlock RootBlock(const PrimFunc& func) {
  DEUTERON_CHECK(HasRootBlock(func)) << "the body of the function is not a root block";
  return func->body.as<SBlockRealizeNode>()->block;
}

}  // namespace deuteron::tir
