/// Nodes of the graph level, and calls of its operators.
#include <tvm/ffi/reflection/registry.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/python/options.h"
#include "deuteron/python/register.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/script/op_attrs.h"
#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::python {
namespace {

using relax::Expr;
using script::KnownOp;
using script::NameOf;

/// Constants never change, so they do not share memory with arrays of Python's.
relax::Constant CopiedConstant(const Tensor& tensor) {
  const std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  Tensor copy = EmptyHostTensor(shape, tensor.dtype());
  std::memcpy(copy.data_ptr(), tensor.data_ptr(), static_cast<size_t>(CheckedByteSize(shape, tensor.dtype())));
  return relax::Constant(std::move(copy));
}

Type MakeTensorType(const Optional<Array<ffi::Any>>& shape, const String& dtype, int64_t ndim) {
  if (shape.has_value()) return TensorType(ToDimensions(*shape), ToDataType(dtype));
  return TensorType::WithNDim(ndim, ToDataType(dtype));
}

Type MakeShapeType(const Optional<Array<ffi::Any>>& values, int64_t ndim) {
  if (values.has_value()) return ShapeType(ToDimensions(*values));
  return ShapeType::WithNDim(ndim);
}

PrimExpr ToPrim(const ffi::Any& value) {
  if (const auto flag = value.as<bool>()) return *flag ? True() : False();
  if (const auto number = value.as<int64_t>()) return I64(*number);
  if (const auto number = value.as<double>()) return MakeConst(DataType::Float(64), *number);
  return value.cast<PrimExpr>();
}

KnownOp FindOp(const String& name) {
  KnownOp op = script::DescribeOp(std::string(name));
  if (op.info == nullptr) DEUTERON_THROW(UsageError) << "there is no operator relax." << name;
  return op;
}

/// A call of an operator: `args` by position (null: left out), then attributes by name.
relax::Call CallOp(const String& name, const Array<Optional<Expr>>& args, const Map<String, ffi::Any>& named,
                   const Array<Type>& ty_args) {
  const KnownOp op = FindOp(name);
  std::vector<Expr> given;
  for (const Optional<Expr>& arg : args) given.push_back(arg.has_value() ? *arg : Expr());
  script::CompleteArguments(op.info->name, &given);
  ObjectPtr<Object> attrs = script::DefaultAttrs(op);
  bool has_out_layout = false;
  for (const auto& [key, value] : named) {
    const TVMFFIFieldInfo* found = nullptr;
    std::string names;
    for (const TVMFFIFieldInfo* field : op.fields) {
      names += (names.empty() ? "" : ", ") + std::string(NameOf(field));
      if (NameOf(field) == std::string_view(key.data(), key.size())) found = field;
    }
    if (found == nullptr) {
      DEUTERON_THROW(UsageError) << "relax." << name << " has no argument " << key << "; its attributes are "
                                 << (names.empty() ? "none" : names);
    }
    const bool is_set = script::TrySetAttr(attrs.get(), found, value);
    // Of what cannot be nothing, None means the default.
    if (!is_set && value != nullptr) {
      DEUTERON_THROW(UsageError) << "attribute " << key << " of relax." << name << " is not a " << value.GetTypeKey();
    }
    has_out_layout |= is_set && NameOf(found) == "out_layout";
  }
  if (attrs != nullptr) {
    script::CompleteAttrs(attrs.get(), op, has_out_layout);
    if (std::string_view(op.info->name) == "arange" && named.count("dtype") == 0) {
      script::SetArangeDType(given, op, attrs.get());
    }
  }
  while (!given.empty() && !given.back().defined()) given.pop_back();
  Array<Expr> arguments;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].defined()) {
      DEUTERON_THROW(UsageError) << "relax." << name << " lacks its argument " << op.info->arguments.at(i);
    }
    arguments.push_back(given[i]);
  }
  return relax::Call(op.op, std::move(arguments), attrs == nullptr ? Attrs() : Downcast<Attrs>(ObjectRef(attrs)),
                     ty_args);
}

/// (name, names of arguments, names of attributes) of each operator.
Array<Array<ffi::Any>> ListOps() {
  Array<Array<ffi::Any>> list;
  for (const relax::OpInfo& info : relax::AllOps()) {
    Array<String> arguments, attrs;
    for (const char* argument : info.arguments) arguments.push_back(argument);
    for (const TVMFFIFieldInfo* field : script::DescribeOp(info.name).fields)
      attrs.push_back(std::string(NameOf(field)));
    list.push_back({String(info.name), arguments, attrs});
  }
  return list;
}

void RegisterAlteration(const String& op, const ffi::Function& alter, int level) {
  relax::RegisterAlterOpLayout({.op = op,
                                .alter = [alter](const Attrs& attrs, const Array<Expr>& inputs,
                                                 const Array<Type>& types, const Type& out) -> Expr {
                                  const auto call = alter(attrs, inputs, types, out).cast<Optional<Expr>>();
                                  return call.has_value() ? *call : Expr();
                                },
                                .level = level});
}

}  // namespace

void RegisterNodes() {
  ffi::reflection::GlobalDef()
      .def("deuteron.python.relax.symbolic",
           [](const String& name, const String& dtype) { return tir::Var(name, ToDataType(dtype)); })
      .def("deuteron.python.relax.TensorType", MakeTensorType)
      .def("deuteron.python.relax.ShapeType", MakeShapeType)
      .def("deuteron.python.relax.TupleType", [](const Array<Type>& fields) { return TupleType(fields); })
      .def("deuteron.python.relax.PrimType", [](const String& dtype) { return PrimType(ToDataType(dtype)); })
      .def("deuteron.python.relax.AnyType", [] { return AnyType::Get(); })
      .def("deuteron.python.relax.FuncType",
           [](const Array<Type>& params, const Type& ret, bool purity) { return FuncType(params, ret, purity); })
      .def("deuteron.python.relax.Var",
           [](const String& name, const Optional<Type>& ty) { return relax::Var(name, ty.has_value() ? *ty : Type()); })
      .def("deuteron.python.relax.DataflowVar",
           [](const String& name, const Optional<Type>& ty) {
             return relax::DataflowVar(name, ty.has_value() ? *ty : Type());
           })
      .def("deuteron.python.relax.Constant", CopiedConstant)
      .def("deuteron.python.relax.Tuple", [](const Array<Expr>& fields) { return relax::Tuple(fields); })
      .def("deuteron.python.relax.TupleGetItem",
           [](const Expr& tuple, int64_t index) { return relax::TupleGetItem(tuple, index); })
      .def("deuteron.python.relax.Call",
           [](const Expr& op, const Array<Expr>& args, const Optional<Attrs>& attrs, const Array<Type>& ty_args) {
             return relax::Call(op, args, attrs.has_value() ? *attrs : Attrs(), ty_args);
           })
      .def("deuteron.python.relax.ShapeExpr",
           [](const Array<ffi::Any>& values) { return relax::ShapeExpr(ToDimensions(values)); })
      .def("deuteron.python.relax.PrimValue", [](const ffi::Any& value) { return relax::PrimValue(ToPrim(value)); })
      .def("deuteron.python.relax.StringImm", [](const String& value) { return relax::StringImm(value); })
      .def("deuteron.python.relax.DataTypeImm",
           [](const String& value) { return relax::DataTypeImm(ToDataType(value)); })
      .def("deuteron.python.relax.VarBinding",
           [](const relax::Var& var, const Expr& value) { return relax::VarBinding(var, value); })
      .def("deuteron.python.relax.MatchCast",
           [](const relax::Var& var, const Expr& value, const Type& ty) { return relax::MatchCast(var, value, ty); })
      .def("deuteron.python.relax.BindingBlock",
           [](const Array<relax::Binding>& bindings) { return relax::BindingBlock(bindings); })
      .def("deuteron.python.relax.DataflowBlock",
           [](const Array<relax::Binding>& bindings) { return relax::DataflowBlock(bindings); })
      .def("deuteron.python.relax.SeqExpr",
           [](const Array<relax::BindingBlock>& blocks, const Expr& body) { return relax::SeqExpr(blocks, body); })
      .def("deuteron.python.relax.If",
           [](const Expr& cond, const relax::SeqExpr& true_branch, const relax::SeqExpr& false_branch) {
             return relax::If(cond, true_branch, false_branch);
           })
      .def("deuteron.python.relax.Function",
           [](const Array<relax::Var>& params, const relax::SeqExpr& body, const Optional<Type>& ret, bool is_pure,
              const Map<String, ffi::Any>& attrs) {
             return relax::Function(params, body, ret.has_value() ? *ret : body->body.ty(), is_pure,
                                    attrs.empty() ? DictAttrs() : DictAttrs(attrs));
           })
      .def("deuteron.python.relax.ExternFunc", [](const String& name) { return relax::ExternFunc(name); })
      .def("deuteron.python.relax.GlobalVar", [](const String& name) { return GlobalVar(name); })
      .def("deuteron.python.relax.Op", [](const String& name) { return FindOp(name).op; })
      .def("deuteron.python.relax.call_op", CallOp)
      .def("deuteron.python.relax.list_ops", ListOps)
      .def("deuteron.python.relax.register_alter_op_layout", RegisterAlteration);
}
}  // namespace deuteron::python
