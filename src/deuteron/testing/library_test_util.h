/// \file
/// What the tests of libraries share.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "deuteron/backend/backends.h"
#include "deuteron/backend/partition.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/script/parser.h"

namespace deuteron {

/// A module of one function of these parameters, whose lines end with `gv = …`.
inline IRModule MakeModule(const std::string& params, const std::vector<std::string>& lines,
                           const std::string& functions = "") {
  std::string text = "@I.ir_module\nclass Module:\n" + functions + "    @R.function\n    def main(" + params +
                     "):\n        cls = Module\n        with R.dataflow():\n";
  for (const std::string& line : lines) text += "            " + line + "\n";
  return script::ParseModule(text + "            R.output(gv)\n        return gv\n", "test");
}

/// The type of a tensor as text: `Typed("2, n", "float16")`.
inline std::string Typed(const std::string& dims, const std::string& dtype = "float16") {
  return "R.Tensor((" + dims + "), \"" + dtype + "\")";
}

inline std::vector<Tensor> TensorsOf(const Arguments& arguments) {
  std::vector<Tensor> tensors;
  for (const Any& argument : arguments) {
    for (Tensor& tensor : FlattenValue(argument)) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// The executable gives what the interpreter does, for each extent of symbolic dimensions. Twice: the second call runs
/// from what the first has prepared.
inline void ExpectSameAsInterpreter(const IRModule& module, const Executable& executable,
                                    const std::vector<int64_t>& extents, double tolerance) {
  for (const int64_t extent : extents) {
    for (const uint64_t seed : {1, 2}) {
      const Arguments arguments = RandomArguments(module, seed, extent);
      const Difference difference =
          CompareResults(Interpret(module, arguments), executable.Run(TensorsOf(arguments)), tolerance);
      EXPECT_EQ(difference.problem, "") << "extent " << extent;
    }
  }
}

/// Kind and message of what `run` throws; empty if it throws nothing.
template <typename F>
std::string ErrorOf(const F& run) {
  try {
    run();
  } catch (const ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "";
}

/// What a library takes of a module when it is compiled: requests for its generator.
class LibraryRequests {
 public:
  LibraryRequests(IRModule module, const std::string& library) {
    module_ = relax::MergeCompositeFunctions()(backend::PartitionFor(library)(std::move(module)));
    for (const auto& [var, func] : module_->functions) {
      const auto function = As<relax::Function>(func);
      if (function.defined() && function->GetAttr<String>("Codegen")) {
        requests_.push_back({function, module_, std::string(var->name_hint), {}, &names_});
      }
    }
  }
  LibraryRequests(const LibraryRequests&) = delete;

  const std::vector<relax::CodegenRequest>& all() const { return requests_; }
  const IRModule& module() const { return module_; }
  /// The constants that a generator has left to the executable, by the names that it gives.
  std::vector<Tensor> ConstantsOf(const relax::ExternalFunction& external) const {
    std::vector<Tensor> tensors;
    for (const std::string& name : external.constants) {
      for (const auto& [known, constant] : names_.all()) {
        if (known == name) tensors.push_back(constant->data);
      }
    }
    return tensors;
  }

 private:
  IRModule module_;
  relax::ConstantNames names_;
  std::vector<relax::CodegenRequest> requests_;
};

}  // namespace deuteron
