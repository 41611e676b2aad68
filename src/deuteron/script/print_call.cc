/// \file
/// Prints calls and constants of the graph level.
#include <tvm/ffi/reflection/accessor.h>

#include <charconv>
#include <cmath>

#include "deuteron/relax/op/memory.h"
#include "deuteron/script/printer_impl.h"
#include "deuteron/support/element.h"

namespace deuteron::script {
void Printer::AttrFields(const ObjectRef& attrs, bool* first) {
  if (!attrs.defined()) return;
  if (const auto* dict = attrs.as<DictAttrsNode>()) {
    for (const auto& [key, value] : dict->dict) {
      Comma(first);
      Put(View(key));
      Put('=');
      Value(value);
    }
    return;
  }
  refl::ForEachFieldInfo(TVMFFIGetTypeInfo(attrs->type_index()), [&](const TVMFFIFieldInfo* field) {
    Comma(first);
    Put(std::string_view(field->name.data, field->name.size));
    Put('=');
    Value(refl::FieldGetter(field)(attrs));
  });
}

void Printer::TupleFields(const relax::TupleNode* tuple) {
  Joined(tuple->fields, [&](const RelaxExpr& field) { Relax(field); });
  if (tuple->fields.size() == 1) Put(',');
}

bool Printer::PrintOpSpecially(const relax::CallNode* call, std::string_view name) {
  const auto callee = [&](const RelaxExpr& func) {
    if (const auto* external = func.as<relax::ExternFuncNode>()) return Quoted(View(external->global_symbol));
    Relax(func);
  };
  const auto& args = call->args;
  if ((name == "call_tir" || name == "call_tir_inplace" || name == "call_dps_packed") && args.size() >= 2 &&
      call->ty_args.size() == 1) {
    Put("R.");
    Put(name);
    Put('(');
    callee(args[0]);
    Put(", ");
    Relax(args[1]);
    Put(", out_ty=");
    const auto* tuple = call->ty_args[0].as<TupleTypeNode>();
    if (tuple != nullptr && !tuple->fields.empty()) {
      Put('[');
      Joined(tuple->fields, [&](const Type& field) { PrintType(field); });
      Put(']');
    } else {
      PrintType(call->ty_args[0]);
    }
    bool first = false;
    AttrFields(call->attrs, &first);
    if (args.size() > 2) {
      Put(", tir_vars=");
      Relax(args[2]);
    }
    Put(')');
    return true;
  }
  if ((name == "call_pure_packed" || name == "call_inplace_packed" || name == "call_builtin_with_ctx") &&
      !args.empty()) {
    Put("R.");
    Put(name);
    Put('(');
    bool first = true;
    for (size_t i = 0; i < args.size(); ++i) {
      Comma(&first);
      i == 0 ? callee(args[i]) : Relax(args[i]);
    }
    AttrFields(call->attrs, &first);
    TypeArguments(call->ty_args, &first);
    Put(')');
    return true;
  }
  if (name == "hint_on_device") {
    const auto* hint = call->attrs.as<relax::HintOnDeviceAttrsNode>();
    Put("R.hint_on_device(");
    Relax(args[0]);
    Put(", R.device(device_type=");
    PutInt(hint->device_type);
    Put(", index=");
    PutInt(hint->device_index);
    Put("), ");
    Quoted(View(hint->memory_scope));
    Put(')');
    return true;
  }
  const size_t format = name == "print" ? 0 : name == "assert_op" ? 1 : args.size();
  if (format < args.size() && args[format]->kind == RelaxKind::kStringImm) {
    Put("R.");
    Put(name);
    Put('(');
    bool first = true;
    for (size_t i = 0; i < args.size(); ++i) {
      if (i == format) continue;
      Comma(&first);
      Relax(args[i]);
    }
    Comma(&first);
    Put("format=");
    Relax(args[format]);
    Put(')');
    return true;
  }
  return false;
}

void Printer::OpCall(const relax::CallNode* call, std::string_view name) {
  if (name.substr(0, 6) == "relax.") name.remove_prefix(6);
  if (PrintOpSpecially(call, name)) return;
  Put("R.");
  Put(name);
  Put('(');
  bool first = true;
  for (const RelaxExpr& arg : call->args) {
    Comma(&first);
    Relax(arg);
  }
  AttrFields(call->attrs, &first);
  TypeArguments(call->ty_args, &first);
  Put(')');
}

void Printer::PrintCall(const relax::CallNode* call) {
  if (const auto* op = call->op.as<OpNode>()) return OpCall(call, View(op->name));
  bool first = true;
  if (const auto* external = call->op.as<relax::ExternFuncNode>()) {
    Put("R.call_packed(");
    Quoted(View(external->global_symbol));
    first = false;
  } else {
    Relax(call->op);
    Put('(');
  }
  for (const RelaxExpr& arg : call->args) {
    Comma(&first);
    Relax(arg);
  }
  TypeArguments(call->ty_args, &first);
  Put(')');
}

void Printer::PrintConstFloat(DataType dtype, double value) {
  if (!std::isfinite(value)) {
    Put("float(");
    PrintFloat(value);
    return Put(')');
  }
  if (dtype.bits() < 64) {
    // Readers round to the constant's dtype, so that the digits of a float32 are enough.
    std::array<char, 40> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(value));
    double again = 0;
    std::from_chars(digits.data(), end.ptr, again);
    if (static_cast<float>(again) == static_cast<float>(value))
      return PutDigits({digits.data(), static_cast<size_t>(end.ptr - digits.data())});
  }
  PrintFloat(value);
}

void Printer::PrintConstant(const relax::ConstantNode* constant) {
  const DataType dtype(constant->data.dtype());
  const bool inline_scalar =
      constant->is_scalar() && dtype.is_scalar() && (dtype.is_bool() || dtype.is_integer() || dtype.is_float());
  if (!inline_scalar) {
    const auto [it, added] =
        constant_index_.emplace(constant->data.GetDLTensorPtr(), static_cast<int64_t>(constants_.size()));
    if (added) constants_.push_back(constant);
    Put("metadata[\"ir.GenericConst\"][");
    PutInt(it->second);
    return Put(']');
  }
  const char* data = static_cast<const char*>(constant->data.data_ptr()) + constant->data.GetDLTensorPtr()->byte_offset;
  Put("R.const(");
  if (dtype.is_bool()) {
    Put(LoadInteger(data, dtype) != 0 ? "True" : "False");
  } else if (dtype.is_float()) {
    PrintConstFloat(dtype, LoadFloat(data, dtype));
  } else if (dtype.is_uint()) {
    text_ += std::to_string(static_cast<uint64_t>(LoadInteger(data, dtype)));
  } else {
    PutInt(LoadInteger(data, dtype));
  }
  Put(", \"");
  PutDtype(dtype);
  Put("\")");
}

}  // namespace deuteron::script
