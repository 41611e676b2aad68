/// \file
/// Prints modules: names, the order of functions, what stands above and below the class.
#include <algorithm>

#include "deuteron/script/base64.h"
#include "deuteron/script/printer_impl.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::script {
namespace {

std::string_view View(const String& text) { return {text.data(), text.size()}; }

/// Kernels first, then functions of the graph, "main" last; each by name.
int SortKey(const GlobalVar& var, const BaseFunc& func) {
  if (View(var->name_hint) == "main") return 1000;
  if (func->kind == RelaxKind::kPrimFunc) return 1;
  return func->kind == RelaxKind::kExternFunc ? 2 : 3;
}

bool IsReserved(std::string_view name) {
  static const std::unordered_set<std::string_view> kReserved = {
      "False", "None",   "True",  "and",    "as",       "assert", "async", "await", "break",  "class",  "continue",
      "def",   "del",    "elif",  "else",   "except",   "finally", "for",  "from",  "global", "if",     "import",
      "in",    "is",     "lambda", "nonlocal", "not",   "or",     "pass",  "raise", "return", "try",    "while",
      "with",  "yield",  "T",     "R",      "I",        "cls",    "metadata", "range"};
  return kReserved.count(name) != 0;
}

}  // namespace

std::string Identifier(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "v");
  if (IsReserved(name)) name += "_";
  return name;
}

const std::string& NameTable::Define(const Object* object, std::string_view hint) {
  std::string base = Identifier(hint);
  std::string name = base;
  int64_t suffix = 0;
  if (!taken_.insert(name).second) {
    int64_t& next = next_suffix_[base];
    do {
      suffix = ++next;
      name = base + "_" + std::to_string(suffix);
    } while (!taken_.insert(name).second);
  }
  frames_.back().push_back({object, std::move(base), suffix});
  return names_[object] = std::move(name);
}

void NameTable::DefineAs(const Object* object, std::string text) {
  names_[object] = std::move(text);
  frames_.back().push_back({object, std::string(), -1});
}

const std::string* NameTable::Find(const Object* object) const {
  const auto it = names_.find(object);
  return it == names_.end() ? nullptr : &it->second;
}

void NameTable::Pop() {
  for (Defined& defined : frames_.back()) {
    const auto it = names_.find(defined.object);
    if (it == names_.end()) continue;
    if (defined.suffix >= 0) {
      taken_.erase(defined.suffix == 0 ? defined.base : defined.base + "_" + std::to_string(defined.suffix));
      if (defined.suffix > 0) {
        int64_t& next = next_suffix_[defined.base];
        next = std::min(next, defined.suffix - 1);
      }
    }
    names_.erase(it);
  }
  frames_.pop_back();
}

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
    case RelaxKind::kPrimFunc: return PrimFunction(Downcast<tir::PrimFunc>(func), name);
    case RelaxKind::kFunction: return RelaxFunction(Downcast<relax::Function>(func), name);
    case RelaxKind::kExternFunc:
      Put(name);
      Put(" = ");
      return Relax(func);
    default: DEUTERON_THROW(InternalError) << "a module holds something that is no function";
  }
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
    Line();
    Put("I.module_global_infos({");
    Joined(module->global_infos, [&](const auto& item) {
      Quoted(View(item.first));
      Put(": [");
      Joined(item.second, [&](const ObjectRef& info) {
        if (const auto* device = info.as<VDeviceNode>()) {
          Put("I.vdevice(");
          Quoted(View(device->target));
          Put(", ");
          PutInt(device->device_id);
          Put(", ");
          Quoted(View(device->memory_scope));
          Put(')');
        } else {
          Value(info);
        }
      });
      Put(']');
    });
    Put("})");
  }
  std::vector<std::pair<GlobalVar, BaseFunc>> functions;
  for (const auto& [var, func] : module->functions) functions.emplace_back(var, func);
  std::sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) {
    const int ka = SortKey(a.first, a.second);
    const int kb = SortKey(b.first, b.second);
    return ka != kb ? ka < kb : View(a.first->name_hint) < View(b.first->name_hint);
  });
  bool first = true;
  for (const auto& [var, func] : functions) {
    if (!first) Put('\n');
    first = false;
    empty = false;
    Line();
    Function(func, Identifier(View(var->name_hint)));
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
    return Function(GetRef<BaseFunc>(func), symbol ? Identifier(View(*symbol)) : "main");
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
    Put("], \"data\": ");
    const int64_t bytes = CheckedByteSize(shape, dtype);
    if (options_.elide_constants_over >= 0 && bytes > options_.elide_constants_over) {
      Put("None");
    } else {
      const char* data = static_cast<const char*>(constant->data.data_ptr()) +
                         constant->data.GetDLTensorPtr()->byte_offset;
      Put('"');
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
  for (const std::string& declaration : type_vars_) above += declaration + "\n";
  if (!above.empty()) text_.insert(0, above);
  return std::move(text_);
}

std::string Print(const ObjectRef& node, const PrintOptions& options) {
  Printer printer(options);
  printer.Node(node);
  std::string text = printer.Finish();
  const bool is_top_level = node.defined() && (node.as<IRModuleNode>() != nullptr || (node.as<BaseFuncNode>() != nullptr));
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
