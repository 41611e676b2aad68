/// \file
/// The kit for back ends that write source, by the back end `csource`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "deuteron/backend/backends.h"
#include "deuteron/backend/source/compile_source.h"
#include "deuteron/driver/compile.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/script/parser.h"
#include "deuteron/support/write_file.h"
#include "deuteron/testing/library_test_util.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;
using backend::CompileSource;
using backend::SourceUnit;

class Csource : public testing::Test {
 protected:
  Csource() {
    // The tests' own cache.
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }

  size_t NumCached() const {
    const fs::path cache = folder_ / "deuteron" / "sources";
    return fs::exists(cache) ? std::distance(fs::directory_iterator(cache), fs::directory_iterator()) : 0;
  }
  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

constexpr const char* kModule = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 9), "float32"), y: R.Tensor((5, 9), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.multiply(b, R.full(R.shape([5, 9]), R.const(2, "float32"), dtype="float32"))
            d = R.subtract(c, y)
            e = R.exp(d)
            gv = R.add(e, d)
            R.output(gv, b)
        return gv, b
)";

TEST_F(Csource, ComputesWhatItTakesAndKeepsWhatItCompiles) {
  const IRModule module = script::ParseModule(kModule, "test");
  const Arguments arguments = RandomArguments(module, 1, 1);
  std::vector<Tensor> inputs;
  for (const Any& argument : arguments) inputs.push_back(argument.cast<Tensor>());
  for (int run = 0; run < 2; ++run) {
    const Executable executable = Compile(module, {.backend = "csource"});
    EXPECT_EQ(CompareResults(Interpret(module, arguments), executable.Run(inputs), 1e-5).problem, "");
    EXPECT_EQ(executable.runtime()->program().externals.size(), 2u) << "before and after exp, which it does not take";
    // No plugin is needed for it.
    EXPECT_TRUE(executable.runtime()->manifest().plugins.empty());
    EXPECT_EQ(NumCached(), 2u);
    const std::string path = (folder_ / "model.so").string();
    executable.Save(path);
    EXPECT_EQ(CompareResults(Interpret(module, arguments), Executable::Load(path).Run(inputs), 1e-5).problem, "");
  }
}

TEST_F(Csource, CachesByTextFlagsAndCompiler) {
  const SourceUnit unit{.text = "int f(void) { return 1; }\n"};
  const std::string first = CompileSource(unit);
  EXPECT_EQ(CompileSource(unit), first);
  EXPECT_EQ(NumCached(), 1u);
  SourceUnit other = unit;
  other.flags = {"-O2"};
  CompileSource(other);
  other.text += "\n";
  CompileSource(other);
  EXPECT_EQ(NumCached(), 3u);
}

TEST_F(Csource, CompilesAgainWhatIsDamagedInItsCache) {
  const SourceUnit unit{.text = "int f(void) { return 2; }\n"};
  const std::string whole = CompileSource(unit);
  const fs::path entry = fs::directory_iterator(folder_ / "deuteron" / "sources")->path();
  const auto read = [&entry] {
    std::ifstream file(entry, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string kept = read();
  std::string flipped = kept;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& damaged : {flipped, kept.substr(0, kept.size() / 2), std::string("so"), std::string()}) {
    WriteFile(entry.string(), damaged);
    EXPECT_EQ(CompileSource(unit), whole);
    EXPECT_EQ(read(), kept);
  }
}

/// The message of the error that `run` throws, after its kind.
TEST_F(Csource, SaysWhatIsMissingOrWrong) {
  const std::string missing = ErrorOf([] { CompileSource({.text = "int f;\n"}, {.program = "no-such-compiler"}); });
  EXPECT_EQ(missing.rfind("UnsupportedError: there is no C compiler: \"no-such-compiler\"", 0), 0u) << missing;
  const std::string refused = ErrorOf([] { CompileSource({.text = "int f( {\n", .name = "broken"}); });
  EXPECT_EQ(refused.rfind("UnsupportedError: the C compiler ", 0), 0u) << refused;
  EXPECT_NE(refused.find("broken.c"), std::string::npos) << refused;

  setenv("CC", "no-such-compiler", 1);
  const std::string unusable = ErrorOf([] { Compile(script::ParseModule(kModule, "test"), {.backend = "csource"}); });
  unsetenv("CC");
  EXPECT_NE(unusable.find("there is no C compiler: \"no-such-compiler\", which $CC names,"), std::string::npos)
      << unusable;
}

/// A back end whose run side was not built, or not installed: partition works, compilation says which file is missing.
TEST_F(Csource, NamesTheRunSideThatIsMissing) {
  backend::Backend absent = backend::GetBackend("csource");
  absent.name = "absent";
  absent.partition = [] {
    return relax::FuseOpsByPattern(
        {{.name = "absent.exp", .pattern = relax::dpl::IsOp("relax.exp")(relax::dpl::Wildcard())}});
  };
  absent.codegen.generate = [](const relax::CodegenRequest& request) {
    return relax::ExternalFunction{request.symbol, "absent", "{}", {}};
  };
  absent.codegen.missing = [] { return runtime::PluginProblem("absent"); };
  backend::RegisterBackend(absent);
  EXPECT_EQ(LibraryRequests(script::ParseModule(kModule, "test"), "absent").all().size(), 1u);
  const std::string error = ErrorOf([] { Compile(script::ParseModule(kModule, "test"), {.backend = "absent"}); });
  EXPECT_EQ(
      error.rfind("UnsupportedError: function fused_relax_exp1_absent is for the back end \"absent\", which cannot "
                  "run here: libdeuteron_absent.so is not installed",
                  0),
      0u)
      << error;
  EXPECT_NE(error.find("compile with --backend none"), std::string::npos) << error;
}

/// A back end from outside whose generator fails: the function and the back end are named.
TEST_F(Csource, NamesTheBackEndWhoseGeneratorFails) {
  backend::Backend failing = backend::GetBackend("csource");
  failing.name = "failing";
  failing.partition = [] {
    return relax::FuseOpsByPattern(
        {{.name = "failing.exp", .pattern = relax::dpl::IsOp("relax.exp")(relax::dpl::Wildcard())}});
  };
  failing.codegen.generate = [](const relax::CodegenRequest&) -> relax::ExternalFunction {
    throw std::runtime_error("out of ideas");
  };
  backend::RegisterBackend(failing);
  const std::string error = ErrorOf([] { Compile(script::ParseModule(kModule, "test"), {.backend = "failing"}); });
  EXPECT_NE(error.find("function fused_relax_exp1_failing: the generator of \"failing\" failed: out of ideas"),
            std::string::npos)
      << error;
}

}  // namespace
}  // namespace deuteron
