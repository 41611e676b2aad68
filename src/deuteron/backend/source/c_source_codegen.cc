#include "deuteron/backend/source/c_source_codegen.h"

#include <algorithm>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend {
namespace {

using relax::Expr;

/// The interface of runtime/kernel_function.h, so that sources need no header of ours.
constexpr const char* kPrelude = R"(#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* DLPack's DLTensor. */
typedef struct {
  void* data;
  struct { int32_t type, id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} Tensor;

)";

Array<String> Strings(const Map<String, Any>& options, const char* key) {
  const auto it = options.find(key);
  return it == options.end() ? Array<String>() : (*it).second.cast<Array<String>>();
}
std::string Text(const Map<String, Any>& options, const char* key) {
  const auto it = options.find(key);
  return it == options.end() ? "" : std::string((*it).second.cast<String>());
}

}  // namespace

std::string CTypeOf(DataType dtype) {
  const std::string name = dtype.ToString();
  if (name == "float32") return "float";
  if (name == "float64") return "double";
  for (const char* integer : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}) {
    if (name == integer) return name + "_t";
  }
  DEUTERON_THROW(UnsupportedError) << "C has no type for elements of dtype " << name;
}

int64_t NumElements(const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  int64_t count = 1;
  if (tensor == nullptr || !tensor->has_shape())
    DEUTERON_THROW(UnsupportedError) << "a tensor of unknown shape cannot be written in C";
  for (const PrimExpr& dim : *tensor->shape) {
    const auto extent = AsConstInt(dim);
    if (!extent) DEUTERON_THROW(UnsupportedError) << "a tensor of symbolic shape cannot be written in C";
    count *= *extent;
  }
  return count;
}

void CSourceCodegen::Refuse(const std::string& what) const {
  DEUTERON_THROW(UnsupportedError) << "function " << request_.symbol << " for " << target_ << " holds " << what;
}

std::string CSourceCodegen::Operand(const Expr& expr) {
  auto it = std::find_if(operands_.begin(), operands_.end(), [&](const Expr& each) { return each.same_as(expr); });
  if (it == operands_.end()) {
    if (expr->kind != RelaxKind::kConstant) Refuse("an operand that is neither parameter nor constant");
    it = operands_.insert(operands_.end(), expr);
  }
  return "in" + std::to_string(it - operands_.begin());
}

std::string CSourceCodegen::DataOf(const Expr& expr) {
  const auto it = data_.find(expr.get());
  if (it != data_.end()) return it->second;
  if (expr->kind != RelaxKind::kConstant) Refuse("an argument that is no tensor");
  // Constants come behind arguments and results.
  const std::string name = "constant" + std::to_string(constants_.size());
  constants_.push_back(request_.constants->Get(Downcast<relax::Constant>(expr), request_.symbol, target_));
  return data_[expr.get()] = name;
}

void CSourceCodegen::AddCall(const relax::Var& var, const relax::CallNode* call) {
  const auto local = locals_.find(call->op.get());
  if (local == locals_.end()) Refuse("a call of something else than a Composite function");
  const relax::Function& function = local->second;
  const std::string name = request_.symbol + "_" + std::to_string(buffers_.size());
  operands_.assign(function->params.begin(), function->params.end());
  const std::string composite = Composite(std::string(*function->GetAttr<String>("Composite")), function);
  std::string params, arguments;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto* type = operands_[i]->ty.as<TensorTypeNode>();
    if (type == nullptr) Refuse("an operand that is no tensor");
    params += "const " + CTypeOf(type->dtype) + "* in" + std::to_string(i) + ", ";
    arguments += DataOf(i < call->args.size() ? call->args[i] : operands_[i]) + ", ";
  }
  const std::string type = CTypeOf(var->ty.as<TensorTypeNode>()->dtype),
                    buffer = "buffer" + std::to_string(buffers_.size());
  functions_ += "static void " + name + "(" + params + type + "* out) {\n" + composite + "}\n\n";
  body_ += "  " + name + "(" + arguments + buffer + ");\n";
  buffers_.push_back(type + "* " + buffer + " = (" + type + "*)malloc(" +
                     std::to_string(std::max<int64_t>(NumElements(var->ty), 1)) + " * sizeof(" + type + "));");
  data_[var.get()] = buffer;
}

void CSourceCodegen::AddBinding(const relax::Binding& binding) {
  const Expr& value = relax::BoundValue(binding);
  if (const auto* function = value.as<relax::FunctionNode>()) {
    locals_.emplace(binding->var.get(), GetRef<relax::Function>(function));
  } else if (const auto* call = value.as<relax::CallNode>()) {
    AddCall(binding->var, call);
  } else if (value->kind == RelaxKind::kTuple) {
    const auto* tuple = static_cast<const relax::TupleNode*>(value.get());
    results_.assign(tuple->fields.begin(), tuple->fields.end());
  } else {
    data_[binding->var.get()] = DataOf(value);
  }
}

std::string CSourceCodegen::Source() {
  const auto& params = request_.function->params;
  std::string loads;
  const auto load = [&loads](const std::string& name, const Type& type, size_t index, bool is_const) {
    const std::string element = CTypeOf(type.as<TensorTypeNode>()->dtype);
    loads += std::string("  ") + (is_const ? "const " : "") + element + "* " + name + " = (" + element +
             "*)((char*)tensors[" + std::to_string(index) + "]->data + tensors[" + std::to_string(index) +
             "]->byte_offset);\n";
  };
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i]->ty->kind != TypeKind::kTensor) Refuse("a parameter that is no tensor");
    data_[params[i].get()] = "argument" + std::to_string(i);
    load(data_[params[i].get()], params[i]->ty, i, true);
  }
  for (const relax::BindingBlock& block : request_.function->body->blocks) {
    for (const relax::Binding& binding : block->bindings) AddBinding(binding);
  }
  const Expr& result = request_.function->body->body;
  if (const auto* tuple = result.as<relax::TupleNode>()) results_.assign(tuple->fields.begin(), tuple->fields.end());
  if (results_.empty()) results_ = {result};

  std::string copies;
  size_t index = params.size();
  for (const Expr& each : results_) {
    const std::string name = "result" + std::to_string(index);
    load(name, each->ty, index++, false);
    const std::string count = std::to_string(NumElements(each->ty));
    copies += "    for (int64_t i = 0; i < " + count + "; ++i) " + name + "[i] = " + DataOf(each) + "[i];\n";
  }
  for (size_t i = 0; i < constants_.size(); ++i) {
    for (const auto& [name, constant] : request_.constants->all()) {
      if (name == constants_[i]) load("constant" + std::to_string(i), constant->ty, index++, true);
    }
  }
  std::string allocate, release, missing = "0";
  for (size_t i = 0; i < buffers_.size(); ++i) {
    allocate += "  " + buffers_[i] + "\n";
    release += "  free(buffer" + std::to_string(i) + ");\n";
    missing += " || !buffer" + std::to_string(i);
  }
  const std::string linkage = language_ == SourceLanguage::kC ? "" : "extern \"C\" ";
  return Prelude() + kPrelude + functions_ + linkage + "int " + request_.symbol +
         "(const Tensor* const* tensors, int32_t count) {\n  (void)count;\n" + loads + allocate +
         "  int failed = " + missing + ";\n  if (!failed) {\n" + body_ + copies + "  }\n" + release +
         "  return failed;\n}\n";
}

relax::ExternalFunction CSourceCodegen::Generate() {
  SourceUnit unit{.language = language_, .text = Source(), .name = request_.symbol};
  unit.flags = {"-O3"};
  if (language_ != SourceLanguage::kCuda) unit.flags.emplace_back("-lm");
  for (const String& flag : Strings(request_.options, "flags")) unit.flags.emplace_back(flag);
  const SourceCompiler compiler{Text(request_.options, "compiler"), Text(request_.options, "cache_dir")};
  return {request_.symbol, "shared_object", CompileSource(unit, compiler), constants_};
}

}  // namespace deuteron::backend
