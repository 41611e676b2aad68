/// The pattern language, and fusion by patterns.
#include <tvm/ffi/reflection/registry.h>

#include <functional>
#include <utility>
#include <vector>

#include "deuteron/python/options.h"
#include "deuteron/python/register.h"
#include "deuteron/relax/dpl/matcher.h"
#include "deuteron/relax/dpl/pattern.h"
#include "deuteron/relax/dpl/registry.h"
#include "deuteron/relax/dpl/rewriter.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/transform/library/passes.h"

namespace deuteron::python {
namespace {

namespace dpl = relax::dpl;
using dpl::DFPattern;
using relax::FusionPattern;
using relax::PatternCheckContext;

using Fields = Map<String, ffi::Any>;

/// A check's context as a dictionary of its fields.
Fields ToFields(const PatternCheckContext& context) {
  return {{"matched_expr", context.matched_expr},
          {"annotated_expr", context.annotated_expr},
          {"matched_bindings", context.matched_bindings},
          {"var_usages", context.var_usages},
          {"value_to_bound_var", context.value_to_bound_var}};
}

PatternCheckContext FromFields(const Fields& fields) {
  return {.matched_expr = fields["matched_expr"].cast<relax::Expr>(),
          .annotated_expr = fields["annotated_expr"].cast<Map<String, relax::Expr>>(),
          .matched_bindings = fields["matched_bindings"].cast<Map<relax::Var, relax::Expr>>(),
          .var_usages = fields["var_usages"].cast<Map<relax::Var, Array<relax::Var>>>(),
          .value_to_bound_var = fields["value_to_bound_var"].cast<Map<relax::Expr, relax::Var>>()};
}

/// From (name, pattern, annotations, check or none, getter of attributes or none).
std::vector<FusionPattern> ToPatterns(const Array<Array<ffi::Any>>& tuples) {
  std::vector<FusionPattern> patterns;
  for (const Array<ffi::Any>& tuple : tuples) {
    FusionPattern pattern{.name = tuple[0].cast<String>(),
                          .pattern = tuple[1].cast<DFPattern>(),
                          .annotation_patterns = tuple[2].cast<Map<String, DFPattern>>()};
    if (const auto check = tuple[3].cast<ffi::Optional<ffi::Function>>()) {
      pattern.check = [check = *check](const PatternCheckContext& context) {
        return check(ToFields(context)).cast<bool>();
      };
    }
    if (const auto getter = tuple[4].cast<ffi::Optional<ffi::Function>>()) {
      pattern.attrs_getter = [getter = *getter](const Map<String, relax::Expr>& annotated) {
        return getter(annotated).cast<Fields>();
      };
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

transform::Pass FuseByPatterns(const Array<Array<ffi::Any>>& patterns, bool bind_constants, bool annotate_codegen,
                               const Array<String>& entry_functions) {
  return relax::FuseOpsByPattern(ToPatterns(patterns),
                                 {.bind_constants = bind_constants,
                                  .annotate_codegen = annotate_codegen,
                                  .entry_functions = {entry_functions.begin(), entry_functions.end()}});
}

/// The tuples that ToPatterns takes.
Array<Array<ffi::Any>> PatternsWithPrefix(const String& prefix) {
  Array<Array<ffi::Any>> list;
  for (const FusionPattern& pattern : relax::GetPatternsWithPrefix(std::string(prefix))) {
    ffi::Any check, getter;
    if (pattern.check) {
      check = ffi::Function::FromTyped(
          [check = pattern.check](const Fields& context) { return check(FromFields(context)); });
    }
    if (pattern.attrs_getter) {
      getter = ffi::Function::FromTyped(
          [getter = pattern.attrs_getter](const Map<String, relax::Expr>& annotated) { return getter(annotated); });
    }
    list.push_back({String(pattern.name), pattern.pattern, pattern.annotation_patterns, check, getter});
  }
  return list;
}

/// What the patterns of library `prefix` take, with their checks.
transform::Pass FuseByRegistered(const String& prefix, bool bind_constants, bool annotate_codegen) {
  return relax::FuseOpsByPattern(relax::GetPatternsWithPrefix(std::string(prefix)),
                                 {.bind_constants = bind_constants, .annotate_codegen = annotate_codegen});
}

dpl::VarValues ValuesIn(const ffi::Optional<relax::Function>& function) {
  return function.has_value() ? dpl::ValuesOf(function.value()) : dpl::VarValues{};
}

relax::Function Rewrite(const DFPattern& pattern, const ffi::Function& body, const relax::Function& function) {
  return dpl::RewriteCall(
      pattern,
      [&](const relax::Expr& original, const dpl::Matches& matches) {
        return body(original, matches).cast<relax::Expr>();
      },
      function);
}

/// (pattern, annotations)
Array<ffi::Any> Pair(const dpl::AnnotatedPattern& annotated) { return {annotated.pattern, annotated.annotations}; }

void RegisterConstructors() {
  ffi::reflection::GlobalDef()
      .def("deuteron.python.dpl.wildcard", dpl::Wildcard)
      .def("deuteron.python.dpl.is_op", [](const String& name) { return dpl::IsOp(std::string(name)); })
      .def("deuteron.python.dpl.is_expr", dpl::IsExpr)
      .def("deuteron.python.dpl.is_var", dpl::IsVar)
      .def("deuteron.python.dpl.is_dfv", dpl::IsDataflowVar)
      .def("deuteron.python.dpl.is_gv", dpl::IsGlobalVar)
      .def("deuteron.python.dpl.is_const", dpl::IsConst)
      .def("deuteron.python.dpl.is_tuple", dpl::IsTuple)
      .def("deuteron.python.dpl.is_tuple_get_item", dpl::IsTupleGetItem)
      .def("deuteron.python.dpl.is_call_tir", dpl::IsCallTIR)
      .def("deuteron.python.dpl.is_call_dps_packed", dpl::IsCallDPSPacked)
      .def("deuteron.python.dpl.is_call_packed", dpl::IsCallPacked)
      .def("deuteron.python.dpl.call",
           [](const DFPattern& op, const Array<DFPattern>& args, bool varargs) -> DFPattern {
             return dpl::CallPattern(op, args, varargs);
           })
      .def("deuteron.python.dpl.has_attr",
           [](const DFPattern& pattern, const Fields& attrs) { return pattern.HasAttr(attrs); })
      .def("deuteron.python.dpl.has_dtype",
           [](const DFPattern& pattern, const String& dtype) { return pattern.HasDtype(std::string(dtype)); })
      .def("deuteron.python.dpl.has_shape",
           [](const DFPattern& pattern, const Array<ffi::Any>& shape) { return pattern.HasShape(ToDimensions(shape)); })
      .def("deuteron.python.dpl.has_type",
           [](const DFPattern& pattern, const Type& type) { return pattern.HasType(type); })
      .def("deuteron.python.dpl.item", [](const DFPattern& pattern, int64_t index) { return pattern[index]; })
      .def("deuteron.python.dpl.dup", dpl::Dup)
      .def("deuteron.python.dpl.any_of", [](const DFPattern& a, const DFPattern& b) { return a | b; })
      .def("deuteron.python.dpl.all_of", [](const DFPattern& a, const DFPattern& b) { return a & b; })
      .def("deuteron.python.dpl.none_of", [](const DFPattern& a) { return ~a; })
      .def("deuteron.python.dpl.describe", [](const DFPattern& pattern) { return String(dpl::Describe(pattern)); });
}

void RegisterTemplates() {
  ffi::reflection::GlobalDef()
      .def("deuteron.python.dpl.make_matmul_pattern",
           [](bool with_bias, const String& activation, bool transposed_rhs) {
             return Pair(dpl::MakeMatmulPattern(with_bias, std::string(activation), transposed_rhs));
           })
      .def("deuteron.python.dpl.make_conv2d_pattern",
           [](bool with_bias, const String& activation) {
             return Pair(dpl::MakeConv2DPattern(with_bias, std::string(activation)));
           })
      .def("deuteron.python.dpl.make_attention_pattern",
           [](bool with_bias, bool var_len) { return Pair(dpl::MakeAttentionPattern(with_bias, var_len)); })
      .def("deuteron.python.dpl.make_residual_block_pattern",
           [](const DFPattern& node, const Map<String, DFPattern>& annotations, const String& binary_op,
              const String& activation) {
             return Pair(
                 dpl::MakeResidualBlockPattern({node, annotations}, std::string(binary_op), std::string(activation)));
           })
      .def("deuteron.python.dpl.make_layer_norm_pattern", [] { return Pair(dpl::MakeLayerNormPattern()); })
      .def("deuteron.python.dpl.make_rms_norm_pattern", [] { return Pair(dpl::MakeRMSNormPattern()); });
}

}  // namespace

void RegisterPatterns() {
  ffi::reflection::ObjectDef<dpl::DFPatternNode>();
  RegisterConstructors();
  RegisterTemplates();
  ffi::reflection::GlobalDef()
      .def("deuteron.python.dpl.match",
           [](const DFPattern& pattern, const relax::Expr& expr, const ffi::Optional<relax::Function>& function) {
             return dpl::Match(pattern, expr, ValuesIn(function));
           })
      .def("deuteron.python.dpl.extract_matched_expr",
           [](const DFPattern& pattern, const relax::Expr& expr,
              const ffi::Optional<relax::Function>& function) -> ffi::Optional<dpl::Matches> {
             const auto matches = dpl::ExtractMatchedExpr(pattern, expr, ValuesIn(function));
             if (!matches.has_value()) return std::nullopt;
             return *matches;
           })
      .def("deuteron.python.dpl.rewrite_call", Rewrite)
      .def("deuteron.python.dpl.fuse_by_patterns", FuseByPatterns)
      .def("deuteron.python.dpl.fuse_by_registered", FuseByRegistered)
      .def("deuteron.python.dpl.register_patterns",
           [](const Array<Array<ffi::Any>>& patterns) { relax::RegisterPatterns(ToPatterns(patterns)); })
      .def("deuteron.python.dpl.remove_patterns",
           [](const Array<String>& names) {
             relax::RemovePatterns({names.begin(), names.end()});
           })
      .def("deuteron.python.dpl.patterns_with_prefix", PatternsWithPrefix)
      .def("deuteron.python.dpl.has_leaking_intermediates",
           [](const Fields& context) { return relax::HasLeakingIntermediateVariables(FromFields(context)); });
}
}  // namespace deuteron::python
