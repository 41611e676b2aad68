/// \file
/// Prints types.
#include "deuteron/script/printer_impl.h"

namespace deuteron::script {

void Printer::PrintType(const Type& type) {
  if (!type.defined()) return Put("None");
  if (const auto it = type_text_.find(type.get()); it != type_text_.end()) return Put(it->second);
  const bool graph_level = graph_level_;
  graph_level_ = true;
  const size_t begin = text_.size();
  const int64_t names = names_used_;
  NewType(type);
  // Types are shared by those of one shape. A text that names nothing is the same everywhere.
  if (names == names_used_) type_text_.emplace(type.get(), text_.substr(begin));
  graph_level_ = graph_level;
}

void Printer::NewType(const Type& type) {
  switch (type->kind) {
    case TypeKind::kAny:
      Put("R.Any");
      break;
    case TypeKind::kPrim:
      Put("T.");
      PutDtype(static_cast<const PrimTypeNode*>(type.get())->dtype);
      break;
    case TypeKind::kShape: {
      const auto* shape = static_cast<const ShapeTypeNode*>(type.get());
      if (shape->values.has_value()) {
        Put("R.Shape([");
        Joined(*shape->values, [&](const PrimExpr& dim) { Dim(dim); });
        Put("])");
      } else {
        Put("R.Shape(ndim=");
        PutInt(shape->ndim);
        Put(')');
      }
      break;
    }
    case TypeKind::kTensor: {
      const auto* tensor = static_cast<const TensorTypeNode*>(type.get());
      bool first = true;
      Put("R.Tensor");
      const auto open = [&] {
        if (first) Put('(');
        Comma(&first);
      };
      if (tensor->shape.has_value()) {
        open();
        Dims(*tensor->shape);
      }
      if (!tensor->dtype.is_void()) {
        open();
        Put("dtype=\"");
        PutDtype(tensor->dtype);
        Put('"');
      }
      if (!tensor->shape.has_value() && tensor->ndim != kUnknownNDim) {
        open();
        Put("ndim=");
        PutInt(tensor->ndim);
      }
      if (tensor->vdevice.defined()) {
        open();
        Put("vdevice=");
        PrintDevice(tensor->vdevice);
      }
      if (!first) Put(')');
      break;
    }
    case TypeKind::kTuple: {
      const auto* tuple = static_cast<const TupleTypeNode*>(type.get());
      Put("R.Tuple");
      if (tuple->fields.empty()) break;
      Put('(');
      Joined(tuple->fields, [&](const Type& field) { PrintType(field); });
      Put(')');
      break;
    }
    case TypeKind::kFunc: {
      const auto* func = static_cast<const FuncTypeNode*>(type.get());
      Put("R.Callable");
      if (!func->params.has_value()) {
        if (func->purity || (func->ret.defined() && func->ret->kind != TypeKind::kAny)) {
          Put("(ret=");
          PrintType(func->ret);
          Put(func->purity ? ", purity=True)" : ", purity=False)");
        }
        break;
      }
      Put("((");
      Joined(*func->params, [&](const Type& param) { PrintType(param); });
      if (func->params->size() == 1) Put(',');
      Put("), ");
      PrintType(func->ret);
      Put(func->purity ? ", True)" : ", False)");
      break;
    }
  }
}

void Printer::TypeArguments(const Array<Type>& types, bool* first) {
  if (types.empty()) return;
  Comma(first);
  Put("ty_args=(");
  Joined(types, [&](const Type& type) { PrintType(type); });
  if (types.size() == 1) Put(',');
  Put(')');
}

void Printer::PrintDevice(const VDevice& device) {
  // Devices of one target count from 0, in the order in which the module declares them.
  int64_t number = 0;
  const auto it = device_numbers_.find(device.get());
  if (it != device_numbers_.end()) {
    number = it->second;
  } else {
    number = device->device_id;
  }
  Quoted(std::string(device->target) + ":" + std::to_string(number) + ":" + std::string(device->memory_scope));
}

}  // namespace deuteron::script
