#include "tools/known_run.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "deuteron/runtime/cache_note.h"
#include "deuteron/runtime/cpu_features.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/environment.h"
#include "deuteron/support/executable_memory.h"
#include "tools/model_io.h"

namespace deuteron::tools {
namespace {

template <typename T>
bool ParseNumber(std::string_view text, T* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Sets what a flag says; false if it is unknown, given again, or its value none that is known to be right.
bool SetFlag(std::string_view flag, std::string_view value, std::vector<std::string_view>* given, PlainRun* run) {
  if (value.empty() || std::find(std::begin(kPlainFlags), std::end(kPlainFlags), flag) == std::end(kPlainFlags))
    return false;
  if (flag == "--input" || flag == "--shape") {
    (flag == "--input" ? run->inputs : run->shapes).emplace_back(value);
    return true;
  }
  if (std::find(given->begin(), given->end(), flag) != given->end()) return false;
  given->push_back(flag);
  if (flag == "--threads") return ParseNumber(value, &run->threads) && run->threads > 0;
  if (flag == "--seed") return ParseNumber(value, &run->seed);
  (flag == "--backend" ? run->backend : flag == "--cache" ? run->cache : run->output_dir) = value;
  return true;
}

bool IsCompiled(const PlainRun& run) { return run.model.ends_with(".so"); }

/// As long as it is the same, so is all that the system tells of the processor's caches.
std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

/// The processors that this process may run on.
std::string Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return "";
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) text += CPU_ISSET(cpu, &set) ? '1' : '0';
  return text;
}

/// The artefact that a run of it is known to run; empty if none is known.
std::string ArtefactOf(const PlainRun& run) {
  if (run.cache.empty() || run.cache == "off") return "";
  const auto note = ReadNote(run.cache + "/" + NameOfRun(run) + kRunSuffix);
  return note && note->Holds() ? run.cache + "/" + note->key + kEntrySuffix : "";
}

/// Inputs in the order of the model's; nothing if a given one is none of it.
std::optional<std::vector<Tensor>> InputsOf(const PlainRun& run, const runtime::Executable& executable) {
  auto by_name = MakeInputs(executable, run.inputs, run.shapes, run.seed);
  std::vector<Tensor> inputs;
  for (const auto& info : executable.Inputs("main")) inputs.push_back(by_name.at(info.name));
  return inputs.size() == by_name.size() ? std::optional(std::move(inputs)) : std::nullopt;
}

/// Runs an artefact, and writes its results but what is to be printed, which is given; nothing if it has not.
std::optional<std::string> RunArtefact(const PlainRun& run, const std::string& path) {
  const runtime::LoadOptions load{.verify_weights = !IsCompiled(run)};
  // Until the process ends, which gives all of it back at once.
  static auto* const kept = new std::shared_ptr<const runtime::Executable>();
  *kept = runtime::Executable::Load(path, load);
  const runtime::Executable& executable = **kept;
  if (!IsCompiled(run)) utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // its last use
  const auto inputs = InputsOf(run, executable);
  if (!inputs) return std::nullopt;
  static auto* const instance = new runtime::Instance(*kept, {.threads = run.threads});
  const std::vector<Tensor> outputs = instance->Run("main", *inputs);
  const std::vector<std::string>& names = executable.OutputNames("main");
  const std::vector<std::filesystem::path> paths = OutputPaths(names);
  std::string lines;
  for (size_t i = 0; i < outputs.size(); ++i) {
    lines += LineOf(names[i], outputs[i]);
    if (!run.output_dir.empty()) WriteTensor(run.output_dir / paths[i], outputs[i]);
  }
  return lines;
}

}  // namespace

bool IsNoted(const std::string& backend) { return backend == "auto" || backend == "none" || backend == "dnnl"; }

std::optional<PlainRun> ParsePlainRun(int argc, const char* const* argv) {
  if (argc < 3 || std::string_view(argv[1]) != "run") return std::nullopt;
  PlainRun run{.cache = DefaultCacheFolder()};
  std::vector<std::string_view> given;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with('-')) {
      if (!run.model.empty() || argument.empty()) return std::nullopt;
      run.model = argument;
      continue;
    }
    // --flag VALUE and --flag=VALUE.
    const size_t equal = argument.find('=');
    std::string_view value;
    if (equal != std::string_view::npos) {
      value = argument.substr(equal + 1);
    } else if (++i < argc && argv[i][0] != '-') {
      value = argv[i];
    }
    if (!SetFlag(argument.substr(0, equal), value, &given, &run)) return std::nullopt;
  }
  const bool is_known = IsCompiled(run) ? run.backend == "auto" && run.shapes.empty()
                                        : run.model.ends_with(".onnx") && IsNoted(run.backend);
  return is_known ? std::optional(std::move(run)) : std::nullopt;
}

std::string NameOfRun(const PlainRun& run) {
  KeyText text;
  std::error_code error;
  text.Add({run.model, std::filesystem::absolute(run.model, error).string(), run.backend});
  text.Add(run.threads);
  text.Add(run.shapes);
  text.Add(runtime::HostCpuFeatures());
  text.Add(runtime::UsableThreads());
  text.Add({Processors(), BootId()});
  // Where libraries are looked for, and a processor that stands in for this one.
  text.Add({EnvironmentVariable("LD_LIBRARY_PATH"), EnvironmentVariable("DEUTERON_HOST")});
  text.Add(static_cast<int64_t>(MayExecuteWhatItWrites()));
  return text.Checksum();
}

bool RunKnown(const PlainRun& run) {
  try {
    const std::string path = IsCompiled(run) ? run.model : ArtefactOf(run);
    if (path.empty()) return false;
    const auto lines = RunArtefact(run, path);
    return lines && std::fwrite(lines->data(), 1, lines->size(), stdout) == lines->size() && std::fflush(stdout) == 0;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace deuteron::tools
