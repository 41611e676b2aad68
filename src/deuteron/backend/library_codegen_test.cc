/// \file
/// What the generators of cublas, cudnn and cutlass write, and what they leave: no toolkit is needed for that.
/// `DEUTERON_UPDATE=1` rewrites the expectations in backend/testdata/.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/testing/library_cases.h"

namespace deuteron {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A graph, a node a line.
std::string GraphText(const relax::ExternalFunction& external) {
  const auto graph = nlohmann::json::parse(external.code);
  std::string text = external.symbol + " for the plugin " + external.plugin + "\n";
  for (const auto& node : graph.at("nodes")) text += "  " + node.dump() + "\n";
  return text + "  heads " + graph.at("heads").dump() + "\n";
}

/// A source from where what is shared by all ends.
std::string SourceText(relax::CodegenRequest request) {
  request.options.Set("arch", String("sm_80"));
  const std::string source = backend::cutlass::WriteSource(request);
  const std::string begin = "\nnamespace deuteron {\nnamespace {\n";
  return source.substr(source.rfind(begin) + 1);
}

class Library : public testing::TestWithParam<size_t> {};

TEST_P(Library, Writes) {
  const LibraryCase test = LibraryCases()[GetParam()];
  const LibraryRequests requests(test.module, test.library);
  ASSERT_FALSE(requests.all().empty()) << "nothing is taken";
  std::string text;
  for (const relax::CodegenRequest& request : requests.all()) {
    const bool graph = std::string(test.library) != "cutlass";
    text += graph ? GraphText(backend::GetBackend(test.library).codegen.generate(request)) : SourceText(request);
  }
  const std::string path =
      std::string(DEUTERON_SOURCE_DIR) + "/src/deuteron/backend/testdata/" + test.library + "_" + test.name + ".txt";
  if (std::getenv("DEUTERON_UPDATE") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, ReadText(path)) << path;
}

INSTANTIATE_TEST_SUITE_P(All, Library, testing::Range(size_t{0}, LibraryCases().size()), [](const auto& info) {
  const LibraryCase test = LibraryCases()[info.param];
  return std::string(test.library) + "_" + test.name;
});

/// What the patterns take, but the library would compute otherwise or not at all, is left to generated code.
TEST(LibraryCodegen, LeavesWhatLibrariesWouldNotComputeExactly) {
  struct Case {
    const char* library;
    std::string params;
    std::vector<std::string> lines;
    std::vector<const char*> composites;
  };
  const std::string two =
      "x: " + Typed("8, 8", "float32") + ", w: " + Typed("8, 8", "float32") + ", b: " + Typed("8,", "float32");
  const std::vector<std::string> gelu = {"a = R.matmul(x, w)", "c = R.add(a, b)", "gv = R.nn.gelu(c)"};
  const std::string images = "x: " + Typed("1, 8, 8, 8") + ", w: " + Typed("8, 3, 3, 4");
  const std::string grouped =
      "gv = R.nn.conv2d(x, w, groups=2, data_layout=\"NHWC\", kernel_layout=\"OHWI\", out_layout=\"NHWC\")";
  for (const Case& test : std::vector<Case>{
           // Its GELU is tanh's.
           {"cublas", two, gelu, {"cublas.matmul_bias"}},
           {"cutlass", two, gelu, {"cutlass.matmul_bias_gelu"}},
           // A bias that is one value a row, or one for all.
           {"cublas",
            "x: " + Typed("8, 8") + ", w: " + Typed("8, 8") + ", b: " + Typed("1,"),
            {"a = R.matmul(x, w)", "gv = R.add(a, b)"},
            {"cublas.matmul"}},
           {"cutlass",
            "x: " + Typed("8, 8") + ", w: " + Typed("8, 8") + ", b: " + Typed("8, 1"),
            {"a = R.matmul(x, w)", "gv = R.add(a, b)"},
            {"cutlass.matmul"}},
           // Not transposed at all, or other axes.
           {"cublas",
            "x: " + Typed("2, 8, 8") + ", w: " + Typed("8, 8, 2"),
            {"t = R.permute_dims(w, [2, 1, 0])", "gv = R.matmul(x, t)"},
            {"cublas.matmul"}},
           // Sums of bytes in bytes, which would saturate.
           {"cublas", "x: " + Typed("8, 8", "int8") + ", w: " + Typed("8, 8", "int8"), {"gv = R.matmul(x, w)"}, {}},
           {"cutlass",
            "x: " + Typed("8, 16", "int8") + ", w: " + Typed("16, 8", "int8"),
            {"gv = R.matmul(x, w, out_dtype=\"int32\")"},
            {}},
           // Groups.
           {"cutlass", images, {grouped}, {}},
           {"cudnn", images, {grouped}, {"cudnn.conv2d.nhwc_ohwi"}},
           // Heads that cuDNN does not take.
           {"cudnn",
            "x: " + Typed("2, 5, 36"),
            {"p = R.split(x, 3, axis=2)", "p0 = p[0]", "p1 = p[1]", "p2 = p[2]", "q = R.reshape(p0, (2, 5, 2, 6))",
             "k = R.reshape(p1, (2, 5, 2, 6))", "v = R.reshape(p2, (2, 5, 2, 6))", "gv = R.nn.attention(q, k, v)"},
            {}},
           {"cutlass", "q: " + Typed("1, 4, 2, 320"), {"gv = R.nn.attention(q, q, q)"}, {}},
       }) {
    SCOPED_TRACE(std::string(test.library) + ": " + test.lines.back() + " of " + test.params);
    const LibraryRequests requests(MakeModule(test.params, test.lines), test.library);
    std::vector<std::string> found;
    for (const relax::CodegenRequest& request : requests.all()) {
      relax::VisitValues(request.function->body, [&](const relax::Expr& value) {
        if (const auto* function = value.as<relax::FunctionNode>())
          found.emplace_back(GetRef<relax::Function>(function)->GetAttr<String>("Composite").value_or(""));
      });
    }
    EXPECT_EQ(found, std::vector<std::string>(test.composites.begin(), test.composites.end()));
  }
}

/// A norm by another formula than RMS's, under its name.
TEST(LibraryCodegen, LooksIntoLoops) {
  const std::string params = "x: " + Typed("4, 64") + ", w: " + Typed("64,");
  const std::vector<std::string> lines = {
      "gv = R.call_tir(cls.rms_norm, (x, w), out_ty=R.Tensor((4, 64), \"float16\"))"};
  const auto taken = [&](const std::string& from, const std::string& to) {
    std::string function = kRMSNorm;
    if (const size_t at = function.find(from); !from.empty()) function.replace(at, from.size(), to);
    return LibraryRequests(MakeModule(params, lines, function), "cutlass").all().size();
  };
  EXPECT_EQ(taken("", ""), 1u);
  EXPECT_EQ(taken("* T.Cast(\"float32\", w[vj])", "* (T.Cast(\"float32\", w[vj]) + T.float32(1))"), 0u);
  EXPECT_EQ(taken("T.float32(0.015625)", "T.float32(0.03125)"), 0u);
  EXPECT_EQ(taken("T.rsqrt", "T.sqrt"), 0u);
}

}  // namespace
}  // namespace deuteron
