/// Scalar and tensor expressions, written in Python.
#include <tvm/ffi/reflection/registry.h>

#include <algorithm>
#include <string>
#include <vector>

#include "deuteron/ir/op.h"
#include "deuteron/python/options.h"
#include "deuteron/python/register.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/support/error.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::python {
namespace {

/// A number of Python's as a literal: of `like`'s dtype, or as wide as they come.
PrimExpr Literal(const ffi::Any& value, const PrimExpr& like) {
  if (const auto flag = value.as<bool>()) return *flag ? True() : False();
  if (const auto number = value.as<int64_t>()) return like.defined() ? MakeConst(like.dtype(), *number) : I64(*number);
  if (const auto number = value.as<double>()) {
    const bool is_float = like.defined() && like.dtype().is_float();
    return MakeConst(is_float ? like.dtype() : DataType::Float(32), *number);
  }
  DEUTERON_THROW(UsageError) << "a scalar is an expression, an axis or a number, not " << value.GetTypeKey();
}

/// An expression, or nothing: `value` is a number then.
PrimExpr AsExpr(const ffi::Any& value) {
  if (const auto expr = value.as<PrimExpr>()) return *expr;
  if (const auto axis = value.as<tir::IterVar>()) return (*axis)->var;
  if (const auto tensor = value.as<te::Tensor>(); tensor && tensor->ndim() == 0) return (*tensor)({});
  return PrimExpr();
}

PrimExpr Scalar(const ffi::Any& value, const PrimExpr& like = PrimExpr()) {
  const PrimExpr expr = AsExpr(value);
  return expr.defined() ? expr : Literal(value, like);
}

Array<PrimExpr> Scalars(const Array<ffi::Any>& values) {
  return values.Map([](const ffi::Any& value) { return Scalar(value); });
}

PrimExpr Binary(const String& name, const ffi::Any& left, const ffi::Any& right) {
  const PrimExpr a = Scalar(left, AsExpr(right));
  const PrimExpr b = Scalar(right, a);
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (name == "/") return a / b;
  if (name == "//") return FloorDiv(a, b);
  if (name == "%") return FloorMod(a, b);
  if (name == "<") return a < b;
  if (name == "<=") return a <= b;
  if (name == ">") return a > b;
  if (name == ">=") return a >= b;
  if (name == "==") return Equal(a, b);
  if (name == "!=") return NotEqual(a, b);
  if (name == "min") return Min(a, b);
  if (name == "max") return Max(a, b);
  if (name == "and") return a && b;
  DEUTERON_CHECK(name == "or") << name;
  return a || b;
}

PrimExpr Choose(PrimExpr (*choose)(PrimExpr, PrimExpr, PrimExpr), const ffi::Any& condition, const ffi::Any& yes,
                const ffi::Any& no) {
  const PrimExpr first = Scalar(yes, AsExpr(no));
  return choose(Scalar(condition), first, Scalar(no, first));
}

PrimExpr CallIntrinsic(const String& name, const Array<ffi::Any>& arguments, const Optional<String>& dtype) {
  const tir::Intrinsic* intrinsic = tir::FindIntrinsicInfo("tir." + std::string(name));
  if (intrinsic == nullptr) DEUTERON_THROW(UsageError) << "there is no intrinsic T." << name;
  const auto count = static_cast<int64_t>(arguments.size());
  if (count != intrinsic->arity && (intrinsic->arity >= 0 || count == 0)) {
    DEUTERON_THROW(UsageError) << "T." << name << " takes " << intrinsic->arity << " arguments, given " << count;
  }
  if (intrinsic->kind == tir::IntrinKind::kPredicate) {
    return CallIntrin(std::string(name).c_str(), DataType::Bool(), Scalars(arguments));
  }
  if (dtype.has_value()) {
    return CallIntrin(std::string(name).c_str(), ToDataType(*dtype), Scalars(arguments));
  }
  if (count == 0) DEUTERON_THROW(UsageError) << "T." << name << " needs a dtype";
  return CallIntrin(std::string(name).c_str(), Scalars(arguments));
}

PrimExpr Load(const te::Tensor& tensor, const Array<ffi::Any>& indices) {
  if (static_cast<int64_t>(indices.size()) != tensor.ndim()) {
    DEUTERON_THROW(UsageError) << indices.size() << " indices for tensor " << tensor->op->name << " of rank "
                               << tensor.ndim();
  }
  return tensor(Scalars(indices));
}

/// `elements` gives an expression for each of the tensors from the axes.
Array<te::Tensor> ComputeElements(const Array<ffi::Any>& shape, const ffi::Function& elements, const String& name) {
  return te::ComputeMany(
      ToDimensions(shape), [&](const Array<tir::Var>& axes) { return Scalars(elements(axes).cast<Array<ffi::Any>>()); },
      name);
}

PrimExpr ReduceOver(const String& kind, const ffi::Any& source, const Array<tir::IterVar>& axes) {
  for (const tir::IterVar& axis : axes) {
    if (axis->type != tir::IterVarType::kReduce) {
      DEUTERON_THROW(UsageError) << "axis " << axis->var->name_hint << " is none of te.reduce_axis";
    }
  }
  const PrimExpr value = Scalar(source);
  if (kind == "sum") return te::Sum(value, axes);
  if (kind == "prod") return te::Prod(value, axes);
  if (kind == "max") return te::MaxReduce(value, axes);
  DEUTERON_CHECK(kind == "min") << kind;
  return te::MinReduce(value, axes);
}

tir::PrimFunc PrimFuncOf(const Array<te::Tensor>& tensors) {
  bool computes = false;
  for (const te::Tensor& tensor : tensors) computes |= !tensor->op->is_placeholder();
  if (!computes) DEUTERON_THROW(UsageError) << "none of the tensors is computed";
  for (const te::ComputeOp& op : te::PostOrder(tensors)) {
    const bool given =
        std::any_of(tensors.begin(), tensors.end(), [&](const te::Tensor& tensor) { return tensor->op.same_as(op); });
    if (op->is_placeholder() && !given) {
      DEUTERON_THROW(UsageError) << "input " << op->name << " is used and is none of the parameters";
    }
  }
  return te::CreatePrimFunc(tensors);
}

}  // namespace

void RegisterTensorExpressions() {
  ffi::reflection::GlobalDef()
      .def("deuteron.python.tir.binary", Binary)
      .def("deuteron.python.tir.const",
           [](const ffi::Any& value, const String& dtype) { return CastTo(ToDataType(dtype), Literal(value, {})); })
      .def("deuteron.python.tir.cast",
           [](const ffi::Any& value, const String& dtype) { return CastTo(ToDataType(dtype), Scalar(value)); })
      .def("deuteron.python.tir.select", [](const ffi::Any& condition, const ffi::Any& yes,
                                            const ffi::Any& no) { return Choose(SelectExpr, condition, yes, no); })
      .def("deuteron.python.tir.if_then_else",
           [](const ffi::Any& condition, const ffi::Any& yes, const ffi::Any& no) {
             return Choose(IfThenElse, condition, yes, no);
           })
      .def("deuteron.python.tir.call_intrin", CallIntrinsic)
      .def("deuteron.python.te.placeholder",
           [](const Array<ffi::Any>& shape, const String& dtype, const String& name) {
             return te::Placeholder(ToDimensions(shape), ToDataType(dtype), name);
           })
      .def("deuteron.python.te.load", Load)
      .def("deuteron.python.te.compute", ComputeElements)
      .def("deuteron.python.te.reduce_axis",
           [](const ffi::Any& extent, const String& name) {
             return te::ReduceAxis(CastTo(DataType::Int(64), Scalar(extent)), name);
           })
      .def("deuteron.python.te.reduce", ReduceOver)
      .def("deuteron.python.te.create_prim_func", PrimFuncOf)
      .def("deuteron.python.te.computation_of", relax::BlockBuilder::ComputationOf);
}
}  // namespace deuteron::python
