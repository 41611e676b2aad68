#include "deuteron/tir/function.h"

namespace deuteron::tir {

PrimFunc::PrimFunc(Array<Var> params, Map<Var, Buffer> buffer_map, Stmt body, DictAttrs attrs, Span span) {
  auto node = make_object<PrimFuncNode>();
  node->ty = FuncType::Opaque(AnyType::Get());
  node->params = std::move(params);
  node->buffer_map = std::move(buffer_map);
  node->body = std::move(body);
  node->attrs = std::move(attrs);
  node->span = std::move(span);
  data_ = std::move(node);
}

PrimFunc PrimFunc::FromBuffers(const Array<Buffer>& buffers, const Array<Var>& scalars, Stmt body,
                               DictAttrs attrs) {
  Array<Var> params;
  Map<Var, Buffer> buffer_map;
  for (const Buffer& buffer : buffers) {
    Var handle(buffer->name, DataType::Handle());
    buffer_map.Set(handle, buffer);
    params.push_back(handle);
  }
  for (const Var& scalar : scalars) params.push_back(scalar);
  return PrimFunc(std::move(params), std::move(buffer_map), std::move(body), std::move(attrs));
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
