/// \file
/// Reports of small modules, as text and as figures, and the schema of the JSON.
///
/// Files in testdata/ begin with `# explain: <passes>` and optional `# config: KEY=VALUE`; the expected report follows
/// the module after `# ----- expected`, as comments. `report_test --update` rewrites it, and what docs/ lists of the
/// reasons.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/report/decision_json.h"
#include "deuteron/driver/report/explain.h"
#include "deuteron/driver/report/profile.h"
#include "deuteron/driver/report/record_kernels.h"
#include "deuteron/driver/report/text_table.h"
#include "deuteron/driver/report/write.h"
#include "deuteron/runtime/random_tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/support/limits.h"

namespace deuteron::report {
namespace {

using Json = nlohmann::ordered_json;

bool update = false;
constexpr const char kMark[] = "# ----- expected\n";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

transform::DecisionLog RunPasses(const std::string& text, const std::string& passes,
                                 const std::vector<std::pair<std::string, std::string>>& config = {}) {
  IRModule module = script::ParseModule(text, "module.py");
  transform::PassContext context;
  for (const auto& [key, value] : config) context.SetConfig(key, String(value));
  const transform::PassContext::Scope scope(context);
  for (const transform::Pass& pass : ParsePasses(passes)) module = pass(std::move(module));
  RecordKernels(module, context.decisions.get());
  return std::move(*context.decisions);
}

std::vector<std::filesystem::path> TestFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(DEUTERON_SOURCE_DIR "/src/deuteron/driver/report/testdata")) {
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class ReportFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(ReportFile, Text) {
  const std::string text = ReadFile(GetParam());
  const size_t mark = text.find(kMark);
  ASSERT_NE(mark, std::string::npos);
  const std::string head = text.substr(0, mark);
  std::string passes;
  std::vector<std::pair<std::string, std::string>> config;
  std::istringstream lines(head);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# explain: ", 0) == 0) passes = line.substr(11);
    if (line.rfind("# config: ", 0) == 0) {
      const size_t equal = line.find('=');
      config.emplace_back(line.substr(10, equal - 10), line.substr(equal + 1));
    }
  }
  const FusionReport report = BuildReport(RunPasses(head, passes, config));
  std::string actual;
  std::istringstream report_lines(WriteText(report, GetParam().filename()));
  for (std::string line; std::getline(report_lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    actual += line.empty() ? "#\n" : "# " + line + "\n";
  }
  if (update) {
    std::ofstream(GetParam(), std::ios::binary) << head << kMark << actual;
    return;
  }
  EXPECT_EQ(actual, text.substr(mark + std::strlen(kMark)));
}

INSTANTIATE_TEST_SUITE_P(Files, ReportFile, testing::ValuesIn(TestFiles()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(Report, EveryReasonHasAFile) {
  std::string all;
  for (const auto& path : TestFiles()) all += ReadFile(path);
  for (const transform::ReasonInfo& info : transform::Reasons()) {
    // Those before are FuseOps's; the others are given by passes that merge kernels, whose own tests show them.
    if (info.reason == transform::Reason::kNotMerged) break;
    if (info.kind != transform::ReasonKind::kNotFused) continue;
    EXPECT_NE(all.find("\n# " + std::string(info.code) + " ("), std::string::npos) << info.code;
  }
}

TEST(Report, EveryRefusalNamesAChange) {
  for (const auto& path : TestFiles()) {
    SCOPED_TRACE(path.string());
    const std::string text = ReadFile(path);
    const std::string report = text.substr(text.find(kMark));
    EXPECT_EQ(report.find("To fuse: \n"), std::string::npos);
    EXPECT_EQ(report.find('{'), std::string::npos) << "a placeholder that nothing fills";
  }
}

constexpr const char kChain[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), y: R.Tensor((16,), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            gv = R.multiply(b, x)
            R.output(gv)
        return gv
)";
constexpr const char kPasses[] = "LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination";

TEST(Report, FiguresOfAFusedChain) {
  const FusionReport report = BuildReport(RunPasses(kChain, kPasses));
  ASSERT_EQ(report.kernels.size(), 1U);
  const Kernel& kernel = report.kernels[0];
  EXPECT_EQ(kernel.name, "fused_add_relu_multiply");
  EXPECT_EQ(kernel.members.size(), 3U);
  EXPECT_EQ(kernel.removed.size(), 2U);
  // x is 8 * 16 * 4 = 512 bytes, y 64.
  EXPECT_EQ(kernel.read.number(), 512 + 64);
  EXPECT_EQ(kernel.written.number(), 512);
  EXPECT_EQ(kernel.read_before.number(), (512 + 64) + 512 + (512 + 512));
  EXPECT_EQ(kernel.written_before.number(), 3 * 512);
  EXPECT_EQ(kernel.saved().number(), 2 * 512 + 2 * 512 + 512);  // a and b written, a, b and x read
  EXPECT_EQ(kernel.flops.number(), 3 * 8 * 16);
}

TEST(Report, NamesThatAreBoundTwice) {
  const FusionReport report = BuildReport(RunPasses(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 16), "float32")):
        with R.dataflow():
            b = R.matmul(x, w)
            a = R.matmul(b, w)
            b = R.add(a, x)
            gv = R.nn.relu(b)
            R.output(gv)
        return gv
)",
                                                    kPasses));
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(report.kernels[0].members, std::vector<size_t>{0});
  EXPECT_EQ(report.kernels[1].members, (std::vector<size_t>{1, 2, 3}));
}

TEST(Report, FiguresOfAMatmul) {
  const FusionReport report = BuildReport(RunPasses(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            gv = R.nn.relu(a)
            R.output(gv)
        return gv
)",
                                                    kPasses));
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.kernels[0].flops.number(), 2 * 8 * 16 * 4 + 8 * 4);
  EXPECT_EQ(report.kernels[0].saved().number(), 2 * 8 * 4 * 4);
  EXPECT_EQ(report.edges.at(0).phase, "0");
}

TEST(Report, SymbolicSizes) {
  const char* text = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.nn.relu(a)
            R.output(gv)
        return gv
)";
  const transform::DecisionLog log = RunPasses(text, kPasses);
  const FusionReport report = BuildReport(log);
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_TRUE(report.symbolic);
  EXPECT_EQ(report.kernels[0].read.Text(), "4 * m * n");
  EXPECT_EQ(report.kernels[0].saved().Text(), "8 * m * n");
  const FusionReport at = BuildReport(log, {{"n", 3}, {"m", 5}});
  EXPECT_FALSE(at.symbolic);
  EXPECT_EQ(at.kernels[0].saved().number(), 8 * 15);
}

TEST(Report, SurvivesItsJson) {
  const transform::DecisionLog log = RunPasses(kChain, kPasses);
  const transform::DecisionLog again = DecisionsFromJson(DecisionsToJson(log));
  EXPECT_EQ(WriteText(BuildReport(log), "m"), WriteText(BuildReport(again), "m"));
  EXPECT_THROW(DecisionsFromJson("{"), ffi::Error);
  EXPECT_THROW(DecisionsFromJson(R"({"version": 99, "decisions": []})"), ffi::Error);
  EXPECT_THROW(DecisionsFromJson(R"({"version": 2, "decisions": [3]})"), ffi::Error);
  EXPECT_THROW(DecisionsFromJson(R"({"version": 2, "decisions": [{"reason": "because"}]})"), ffi::Error);
  EXPECT_NO_THROW(DecisionsFromJson(R"({"version": 2, "decisions": [{"reason": "fused"}]})"));
  EXPECT_TRUE(DecisionsFromJson("").decisions().empty());
}

TEST(Report, DecisionsThatWereTakenBackAreNotInTheLog) {
  transform::DecisionLog log = RunPasses(kChain, kPasses);
  const auto before = WriteText(BuildReport(log), "m");
  const transform::DecisionLog::Mark end = log.End();
  const size_t size = log.decisions().size();
  log.Add({.pass = "FuseOps", .subject = "taken back", .reason = transform::Reason::kFused, .message = "again"});
  EXPECT_EQ(log.decisions().size(), size + 1);
  log.CutTo(end);
  EXPECT_EQ(log.decisions().size(), size);
  EXPECT_EQ(WriteText(BuildReport(log), "m"), before);
  // What comes next has its own texts.
  log.Add({.pass = "FuseOps", .subject = "stays", .reason = transform::Reason::kFused, .message = "again"});
  std::string last;
  for (const transform::Decision& decision : log.decisions()) last = std::string(decision.subject);
  EXPECT_EQ(last, "stays");
}

TEST(Report, EveryOperatorHasAKernelAndEveryEdgeAVerdict) {
  const IRModule module = script::ParseModule(kChain, "module.py");
  const FusionReport report = BuildReport(Explain(module, {}));
  EXPECT_EQ(report.nodes.size(), 3U);
  for (const Node& node : report.nodes) EXPECT_EQ(node.kernels.size(), 1U) << node.var;
  EXPECT_EQ(report.edges.size(), 2U);
  for (const Edge& edge : report.edges) EXPECT_EQ(edge.fused, edge.reason == transform::Reason::kFused);
  EXPECT_FALSE(report.kernels[0].schedule.empty());
  EXPECT_TRUE(report.texts.at(report.kernels[0].name).count("after-fusion"));
}

// ----- The list of reasons, as docs/ has it.

/// The codes of these kinds with their texts, as a table; placeholders as they are.
std::string ReasonTable(std::initializer_list<transform::ReasonKind> kinds) {
  std::string table;
  bool remedies = false;
  for (const auto& info : transform::Reasons()) {
    if (std::find(kinds.begin(), kinds.end(), info.kind) != kinds.end()) remedies |= !info.remedy.empty();
  }
  table += remedies ? "| code | what it says | nearest change |\n| --- | --- | --- |\n"
                    : "| code | what it says |\n| --- | --- |\n";
  for (const auto& info : transform::Reasons()) {
    if (std::find(kinds.begin(), kinds.end(), info.kind) == kinds.end()) continue;
    table += "| `" + std::string(info.code) + "` | " + std::string(info.sentence) + " |";
    if (remedies) table += info.remedy.empty() ? " |" : " " + std::string(info.remedy) + " |";
    table += "\n";
  }
  return table;
}

/// Replaces what stands between `<!-- table: NAME -->` and the next `<!-- end -->`.
void ReplaceTable(const std::string& name, const std::string& table, std::string* page) {
  const std::string mark = "<!-- table: " + name + " -->\n";
  const size_t mark_at = page->find(mark);
  ASSERT_NE(mark_at, std::string::npos) << "docs/explain.md has no table of " << name;
  const size_t begin = mark_at + mark.size();
  const size_t end = page->find("<!-- end -->", begin);
  ASSERT_NE(end, std::string::npos) << name;
  page->replace(begin, end - begin, table);
}

TEST(Reasons, AreThoseOfThePage) {
  using enum transform::ReasonKind;
  const std::filesystem::path path = DEUTERON_SOURCE_DIR "/docs/explain.md";
  const std::string before = ReadFile(path);
  std::string page = before;
  ReplaceTable("edges", ReasonTable({kFused, kNotFused}), &page);
  ReplaceTable("opaque", ReasonTable({kCause}), &page);
  ReplaceTable("back ends", ReasonTable({kChosen}), &page);
  ReplaceTable("other passes", ReasonTable({kDone, kRefused}), &page);
  if (update) std::ofstream(path, std::ios::binary) << page;
  EXPECT_TRUE(update || page == before) << "run ./dev update: reasons.def says\n" << page;
}

TEST(Limits, AreThoseOfThePage) {
  const std::filesystem::path path = DEUTERON_SOURCE_DIR "/docs/limits.md";
  const std::string before = ReadFile(path);
  std::string table = "\n| limit | unless given | at most | |\n| --- | --- | --- | --- |\n";
  const auto number = [](int64_t value) {
    if (value == std::numeric_limits<int64_t>::max()) return std::string("2⁶³ − 1");
    if (value == int64_t{1} << 40) return std::string("1Ti");
    if (value % 1'000'000'000'000 == 0) return std::to_string(value / 1'000'000'000'000) + "T";
    return std::to_string(value);
  };
  for (const LimitRow& row : AllLimits()) {
    table += "| `" + std::string(row.name) + "` | " + number(row.standard) + " | " + number(row.most) + " | " +
             row.sentence + " |\n";
  }
  std::string page = before;
  ReplaceTable("limits", table + "\n", &page);
  if (update) std::ofstream(path, std::ios::binary) << page;
  EXPECT_TRUE(update || page == before) << "run ./dev update: limits.def says\n" << page;
}

TEST(Reasons, AreThoseOfTheSchema) {
  const std::filesystem::path path = DEUTERON_SOURCE_DIR "/docs/explain.schema.json";
  const std::string before = ReadFile(path);
  Json schema = Json::parse(before);
  Json edges = Json::array();
  Json remarks = Json::array();
  for (const auto& info : transform::Reasons()) {
    const bool is_edge = info.kind == transform::ReasonKind::kFused || info.kind == transform::ReasonKind::kNotFused;
    if (is_edge) edges.push_back(info.code);
    // A verdict on an edge that no graph was recorded of is a remark.
    if (info.kind != transform::ReasonKind::kRecord && info.kind != transform::ReasonKind::kCause)
      remarks.push_back(info.code);
  }
  Json& lists = schema["explain"]["properties"];
  lists["edges"]["items"]["properties"]["reason"] = {{"enum", edges}};
  lists["remarks"]["items"]["properties"]["reason"] = {{"enum", remarks}};
  const std::string after = schema.dump(1) + "\n";
  if (update) std::ofstream(path, std::ios::binary) << after;
  EXPECT_TRUE(update || after == before) << "run ./dev update: reasons.def says\n" << after;
}

// ----- Sizes.

TEST(SizeExpr, ReadsAndPrints) {
  const auto text = [](const char* from, const Symbols& symbols = {}) { return SizeExpr::Parse(from, symbols).Text(); };
  EXPECT_EQ(text("64"), "64");
  EXPECT_EQ(text("(4 * n) * 16 + 64 * n"), "128 * n");
  EXPECT_EQ(text("n * (m + 2) - n * m"), "2 * n");
  EXPECT_EQ(text("(n + 7) // 8 * 4"), "4 * ((n + 7) // 8)");
  EXPECT_EQ(text("(n + 7) // 8 * 4", {{"n", 10}}), "8");
  EXPECT_EQ(text("min(n, 4) + max(3, 5)"), "min(n, 4) + 5");
  EXPECT_EQ(text("n - n"), "0");
  EXPECT_EQ(text("?"), "?");
  EXPECT_EQ(text("n +"), "?");
  EXPECT_EQ(text(""), "?");
  EXPECT_EQ(text("9223372036854775807 * 9"), "9223372036854775807");
  EXPECT_EQ(text("n % 0", {{"n", 3}}), "?");
  for (const char* round : {"4 * n", "2 * m * n + 3", "((n + 7) // 8)", "min(n, 4)", "-n + 1"}) {
    EXPECT_EQ(SizeExpr::Parse(text(round)), SizeExpr::Parse(round)) << round;
  }
}

// ----- The schema.

/// Checks `value` against a schema made of type, properties, required, additionalProperties, items, enum and oneOf.
void Check(const Json& schema, const Json& value, const std::string& at) {
  if (schema.contains("$ref")) FAIL() << at << ": the checker knows no references";
  if (schema.contains("enum")) {
    const auto& values = schema["enum"];
    EXPECT_TRUE(std::find(values.begin(), values.end(), value) != values.end()) << at << " is " << value;
  }
  if (schema.contains("type")) {
    const auto matches = [&](const std::string& type) {
      return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
             (type == "string" && value.is_string()) || (type == "integer" && value.is_number_integer()) ||
             (type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean());
    };
    const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
    EXPECT_TRUE(std::any_of(types.begin(), types.end(), [&](const Json& t) { return matches(t.get<std::string>()); }))
        << at << " is " << value.type_name();
  }
  if (value.is_object()) {
    for (const auto& name : schema.value("required", Json::array()))
      EXPECT_TRUE(value.contains(name)) << at << " lacks " << name;
    for (const auto& [name, field] : value.items()) {
      const bool known = schema.contains("properties") && schema["properties"].contains(name);
      EXPECT_TRUE(known || schema.value("additionalProperties", true)) << at << ": unknown " << name;
      if (known) Check(schema["properties"][name], field, at + "." + name);
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (size_t i = 0; i < value.size(); ++i) {
      std::string element = at;
      element.append("[").append(std::to_string(i)).append("]");
      Check(schema["items"], value[i], element);
    }
  }
}

TEST(Schema, ExplainAndProfile) {
  const Json schema = Json::parse(ReadFile(DEUTERON_SOURCE_DIR "/docs/explain.schema.json"));
  for (const auto& path : TestFiles()) {
    SCOPED_TRACE(path.string());
    const std::string text = ReadFile(path);
    const std::string head = text.substr(0, text.find(kMark));
    const bool compat = head.find("tvm_compat") != std::string::npos;
    const auto log = RunPasses(head, compat ? "AnnotateTIROpPattern,FuseOps" : kPasses);
    Check(schema["explain"], WriteJson(BuildReport(log), "m"), "explain");
  }
  const Executable executable = Compile(script::ParseModule(kChain, "module.py"), {.threads = 1});
  std::vector<Tensor> inputs;
  std::mt19937_64 random(0);
  for (const TensorInfo& info : executable.inputs()) inputs.push_back(RandomTensor(info.shape, info.dtype, &random));
  const ProfileResult profile = Profile(executable, inputs, 0.01);
  Check(schema["profile"], WriteProfileJson(profile, "m"), "profile");

  // The trace: every run holds its kernels, one after another, as many as the executable calls.
  const Json events = WriteTrace(profile, "m")["traceEvents"];
  double run_end = -1, kernel_end = -1;
  std::map<std::string, int64_t> calls;
  for (const Json& event : events) {
    if (event["ph"] == "M") continue;
    const double begin = event["ts"], end = begin + event["dur"].get<double>();
    const std::string category = event["cat"];
    ++calls[category];
    if (category == "run") {
      EXPECT_GE(begin, run_end);
      run_end = end;
      kernel_end = begin;
    } else {
      EXPECT_GE(begin, kernel_end - 1e-3);
      EXPECT_LE(end, run_end + 1e-3);
      EXPECT_EQ(event["args"]["nodes"].size(), 3U);
      EXPECT_GT(event["args"]["bytes"].get<int64_t>(), 0);
      kernel_end = end;
    }
  }
  EXPECT_GE(calls["run"], 3);
  EXPECT_EQ(calls["kernel"], calls["run"] * executable.num_kernels());
}

TEST(Trace, OtherThreadsHaveTheirPartsOfAKernel) {
  const char* const text = R"(@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1024, 4096), "float32")) -> R.Tensor((1024, 4096), "float32"):
        with R.dataflow():
            y = R.tanh(x)
            R.output(y)
        return y
)";
  const Executable executable = Compile(script::ParseModule(text, "module.py"), {.threads = 2, .backend = "none"});
  std::mt19937_64 random(0);
  const std::vector<Tensor> inputs{RandomTensor({1024, 4096}, DataType::Float(32), &random)};
  // Whether a worker is awake in time is not for the pool to say.
  int64_t parts = 0;
  for (int turn = 0; turn < 50 && parts == 0; ++turn) {
    std::map<double, double> runs;
    std::map<int, std::string> names;
    const Json events = WriteTrace(Profile(executable, inputs, 0.01), "m")["traceEvents"];
    for (const Json& event : events) {
      if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
      if (event["ph"] == "M") continue;
      const double begin = event["ts"], end = begin + event["dur"].get<double>();
      if (event["cat"] == "run") runs[begin] = end;
      if (event["cat"] != "part") {
        EXPECT_EQ(names[event["tid"]], "caller");
        continue;
      }
      ++parts;
      EXPECT_EQ(names[event["tid"]], "worker 1");
      EXPECT_EQ(event["args"]["nodes"].size(), 1U);
      const auto run = std::prev(runs.upper_bound(begin));
      EXPECT_LE(end, run->second + 1e-3);
    }
  }
  EXPECT_GT(parts, 0);
}

TEST(TextTable, AWideCellWidensItsRowAlone) {
  const std::string wide(61, 'w');
  EXPECT_EQ(TextTable({{"size", "name", "node"}, {"1", "a", "x"}, {wide, "b", "y"}, {"22", wide, "z"}}),
            "size  name  node\n   1  a     x\n" + wide + "  b     y\n  22  " + wide + "  z\n");
}

}  // namespace
}  // namespace deuteron::report

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) deuteron::report::update |= std::string(argv[i]) == "--update";
  return RUN_ALL_TESTS();
}
