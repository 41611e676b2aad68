#include "deuteron/runtime/plugin.h"

#include <dlfcn.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "deuteron/runtime/kernel_function.h"
#include "deuteron/runtime/plugin_ahead.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/aligned_memory.h"
#include "deuteron/support/error.h"
#include "deuteron/support/fork.h"
#include "deuteron/support/library_files.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/support/memory_library.h"
#include "deuteron/support/shared_library.h"
#include "deuteron/support/thread_placement.h"

namespace deuteron::runtime {
namespace {

using tvm::ffi::Any;
using tvm::ffi::AnyView;
using tvm::ffi::Function;

constexpr const char* kSharedObject = "shared_object";
thread_local int call_threads = 0;
thread_local std::vector<int64_t>* call_kernels = nullptr;
/// Of the calls for which this thread prepares something beside others (PrepareEach); 0 if it does not.
thread_local int prepared_threads = 0;

/// While it lives, its thread prepares for such calls.
class BesideOthers {
 public:
  explicit BesideOthers(int threads) : before_(std::exchange(prepared_threads, threads)) {}
  ~BesideOthers() { prepared_threads = before_; }
  BesideOthers(const BesideOthers&) = delete;
  BesideOthers& operator=(const BesideOthers&) = delete;

 private:
  int before_;
};

int HostThreads() {
  return prepared_threads > 0 ? prepared_threads : TeamThreads(call_threads > 0 ? call_threads : UsableThreads());
}
int HostTeamThreads() { return prepared_threads > 0 ? 1 : HostThreads(); }
void* HostBeginTeam(int count, void (*body)(void*, int), void* closure) {
  try {
    return new Team(count, body, closure);
  } catch (const std::exception&) {
    return nullptr;
  }
}
void HostEndTeam(void* team) { delete static_cast<Team*>(team); }
int HostParallelFor(int64_t extent, int64_t grain, int (*body)(void*, int64_t, int64_t), void* closure) {
  std::string thrown;
  return ParallelForOrStatus(call_threads > 0 ? call_threads : UsableThreads(), extent, grain, body, closure, &thrown);
}
int HostIsProfiled() { return call_kernels != nullptr; }
void HostRecordKernel(uint32_t index, int64_t nanoseconds) {
  if (call_kernels == nullptr) return;
  if (call_kernels->size() <= index) call_kernels->resize(index + 1, 0);
  (*call_kernels)[index] += nanoseconds;
}
constexpr DeuteronHost kHost = {kDeuteronHostVersion,
                                &HostThreads,
                                &HostTeamThreads,
                                &HostBeginTeam,
                                &HostEndTeam,
                                &HostParallelFor,
                                &HostIsProfiled,
                                &HostRecordKernel,
                                &AllocAligned,
                                &FreeAligned,
                                &deuteron::MappedFile::LetGo};

struct Plugin {
  TVMFFISafeCallType create = nullptr;
  /// May be null.
  TVMFFISafeCallType pack = nullptr;
  /// May be null.
  TVMFFISafeCallType version = nullptr;
  std::string problem;
};

bool IsPluginName(const std::string& name) { return !name.empty() && name.find('/') == std::string::npos; }
std::string FileOf(const std::string& name) { return "libdeuteron_" + name + ".so"; }

/// What lies beside it as plugins do.
const void* ThisLibrary() { return reinterpret_cast<const void*>(&PluginProblem); }

Plugin Open(const std::string& name) {
  if (!IsPluginName(name)) return {.problem = "'" + name + "' is no name of a plugin"};
  const std::string file = FileOf(name);
  const auto [library, problem, is_for_memory] = OpenBeside(ThisLibrary(), file, "the runtime library");
  if (is_for_memory) DEUTERON_THROW(MemoryError) << "out of memory: " << problem;
  if (library == nullptr) return {.problem = problem};
  auto* create = reinterpret_cast<TVMFFISafeCallType>(dlsym(library, "__tvm_ffi_deuteron_create"));
  if (create == nullptr)
    return {.problem = file + " is no plugin of this runtime: it lacks the function deuteron_create"};
  const auto find = [library = library](const char* name) {
    return reinterpret_cast<TVMFFISafeCallType>(dlsym(library, name));
  };
  std::string why_not;
  if (const TVMFFISafeCallType problem = find("__tvm_ffi_deuteron_problem")) {
    why_not = Function::InvokeExternC(nullptr, problem).cast<std::string>();
  }
  if (!why_not.empty()) return {.problem = why_not};
  return {create, find("__tvm_ffi_deuteron_pack"), find("__tvm_ffi_deuteron_version"), ""};
}

/// Those that were looked for. A fork waits until none is being opened: the dynamic linker would stay locked in the
/// child.
struct Plugins {
  Plugins() { HoldAcrossFork(&mutex); }
  static Plugins& Get() {
    static auto* plugins = new Plugins();
    return *plugins;
  }
  /// `mutex` is locked.
  const Plugin& Find(const std::string& name) {
    const auto it = by_name.find(name);
    return it != by_name.end() ? it->second : by_name.emplace(name, Open(name)).first->second;
  }
  std::mutex mutex;
  std::map<std::string, Plugin> by_name;
};

const Plugin& FindPlugin(const std::string& name) {
  Plugins& plugins = Plugins::Get();
  const std::lock_guard lock(plugins.mutex);
  return plugins.Find(name);
}

/// Objects that functions call, each once however many do.
class SharedObjects {
 public:
  static SharedObjects& Get() {
    static auto* objects = new SharedObjects();
    return *objects;
  }

  std::shared_ptr<void> Open(const ExternalSpec& external) {
    const std::lock_guard lock(mutex_);
    std::erase_if(opened_, [](const auto& entry) { return entry.second.expired(); });
    const auto known = opened_.find(&*external.code);
    std::shared_ptr<Opened> opened = known == opened_.end() ? nullptr : known->second.lock();
    if (opened == nullptr) {
      std::string why;
      std::shared_ptr<void> library = OpenLibraryOfBytes(*external.code, external.symbol, &why);
      if (library == nullptr) {
        DEUTERON_THROW(UnsupportedError) << "the code of " << external.symbol << " cannot be loaded: " << why;
      }
      opened = std::make_shared<Opened>(Opened{external.code, std::move(library)});
      opened_.insert_or_assign(&*external.code, opened);
    }
    return {opened, opened->library.get()};
  }

 private:
  struct Opened {
    /// As long as it is open no other code can lie where this one does.
    SharedBytes code;
    std::shared_ptr<void> library;
  };

  // A fork waits until none is being opened: the dynamic linker would stay locked in the child.
  SharedObjects() { HoldAcrossFork(&mutex_); }

  std::mutex mutex_;
  std::map<const std::string*, std::weak_ptr<Opened>> opened_;
};

Function LoadSharedObject(const ExternalSpec& external, std::vector<Tensor> constants) {
  const std::shared_ptr<void> library = SharedObjects::Get().Open(external);
  void* symbol = dlsym(library.get(), external.symbol.c_str());
  if (symbol == nullptr) symbol = dlsym(library.get(), DEUTERON_NAMELESS_FUNCTION);
  auto* function = reinterpret_cast<DeuteronTensorFunction>(symbol);
  if (function == nullptr) DEUTERON_THROW(ModelError) << "the code of " << external.symbol << " does not define it";
  auto* error = reinterpret_cast<DeuteronErrorFunction>(dlsym(library.get(), "deuteron_error"));
  if (auto* stream_of = static_cast<DeuteronStreamOf*>(dlsym(library.get(), "deuteron_stream_of"))) {
    *stream_of = &TVMFFIEnvGetStream;
  }
  return Function::FromPacked([library, function, error, symbol = external.symbol, constants = std::move(constants)](
                                  const AnyView* args, int32_t count, Any* result) {
    std::vector<const DLTensor*> tensors;
    for (int32_t i = 0; i < count; ++i) {
      if (const auto tensor = args[i].try_cast<DLTensor*>()) tensors.push_back(*tensor);
    }
    for (const Tensor& constant : constants) tensors.push_back(constant.GetDLTensorPtr());
    const int status = function(tensors.data(), static_cast<int32_t>(tensors.size()));
    if (status != 0 && error != nullptr) DEUTERON_THROW(UnsupportedError) << symbol << " failed: " << error();
    if (status != 0) DEUTERON_THROW(ModelError) << symbol << " failed with status " << status;
    *result = nullptr;
  });
}

Any CallPlugin(TVMFFISafeCallType function, const ExternalSpec& external, std::span<const Tensor> constants) {
  tvm::ffi::Array<tvm::ffi::String> names;
  for (const std::string& name : external.constant_names) names.push_back(name);
  const tvm::ffi::Array<Tensor> tensors(constants.begin(), constants.end());
  return Function::InvokeExternC(nullptr, function, const_cast<void*>(static_cast<const void*>(&kHost)),
                                 tvm::ffi::String(external.symbol), tvm::ffi::Bytes(*external.code), names, tensors);
}

}  // namespace

CallThreads::CallThreads(int threads) : before_(call_threads) { call_threads = threads; }
CallThreads::~CallThreads() { call_threads = before_; }

void PrepareEach(std::span<const size_t> sizes, int threads, const std::function<void(size_t)>& prepare) {
  const CallThreads scope(threads);
  std::vector<size_t> waiting(sizes.size());
  std::iota(waiting.begin(), waiting.end(), 0);
  size_t left = std::accumulate(sizes.begin(), sizes.end(), size_t{0});
  // What is more than a thread's share of what is left is worth all threads, which its plugin knows to use.
  while (!waiting.empty()) {
    const auto largest =
        std::max_element(waiting.begin(), waiting.end(), [&](size_t a, size_t b) { return sizes[a] < sizes[b]; });
    if (sizes[*largest] * threads < left) break;
    prepare(*largest);
    left -= sizes[*largest];
    waiting.erase(largest);
  }
  struct Work {
    std::span<const size_t> waiting;
    int threads, team;
    const std::function<void(size_t)>& prepare;
  } work{waiting, threads, HostThreads(), prepare};
  const auto body = [](void* closure, int64_t begin, int64_t end) {
    const auto& [waiting, threads, team, prepare] = *static_cast<const Work*>(closure);
    const CallThreads scope(threads);
    const BesideOthers beside(team);
    for (int64_t i = begin; i < end; ++i) prepare(waiting[i]);
    return 0;
  };
  ParallelFor(threads, static_cast<int64_t>(waiting.size()), 1, body, &work);
}

CallProfile::CallProfile(std::vector<int64_t>* kernels) : before_(call_kernels) { call_kernels = kernels; }
CallProfile::~CallProfile() { call_kernels = before_; }

std::string PluginProblem(const std::string& name) { return name == kSharedObject ? "" : FindPlugin(name).problem; }

std::string PluginAbsence(const std::string& name) {
  return IsPluginName(name) && !FindBeside(ThisLibrary(), FileOf(name)).empty() ? "" : PluginProblem(name);
}

std::optional<std::vector<FileState>> PluginFiles(const std::string& name) {
  if (!IsPluginName(name)) return std::nullopt;
  const std::string path = FindBeside(ThisLibrary(), FileOf(name));
  if (!path.empty()) return FilesOfLibrary(path);
  const std::string runtime = LibraryOf(ThisLibrary());
  return std::vector{FileState::Of(runtime.substr(0, runtime.rfind('/') + 1) + FileOf(name))};
}

void OpenPluginAhead(const std::string& name) {
  static std::mutex mutex;
  static auto* begun = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (name == kSharedObject || !begun->insert(name).second) return;
  // Made here: a fork does not wait for a thread that makes it.
  Plugins::Get();
  try {
    // It needs a processor, which no worker shall wait for.
    ThreadBeside opener([name, scope = std::make_shared<ComputeScope>()]() mutable {
      try {
        Plugins& plugins = Plugins::Get();
        const std::lock_guard lock(plugins.mutex);
        // Who waits for the plugin may have this processor as soon as it is open.
        const auto computing = std::move(scope);
        plugins.Find(name);
      } catch (const std::exception&) {
        // Whoever needs it tries again.
      }
    });
    opener.Detach();
  } catch (const std::exception&) {
    // There is no thread for it.
  }
}

bool IsPluginOpen(const std::string& name) {
  if (name == kSharedObject) return true;
  Plugins& plugins = Plugins::Get();
  const std::unique_lock lock(plugins.mutex, std::try_to_lock);
  if (!lock) return false;
  const auto it = plugins.by_name.find(name);
  return it != plugins.by_name.end() && it->second.problem.empty();
}

std::string PluginVersion(const std::string& name) {
  const TVMFFISafeCallType version = FindPlugin(name).version;
  return version == nullptr ? "" : Function::InvokeExternC(nullptr, version).cast<std::string>();
}

bool PacksConstants(const std::string& name) { return name != kSharedObject && FindPlugin(name).pack != nullptr; }

PackedExternal PackExternal(const ExternalSpec& external, std::span<const Tensor> constants, int threads) {
  if (!PacksConstants(external.plugin)) return {external.code, {constants.begin(), constants.end()}};
  const TVMFFISafeCallType pack = FindPlugin(external.plugin).pack;
  const CallThreads scope(threads);
  const auto packed = CallPlugin(pack, external, constants).cast<tvm::ffi::Array<Any>>();
  const auto code = packed[0].cast<tvm::ffi::Bytes>();
  const auto tensors = packed[1].cast<tvm::ffi::Array<Tensor>>();
  DEUTERON_CHECK(tensors.size() == constants.size()) << external.plugin << " packs other constants than it is given";
  const int64_t workspace = packed.size() > 2 ? packed[2].cast<int64_t>() : 0;
  DEUTERON_CHECK(workspace >= 0) << external.plugin << " asks for " << workspace << " bytes";
  return {{code.data(), code.size()}, {tensors.begin(), tensors.end()}, workspace};
}

Function LoadExternal(const ExternalSpec& external, std::span<const Tensor> constants) {
  if (external.plugin == kSharedObject) return LoadSharedObject(external, {constants.begin(), constants.end()});
  const Plugin& plugin = FindPlugin(external.plugin);
  if (plugin.create == nullptr) {
    DEUTERON_THROW(UnsupportedError) << "the model needs the plugin '" << external.plugin << "': " << plugin.problem;
  }
  return CallPlugin(plugin.create, external, constants).cast<Function>();
}

}  // namespace deuteron::runtime
