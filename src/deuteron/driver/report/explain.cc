#include "deuteron/driver/report/explain.h"

#include <algorithm>

#include "deuteron/driver/compilation.h"
#include "deuteron/support/error.h"

namespace deuteron::report {

transform::DecisionLog Explain(IRModule module, const CompileOptions& given) {
  CompileOptions options = given;
  options.config["kernel_text"] = "true";
  Compilation walk(options);
  module = walk.Import(std::move(module));
  walk.ToScheduled(walk.ToFused(walk.ToShared(std::move(module))));
  return std::move(walk.decisions());
}

Symbols BindSymbols(const std::vector<TensorInfo>& inputs, const std::map<std::string, std::vector<int64_t>>& shapes) {
  Symbols symbols;
  for (const auto& [name, dims] : shapes) {
    const auto input = std::find_if(inputs.begin(), inputs.end(),
                                    [&name = name](const TensorInfo& info) { return info.name == name; });
    if (input == inputs.end()) {
      std::string known;
      for (const TensorInfo& info : inputs) known += (known.empty() ? "\"" : ", \"") + info.name + "\"";
      DEUTERON_THROW(UsageError) << "the model has no input \"" << name << "\"; its inputs are " << known;
    }
    if (input->shape.size() != dims.size()) {
      DEUTERON_THROW(UsageError) << "input \"" << name << "\" has " << input->shape.size() << " dimensions, not "
                                 << dims.size();
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      if (input->shape[i] >= 0) {
        if (input->shape[i] == dims[i]) continue;
        DEUTERON_THROW(UsageError) << "dimension " << i << " of input \"" << name << "\" is " << input->shape[i]
                                   << ", not " << dims[i];
      }
      const auto [it, inserted] = symbols.emplace(input->symbols[i], dims[i]);
      if (!inserted && it->second != dims[i]) {
        DEUTERON_THROW(UsageError) << "dimension \"" << it->first << "\" is " << it->second << " in one input and "
                                   << dims[i] << " in \"" << name << "\"";
      }
    }
  }
  return symbols;
}

}  // namespace deuteron::report
