/// The builder of functions, as an object of Python's.
#include <tvm/ffi/reflection/registry.h>

#include <string>
#include <unordered_set>
#include <utility>

#include "deuteron/python/register.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::python {
namespace {

using relax::Expr;

class BuilderNode : public Object {
 public:
  explicit BuilderNode(IRModule module) : builder(std::move(module)) {}
  mutable relax::BlockBuilder builder;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.relax.BlockBuilder", BuilderNode, Object);
};

class Builder : public ObjectRef {
 public:
  explicit Builder(IRModule module) : ObjectRef(MakeNode<BuilderNode>(std::move(module))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Builder, ObjectRef, BuilderNode);
};

/// `expr` as an argument or result: what is no leaf is bound first.
Expr ToLeaf(const Builder& self, const Expr& expr) {
  const Expr value = self->builder.Normalize(expr);
  return relax::IsLeaf(value) ? value : Expr(self->builder.Emit(value));
}

/// A function whose result's type mentions only symbolic variables of its parameters.
relax::Function MakeFunction(const Array<relax::Var>& params, const relax::SeqExpr& body, bool is_pure,
                             const Map<String, ffi::Any>& attrs) {
  std::unordered_set<const Object*> own;
  for (const relax::Var& param : params) {
    for (const tir::Var& var : relax::SymbolicVars(param.ty())) own.insert(var.get());
  }
  const Type ret =
      relax::EraseToWellDefined(body->body.ty(), [&](const tir::Var& var) { return own.count(var.get()) != 0; });
  return relax::Function(params, body, ret, is_pure, attrs.empty() ? DictAttrs() : DictAttrs(attrs));
}

/// A call of the kernel that `compute` says, of the tensors that `args` are.
relax::Call CallTE(const Builder& self, const String& name, const Array<Expr>& args, const ffi::Function& compute) {
  const Array<Expr> leaves = args.Map([&](const Expr& arg) { return ToLeaf(self, arg); });
  for (const Expr& leaf : leaves) {
    const auto* type = leaf.ty().as<TensorTypeNode>();
    if (type == nullptr || !type->has_shape()) {
      DEUTERON_THROW(UsageError) << "an argument of a kernel is a tensor of known shape, not "
                                 << relax::Describe(leaf.ty());
    }
  }
  return self->builder.CallTE(std::string(name), leaves, [&](const Array<te::Tensor>& tensors) {
    return compute(tensors).cast<Array<te::Tensor>>();
  });
}

}  // namespace

void RegisterBuilder() {
  ffi::reflection::ObjectDef<BuilderNode>();
  ffi::reflection::GlobalDef()
      .def("deuteron.python.builder.new",
           [](const Optional<IRModule>& module) { return Builder(module.has_value() ? *module : IRModule::Empty()); })
      .def("deuteron.python.builder.begin_dataflow_block",
           [](const Builder& self) { self->builder.BeginDataflowBlock(); })
      .def("deuteron.python.builder.begin_binding_block",
           [](const Builder& self) { self->builder.BeginBindingBlock(); })
      .def("deuteron.python.builder.end_block", [](const Builder& self) { return self->builder.EndBlock(); })
      .def("deuteron.python.builder.begin_scope",
           [](const Builder& self, const Array<relax::Var>& params) { self->builder.BeginScope(params); })
      .def("deuteron.python.builder.end_scope", [](const Builder& self) { self->builder.EndScope(); })
      .def("deuteron.python.builder.in_dataflow_block",
           [](const Builder& self) { return self->builder.InDataflowBlock(); })
      .def("deuteron.python.builder.emit",
           [](const Builder& self, const Expr& expr, const String& name) {
             return self->builder.Emit(expr, std::string(name));
           })
      .def("deuteron.python.builder.emit_output",
           [](const Builder& self, const Expr& expr, const String& name) {
             return self->builder.EmitOutput(expr, std::string(name));
           })
      .def("deuteron.python.builder.match_cast",
           [](const Builder& self, const Expr& expr, const Type& ty, const String& name) {
             return self->builder.EmitMatchCast(expr, ty, std::string(name));
           })
      .def("deuteron.python.builder.emit_normalized",
           [](const Builder& self, const relax::Binding& binding) { self->builder.EmitNormalized(binding); })
      .def("deuteron.python.builder.normalize",
           [](const Builder& self, const Expr& expr) { return self->builder.Normalize(expr); })
      .def("deuteron.python.builder.leaf", ToLeaf)
      .def("deuteron.python.builder.lookup_binding",
           [](const Builder& self, const relax::Var& var) -> Optional<Expr> {
             const Expr value = self->builder.LookupBinding(var);
             return value.defined() ? Optional<Expr>(value) : std::nullopt;
           })
      .def("deuteron.python.builder.unique_name",
           [](const Builder& self, const String& hint) { return String(self->builder.UniqueName(std::string(hint))); })
      .def("deuteron.python.builder.call_te", CallTE)
      .def("deuteron.python.builder.function", MakeFunction)
      .def("deuteron.python.builder.add_function",
           [](const Builder& self, const BaseFunc& func, const String& name) {
             return self->builder.AddFunction(func, std::string(name));
           })
      .def("deuteron.python.builder.update_function",
           [](const Builder& self, const GlobalVar& var, const BaseFunc& func) {
             self->builder.UpdateFunction(var, func);
           })
      .def("deuteron.python.builder.module", [](const Builder& self) { return self->builder.module(); });
}
}  // namespace deuteron::python
