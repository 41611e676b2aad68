#include "deuteron/backend/matched_composite.h"

#include "deuteron/backend/partition.h"
#include "deuteron/relax/dpl/matcher.h"
#include "deuteron/relax/dpl/registry.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend {

using relax::Expr;

const TensorTypeNode* KnownTensor(const Expr& expr) {
  const auto* type = expr.ty().defined() ? expr.ty().as<TensorTypeNode>() : nullptr;
  Require(type != nullptr && type->has_shape(), "a tensor of unknown shape");
  return type;
}

std::vector<int64_t> Expanded(const Array<int64_t>& values, size_t count) {
  std::vector<int64_t> ints(values.begin(), values.end());
  if (ints.size() == 1) ints.assign(count, ints[0]);
  if (ints.size() == 2 && count == 4) ints.insert(ints.end(), {ints[0], ints[1]});
  Require(ints.size() == count, "an attribute of another rank");
  return ints;
}

const TensorTypeNode* MatchedComposite::TensorAt(const char* role) const { return KnownTensor(At(role)); }

void RequireTransposedRhs(const MatchedComposite& composite) {
  const auto* matmul = composite.value_of(composite.At("root")).as<relax::CallNode>();
  const auto* permute = composite.value_of(matmul->args[1]).as<relax::CallNode>();
  const int64_t rank = composite.TensorAt("rhs")->ndim;
  Require(permute != nullptr && rank >= 2, "a right operand that is not transposed");
  const std::vector<size_t> axes = relax::PermutationOf(GetRef<relax::Call>(permute), rank);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t wanted = i < rank - 2 ? i : 2 * rank - 3 - i;
    Require(static_cast<int64_t>(axes[i]) == wanted, "a transposition of other axes than the last two");
  }
}

namespace {

MatchedComposite FromContext(const std::string& name, const relax::PatternCheckContext& context) {
  return {name, context.annotated_expr, context.matched_expr, [&context](const Expr& expr) {
            if (!relax::IsVar(expr)) return expr;
            const auto it = context.matched_bindings.find(Downcast<relax::Var>(expr));
            return it == context.matched_bindings.end() ? expr : (*it).second;
          }};
}

}  // namespace

MatchedComposite MatchComposite(const std::string& name, const relax::Function& function) {
  RegisterLibraryPatterns();
  const relax::dpl::VarValues values = relax::dpl::ValuesOf(function);
  const auto value_of = [values](const Expr& expr) {
    const auto it = values.find(expr.get());
    return it == values.end() ? expr : it->second;
  };
  for (const relax::FusionPattern& pattern : relax::GetPatternsWithPrefix(name)) {
    if (pattern.name != name) continue;
    const auto matches = relax::dpl::ExtractMatchedExpr(pattern.pattern, function->body->body, values);
    if (!matches) continue;
    MatchedComposite composite{name, {}, value_of(function->body->body), value_of};
    for (const auto& [role, part] : pattern.annotation_patterns) {
      const auto found = matches->find(part);
      if (found != matches->end()) composite.roles.Set(role, (*found).second);
    }
    return composite;
  }
  DEUTERON_THROW(UnsupportedError) << "no registered pattern " << name
                                   << " matches the function that bears its name; if the pattern wants a constant, "
                                      "partition with bind_constants=true";
}

std::vector<relax::FusionPattern> TranslatablePatterns(std::string_view prefix, const Describe& describe) {
  RegisterLibraryPatterns();
  std::vector<relax::FusionPattern> patterns = relax::GetPatternsWithPrefix(prefix);
  for (relax::FusionPattern& pattern : patterns) {
    pattern.check = [name = pattern.name, check = pattern.check, describe](const relax::PatternCheckContext& context) {
      if (check && !check(context)) return false;
      try {
        describe(FromContext(name, context));
        return true;
      } catch (const Refusal&) {
        return false;
      }
    };
  }
  return patterns;
}

namespace {

class GraphSerializer : public JsonSerializer {
 public:
  GraphSerializer(const relax::CodegenRequest& request, const std::string& library, const Describe& describe)
      : JsonSerializer(request, library), library_(library), describe_(describe) {}

 private:
  JsonKernel Composite(const std::string& name, const relax::Function& function) override {
    try {
      return describe_(MatchComposite(name, function));
    } catch (const Refusal& refusal) {
      DEUTERON_THROW(UnsupportedError) << library_ << " cannot compute " << name << ": it holds " << refusal.why;
    }
  }

  const std::string& library_;
  const Describe& describe_;
};

}  // namespace

relax::ExternalFunction GenerateGraph(const relax::CodegenRequest& request, const std::string& library,
                                      const Describe& describe) {
  return GraphSerializer(request, library, describe).Serialize(library);
}

}  // namespace deuteron::backend
