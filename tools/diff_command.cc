/// \file
/// Compares two folders of tensors, in the order in which they are computed: the first line that differs is where to
/// look.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/support/error.h"
#include "deuteron/support/npy.h"
#include "deuteron/support/printable.h"
#include "tools/commands.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

namespace fs = std::filesystem;

struct DiffOptions {
  std::string expected;
  std::string actual;
  double tolerance = 1e-4;
  bool all = false;
};

struct Entry {
  std::string name;
  std::string file;
};

/// The .npy files of a folder and of those in it, sorted.
std::set<std::string> FilesOf(const std::string& folder) {
  std::set<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".npy") files.insert(fs::relative(it->path(), folder).string());
  }
  if (error) DEUTERON_THROW(UsageError) << "cannot read the folder " << folder << ": " << error.message();
  return files;
}

/// The order of computation, if the folder tells it; empty if not.
std::vector<Entry> OrderOf(const std::string& folder) {
  const std::string path = (fs::path(folder) / kOrderFile).string();
  if (!fs::exists(path)) return {};
  try {
    std::vector<Entry> entries;
    for (const nlohmann::json& entry : nlohmann::json::parse(ReadText(path))) {
      entries.push_back({entry.at("name").get<std::string>(), entry.at("file").get<std::string>()});
    }
    return entries;
  } catch (const nlohmann::json::exception& error) {
    DEUTERON_THROW(ModelError) << path << ": " << error.what();
  }
}

std::string Described(const Tensor& tensor) {
  std::string text = DataType(tensor.dtype()).ToString() + " (";
  for (size_t axis = 0; axis < tensor.shape().size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(tensor.shape()[axis]);
  }
  return text + ")";
}

/// What is wrong with `actual`; empty if nothing is.
std::string ProblemOf(const Tensor& expected, const Tensor& actual, double tolerance) {
  if (Described(expected) != Described(actual)) return Described(actual) + " instead of " + Described(expected);
  const Difference difference = CompareResults({expected}, {actual}, tolerance);
  if (difference.problem.empty()) return "";
  if (difference.error == 0) return "NaN or infinity in other places";
  std::ostringstream text;
  text << "differs by " << difference.error << " of its greatest value";
  return text.str();
}

void RunDiff(const DiffOptions& options) {
  const std::set<std::string> expected = FilesOf(options.expected), actual = FilesOf(options.actual);
  std::vector<Entry> order = OrderOf(options.expected);
  if (order.empty()) order = OrderOf(options.actual);
  for (const std::set<std::string>* files : {&expected, &actual}) {
    for (const std::string& file : *files) {
      const auto is_this = [&](const Entry& entry) { return entry.file == file; };
      if (std::none_of(order.begin(), order.end(), is_this)) order.push_back({file.substr(0, file.size() - 4), file});
    }
  }
  std::string first;
  size_t compared = 0, wrong = 0;
  std::string missing[2];
  for (const Entry& entry : order) {
    const bool here = expected.count(entry.file) != 0, there = actual.count(entry.file) != 0;
    if (!here || !there) {
      if (here || there) missing[here] += (missing[here].empty() ? "" : ", ") + entry.name;
      continue;
    }
    const Tensor a = ReadNpy((fs::path(options.expected) / entry.file).string());
    const Tensor b = ReadNpy((fs::path(options.actual) / entry.file).string());
    const std::string problem = ProblemOf(a, b, options.tolerance);
    ++compared;
    if (!problem.empty()) {
      ++wrong;
      if (first.empty()) first = entry.name + ": " + problem;
    } else if (!options.all) {
      continue;
    }
    std::printf("%-40s %s\n", Printable(entry.name).c_str(), problem.empty() ? "agrees" : problem.c_str());
  }
  if (!missing[0].empty())
    std::fprintf(stderr, "not in %s: %s\n", options.expected.c_str(), Printable(missing[0]).c_str());
  if (!missing[1].empty())
    std::fprintf(stderr, "not in %s: %s\n", options.actual.c_str(), Printable(missing[1]).c_str());
  if (compared == 0) {
    DEUTERON_THROW(UsageError) << options.expected << " and " << options.actual << " have no .npy file of one name";
  }
  std::fprintf(stderr, "%zu tensors compared, %zu differ\n", compared, wrong);
  if (wrong > 0) DEUTERON_THROW(MismatchError) << "the first that differs is " << first;
}

}  // namespace

void AddDiffCommand(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* verb = app.add_subcommand("diff", "Compare two folders of `run --dump-intermediates`");
  verb->add_option("EXPECTED", options->expected, "a folder of .npy files")->required();
  verb->add_option("ACTUAL", options->actual, "another one")->required();
  verb->add_option(
          "--tolerance", options->tolerance,
          "of float32, as a share of a tensor's greatest value; more for floats of fewer bits, none for integers")
      ->check(NotNegative());
  verb->add_flag("--all", options->all, "list the tensors that agree, too");
  verb->callback([options] { RunDiff(*options); });
}

}  // namespace deuteron::tools
