#include "deuteron/backend/source/compile_source.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "deuteron/runtime/checksum.h"
#include "deuteron/support/environment.h"
#include "deuteron/support/error.h"
#include "deuteron/support/temporary_folder.h"
#include "deuteron/support/write_file.h"

extern char** environ;

namespace deuteron::backend {
namespace {

namespace fs = std::filesystem;

struct Language {
  const char* name;
  const char* variable;
  const char* program;
  const char* extension;
};
const Language& InfoOf(SourceLanguage language) {
  static constexpr Language kLanguages[] = {
      {"C", "CC", "cc", ".c"}, {"C++", "CXX", "c++", ".cc"}, {"CUDA", "NVCC", "nvcc", ".cu"}};
  return kLanguages[static_cast<int>(language)];
}

std::optional<std::string> ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return std::nullopt;
  return std::move(text).str();
}

/// What an entry of the cache ends with: a checksum of what stands before it.
std::string EndOfEntry(std::string_view bytes) {
  runtime::Checksum sum;
  sum.Add(bytes.data(), bytes.size());
  const uint64_t value = sum.Value();
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// What was compiled before; nothing if there is no such entry, or it is damaged.
std::optional<std::string> ReadEntry(const fs::path& path) {
  std::optional<std::string> bytes = ReadFile(path);
  if (!bytes || bytes->size() < sizeof(uint64_t)) return std::nullopt;
  const std::string end = bytes->substr(bytes->size() - sizeof(uint64_t));
  bytes->resize(bytes->size() - sizeof(uint64_t));
  return end == EndOfEntry(*bytes) ? bytes : std::nullopt;
}

/// Whoever comes second writes the same. False where nothing can be written.
bool WriteEntry(const fs::path& path, std::string_view bytes) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  try {
    WriteFile(path.string(), {bytes, EndOfEntry(bytes)});
  } catch (const tvm::ffi::Error&) {
    return false;
  }
  return true;
}

/// What was compiled by this process and could be kept nowhere else, by its key: a network has the same source many
/// times.
struct CompiledHere {
  static CompiledHere& Get() {
    static auto* compiled = new CompiledHere();
    return *compiled;
  }
  std::optional<std::string> Find(const std::string& key) {
    const std::lock_guard lock(mutex);
    const auto it = by_key.find(key);
    return it == by_key.end() ? std::nullopt : std::optional(it->second);
  }
  void Add(const std::string& key, const std::string& bytes) {
    const std::lock_guard lock(mutex);
    by_key.insert_or_assign(key, bytes);
  }
  std::mutex mutex;
  std::unordered_map<std::string, std::string> by_key;
};

/// Runs a program; its exit status, -1 if it cannot be run. What it prints goes to `log`.
int Run(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int failed = posix_spawn(&process, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(process, &status, 0) != process || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

/// What a compiler says of its version, asked once.
std::string VersionOf(const std::string& compiler) {
  static std::mutex mutex;
  static std::map<std::string, std::string> versions;
  const std::lock_guard lock(mutex);
  const auto [it, added] = versions.try_emplace(compiler);
  if (added) {
    const ScratchFolder folder;
    Run({compiler, "--version"}, folder / "version");
    it->second = ReadFile(folder / "version").value_or("");
  }
  return it->second;
}

fs::path CacheFolder(const SourceCompiler& compiler) {
  if (!compiler.cache_dir.empty()) return compiler.cache_dir;
  const std::string cache = EnvironmentVariable("XDG_CACHE_HOME"), home = EnvironmentVariable("HOME");
  if (!cache.empty()) return fs::path(cache) / "deuteron" / "sources";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "deuteron" / "sources";
}

std::string KeyOf(const SourceUnit& unit, const std::string& compiler) {
  // Two sums of different beginnings: by accident no two sources meet.
  std::string key;
  for (const char* salt : {"a", "b"}) {
    runtime::Checksum sum;
    const auto add = [&sum](const std::string& text) {
      const uint64_t size = text.size();
      sum.Add(&size, sizeof(size));
      sum.Add(text.data(), text.size());
    };
    add(salt);
    add(compiler);
    add(VersionOf(compiler));
    for (const std::string& flag : unit.flags) add(flag);
    add(unit.text);
    char text[20];
    std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(sum.Value()));
    key += text;
  }
  return key;
}

/// The first lines of what a compiler said.
std::string Beginning(const std::string& text) {
  constexpr size_t kMost = 2000;
  return text.size() <= kMost ? text : text.substr(0, text.rfind('\n', kMost)) + "\n…";
}

std::string CompileNow(const SourceUnit& unit, const std::string& compiler) {
  const ScratchFolder folder;
  const Language& language = InfoOf(unit.language);
  const std::string source = (folder / (unit.name + language.extension)).string(),
                    object = (folder / "out.so").string();
  WriteFile(source, unit.text);
  std::vector<std::string> command = {compiler, "-shared", "-o", object, source};
  if (unit.language == SourceLanguage::kCuda) {
    command.insert(command.end(), {"-Xcompiler", "-fPIC,-fno-gnu-unique"});
  } else {
    command.emplace_back("-fPIC");
  }
  command.insert(command.end(), unit.flags.begin(), unit.flags.end());
  const int status = Run(command, folder / "log");
  if (status == 0) {
    if (auto bytes = ReadFile(object)) return *std::move(bytes);
  }
  DEUTERON_THROW(UnsupportedError) << "the " << language.name << " compiler " << compiler << " refuses " << unit.name
                                   << language.extension << " (status " << status << "):\n"
                                   << Beginning(ReadFile(folder / "log").value_or(""));
}

/// The compiler as it is named, by the caller, by the environment or by custom.
std::string ProgramOf(SourceLanguage language, const SourceCompiler& compiler) {
  if (!compiler.program.empty()) return compiler.program;
  const std::string named = EnvironmentVariable(InfoOf(language).variable);
  return named.empty() ? InfoOf(language).program : named;
}

}  // namespace

std::string CompilerProblem(SourceLanguage language, const SourceCompiler& compiler) {
  if (!FindCompiler(language, compiler).empty()) return "";
  const Language& info = InfoOf(language);
  const std::string program = ProgramOf(language, compiler);
  const bool from_variable = compiler.program.empty() && program == EnvironmentVariable(info.variable);
  return std::string("there is no ") + info.name + " compiler: \"" + program + "\"" +
         (from_variable ? std::string(", which $") + info.variable + " names," : "") +
         " is not in the search path; install one or name it in $" + info.variable;
}

std::string FindCompiler(SourceLanguage language, const SourceCompiler& compiler) {
  const std::string program = ProgramOf(language, compiler);
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  std::string path_list = EnvironmentVariable("PATH");
  // Where NVIDIA's installer puts it, without a word to the search path.
  if (language == SourceLanguage::kCuda)
    path_list += ":" + EnvironmentVariable("CUDA_HOME") + "/bin:/usr/local/cuda/bin";
  std::istringstream folders(path_list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string path = (fs::path(folder) / program).string();
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string CompileSource(const SourceUnit& unit, const SourceCompiler& options) {
  const std::string compiler = FindCompiler(unit.language, options);
  if (compiler.empty()) DEUTERON_THROW(UnsupportedError) << CompilerProblem(unit.language, options);
  const std::string key = KeyOf(unit, compiler);
  const fs::path cache = CacheFolder(options);
  const fs::path cached = cache / (key + ".so");
  if (auto bytes = CompiledHere::Get().Find(key)) return *std::move(bytes);
  if (!cache.empty()) {
    if (auto bytes = ReadEntry(cached)) return *std::move(bytes);
  }
  std::string bytes = CompileNow(unit, compiler);
  if (cache.empty() || !WriteEntry(cached, bytes)) CompiledHere::Get().Add(key, bytes);
  return bytes;
}

}  // namespace deuteron::backend
