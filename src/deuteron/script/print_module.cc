/// \file
/// Prints modules: names, the order of functions, what stands above and below the class.
#include <algorithm>

#include "deuteron/script/base64.h"
#include "deuteron/script/printer_impl.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::script {
namespace {

/// Kernels first, then functions of the graph, "main" last; each by name.
int SortKey(const GlobalVar& var, const BaseFunc& func) {
  if (View(var->name_hint) == "main") return 1000;
  if (func->kind == RelaxKind::kPrimFunc) return 1;
  return func->kind == RelaxKind::kExternFunc ? 2 : 3;
}

}  // namespace

void Printer::SpanComment(const Span& span) {
  if (!options_.spans || !span.defined() || span->source.empty()) return;
  Put("  # at ");
  Quoted(View(span->source));
  if (span->line > 0) {
    Put(':');
    PutInt(span->line);
    Put(':');
    PutInt(span->column);
  }
}

void Printer::Function(const BaseFunc& func, const std::string& name) {
  switch (func->kind) {
    case RelaxKind::kPrimFunc:
      return PrimFunction(Downcast<tir::PrimFunc>(func), name);
    case RelaxKind::kFunction:
      return RelaxFunction(Downcast<relax::Function>(func), name);
    case RelaxKind::kExternFunc:
      Put(name);
      Put(" = ");
      return Relax(func);
    default:
      DEUTERON_THROW(InternalError) << "a module holds something that is no function";
  }
}

void Printer::GlobalInfos(const IRModule& module) {
  std::unordered_map<std::string, int64_t> of_target;
  Line();
  Put("I.module_global_infos({");
  Joined(module->global_infos, [&](const auto& item) {
    Quoted(View(item.first));
    Put(": [");
    Joined(item.second, [&](const ObjectRef& info) {
      const auto* device = info.as<VDeviceNode>();
      if (device == nullptr) return Value(info);
      device_numbers_.emplace(device, of_target[std::string(device->target)]++);
      Put("I.vdevice(");
      Quoted(View(device->target));
      Put(", ");
      PutInt(device->device_id);
      Put(", ");
      Quoted(View(device->memory_scope));
      Put(')');
    });
    Put(']');
  });
  Put("})");
}

void Printer::NameFunctions(const IRModule& module) {
  std::unordered_set<std::string> taken;
  std::vector<const GlobalVarNode*> unwritable;
  for (const auto& [var, func] : module->functions) {
    std::string name = FunctionName(View(var->name_hint));
    if (name != View(var->name_hint)) {
      unwritable.push_back(var.get());
    } else {
      taken.insert(std::move(name));
    }
  }
  std::sort(unwritable.begin(), unwritable.end(),
            [](const auto* a, const auto* b) { return View(a->name_hint) < View(b->name_hint); });
  for (const GlobalVarNode* var : unwritable) {
    const std::string stem = FunctionName(View(var->name_hint));
    std::string name = stem;
    for (int number = 1; !taken.insert(name).second; ++number) name = stem + "_" + std::to_string(number);
    function_names_.emplace(var, std::move(name));
  }
}

std::string Printer::GlobalName(const GlobalVarNode* var) const {
  const auto name = function_names_.find(var);
  return name == function_names_.end() ? FunctionName(View(var->name_hint)) : name->second;
}

void Printer::Module(const IRModule& module) {
  Put("@I.ir_module");
  Line();
  Put("class ");
  Put(options_.module_name);
  Put(':');
  indent_ += 4;
  bool empty = true;
  if (module->attrs.defined() && !module->attrs->dict.empty()) {
    empty = false;
    Line();
    Put("I.module_attrs(");
    PrintDict(module->attrs->dict);
    Put(')');
  }
  if (!module->global_infos.empty()) {
    empty = false;
    GlobalInfos(module);
  }
  std::vector<std::pair<GlobalVar, BaseFunc>> functions;
  for (const auto& [var, func] : module->functions) functions.emplace_back(var, func);
  std::sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) {
    const int ka = SortKey(a.first, a.second);
    const int kb = SortKey(b.first, b.second);
    return ka != kb ? ka < kb : View(a.first->name_hint) < View(b.first->name_hint);
  });
  NameFunctions(module);
  bool first = true;
  for (const auto& [var, func] : functions) {
    if (!first) Put('\n');
    first = false;
    empty = false;
    Line();
    Function(func, GlobalName(var.get()));
  }
  if (empty) {
    Line();
    Put("pass");
  }
  indent_ -= 4;
}

void Printer::Node(const ObjectRef& node) {
  if (!node.defined()) return Put("None");
  if (const auto* module = node.as<IRModuleNode>()) return Module(GetRef<IRModule>(module));
  if (const auto* func = node.as<BaseFuncNode>(); func != nullptr && func->kind != RelaxKind::kExternFunc) {
    const auto symbol = func->GetAttr<String>("global_symbol");
    return Function(GetRef<BaseFunc>(func), symbol ? FunctionName(View(*symbol)) : "main");
  }
  const auto statement = [&](auto print) {
    print();
    if (!text_.empty() && text_[0] == '\n') text_.erase(0, 1);
  };
  if (node.as<RelaxExprNode>() != nullptr) return statement([&] { Relax(Downcast<RelaxExpr>(node)); });
  if (node.as<PrimExprNode>() != nullptr) return Prim(Downcast<PrimExpr>(node));
  if (node.as<tir::StmtNode>() != nullptr) return statement([&] { PrintStmt(Downcast<tir::Stmt>(node)); });
  if (node.as<TypeNode>() != nullptr) return PrintType(Downcast<Type>(node));
  if (node.as<relax::BindingNode>() != nullptr) {
    return statement([&] { PrintBinding(Downcast<relax::Binding>(node)); });
  }
  if (node.as<relax::BindingBlockNode>() != nullptr) {
    return statement([&] { Block(Downcast<relax::BindingBlock>(node)); });
  }
  if (const auto* buffer = node.as<tir::BufferNode>()) {
    Put("T.Buffer(");
    BufferArguments(GetRef<tir::Buffer>(buffer), /*default_dtype=*/false);
    return Put(')');
  }
  if (const auto* region = node.as<tir::BufferRegionNode>()) {
    BufferName(region->buffer);
    Put('[');
    Joined(region->region, [&](const Range& range) { PrintRange(range); });
    return Put(']');
  }
  if (const auto* range = node.as<tir::RangeNode>()) return PrintRange(GetRef<Range>(range));
  if (node.as<AttrsNode>() != nullptr) {
    bool first = true;
    return AttrFields(node, &first);
  }
  Value(node);
}

void Printer::Metadata() {
  if (constants_.empty()) return;
  Put("\n\nmetadata = {\"ir.GenericConst\": [");
  for (const relax::ConstantNode* constant : constants_) {
    const DataType dtype(constant->data.dtype());
    std::vector<int64_t> shape(constant->data.shape().begin(), constant->data.shape().end());
    Put("\n    {\"dtype\": \"");
    PutDtype(dtype);
    Put("\", \"shape\": [");
    Joined(shape, [&](int64_t extent) { PutInt(extent); });
    Put("], ");
    const int64_t bytes = CheckedByteSize(shape, dtype);
    if (options_.weights != nullptr) {
      const std::string name = "constant_" + std::to_string(options_.weights->size());
      options_.weights->emplace_back(name, constant->data);
      Put("\"tensor\": ");
      Quoted(name);
    } else if (options_.elide_constants_over >= 0 && bytes > options_.elide_constants_over) {
      Put("\"data\": None");
    } else {
      const char* data =
          static_cast<const char*>(constant->data.data_ptr()) + constant->data.GetDLTensorPtr()->byte_offset;
      Put("\"data\": \"");
      AppendBase64(std::string_view(data, static_cast<size_t>(bytes)), &text_);
      Put('"');
    }
    Put("},");
  }
  Put("\n]}");
}

std::string Printer::Finish() {
  Metadata();
  std::string above;
  for (const std::string& name : type_vars_) above += name + " = TypeVar(\"" + name + "\")\n";
  if (!above.empty()) text_.insert(0, above);
  return std::move(text_);
}

std::string Print(const ObjectRef& node, const PrintOptions& options) {
  Printer printer(options);
  printer.Node(node);
  std::string text = printer.Finish();
  const bool is_top_level =
      node.defined() && (node.as<IRModuleNode>() != nullptr || (node.as<BaseFuncNode>() != nullptr));
  if (!is_top_level) return text;
  if (options.header) {
    text.insert(0,
                "# from typing import TypeVar\n"
                "# from tvm.script import ir as I\n"
                "# from tvm.script import tirx as T\n"
                "# from tvm.tirx.layout import Axis\n"
                "# from tvm.script import relax as R\n\n");
  }
  text.push_back('\n');
  return text;
}

}  // namespace deuteron::script
