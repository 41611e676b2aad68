#include <algorithm>
#include <cstdio>
#include <functional>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/driver/executable_impl.h"
#include "deuteron/driver/report/decision_json.h"
#include "deuteron/runtime/artifact.h"
#include "deuteron/runtime/artifact_set.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/runtime/weights.h"
#include "deuteron/support/write_file.h"

namespace deuteron {

namespace {

std::vector<TensorInfo> Describe(const std::vector<runtime::Executable::TensorInfo>& infos) {
  std::vector<TensorInfo> described;
  for (const auto& info : infos) described.push_back({info.name, DataType(info.dtype), info.shape, info.dims});
  return described;
}

/// Calls of kernels in the byte code of a function.
int64_t CountKernels(const runtime::Program& program, size_t function) {
  int64_t count = 0;
  const auto& code = program.functions[function].code;
  for (size_t word = 0; word < code.size(); word += std::max<size_t>(code[word] >> 8, 1)) {
    if (static_cast<runtime::Opcode>(code[word] & 0xFF) == runtime::Opcode::kKernel) ++count;
  }
  return count;
}

}  // namespace

Executable::Executable() = default;

Executable::Executable(std::shared_ptr<const runtime::Executable> executable, int threads)
    : impl_(std::make_shared<Impl>()) {
  CheckThreads(threads);
  impl_->inputs = Describe(executable->Inputs("main"));
  impl_->outputs = Describe(executable->Outputs("main"));
  impl_->num_kernels = CountKernels(executable->program(), executable->FindFunction("main"));
  impl_->threads = threads;
  impl_->executable = std::move(executable);
}

std::vector<Tensor> Executable::Run(const std::vector<Tensor>& inputs) const {
  auto instance = impl_->Acquire();
  std::vector<Tensor> outputs = instance->Run("main", inputs);
  impl_->Release(std::move(instance));
  return outputs;
}

void Executable::RunInto(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) const {
  auto instance = impl_->Acquire();
  instance->RunInto("main", inputs, outputs);
  impl_->Release(std::move(instance));
}

std::vector<Tensor> Executable::Run(const std::map<std::string, Tensor>& inputs) const {
  std::vector<Tensor> ordered;
  std::string known;
  for (const TensorInfo& info : impl_->inputs) {
    known += (known.empty() ? "\"" : ", \"") + info.name + "\"";
    auto it = inputs.find(info.name);
    if (it != inputs.end()) ordered.push_back(it->second);
  }
  for (const auto& [name, tensor] : inputs) {
    const auto matches = [&name = name](const TensorInfo& info) { return info.name == name; };
    if (std::none_of(impl_->inputs.begin(), impl_->inputs.end(), matches)) {
      DEUTERON_THROW(UsageError) << "the model has no input \"" << name << "\"; its inputs are " << known;
    }
  }
  for (const TensorInfo& info : impl_->inputs) {
    if (inputs.count(info.name) == 0) {
      DEUTERON_THROW(UsageError) << "input \"" << info.name << "\" is missing; the model's inputs are " << known;
    }
  }
  return Run(ordered);
}

const std::vector<TensorInfo>& Executable::inputs() const { return impl_->inputs; }
const std::vector<TensorInfo>& Executable::outputs() const { return impl_->outputs; }
int64_t Executable::num_kernels() const { return impl_->num_kernels; }
std::string Executable::backend() const {
  std::string names;
  for (const std::string& plugin : codegen::PluginsOf(impl_->executable->program()))
    names += (names.empty() ? "" : ",") + plugin;
  return names.empty() ? "none" : names;
}
int Executable::threads() const {
  auto instance = impl_->Acquire();
  const int threads = instance->threads();
  std::lock_guard lock(impl_->mutex);
  impl_->idle.push_back(std::move(instance));
  return threads;
}
void Executable::LimitRun(int64_t bytes) {
  const std::lock_guard lock(impl_->mutex);
  impl_->run_bytes = bytes;
  impl_->idle.clear();
}
int64_t Executable::activation_bytes() const { return impl_->activation_bytes; }
int64_t Executable::weight_bytes() const { return impl_->executable->weights_bytes(); }
const transform::DecisionLog& Executable::decisions() const {
  const std::lock_guard lock(impl_->mutex);
  // That of an artefact is read when it is asked for.
  if (impl_->decisions == nullptr) {
    impl_->decisions = std::make_shared<transform::DecisionLog>(DecisionsFromJson(impl_->executable->manifest().notes));
  }
  return *impl_->decisions;
}
const std::shared_ptr<const runtime::Executable>& Executable::runtime() const { return impl_->executable; }

void WriteCode(const std::string& path, const GeneratedCode& code, const std::string& weights_file) {
  runtime::Manifest manifest = code.manifest;
  manifest.notes = DecisionsToJson(*code.decisions);
  codegen::WriteModel(path, codegen::LinkSharedObject(*code.objects), code.compiled, std::move(manifest), weights_file);
}

namespace {

/// What writes an artefact for each target to the file that it is given.
using MemberWriter = std::function<void(const std::string& path)>;

/// One artefact, or several by way of files beside the one that they become.
void WriteMembers(const std::string& path, const std::vector<MemberWriter>& writers) {
  if (writers.size() == 1) return writers.front()(path);
  std::vector<std::string> members;
  const auto remove = [&members] {
    for (const std::string& member : members) std::remove(member.c_str());
  };
  try {
    for (const MemberWriter& write : writers) {
      members.push_back(UnfinishedName(path));
      write(members.back());
    }
    runtime::JoinArtifacts(path, members);
  } catch (...) {
    remove();
    throw;
  }
  remove();
}

/// Writes what was read from a file without its weights.
void WriteWithoutWeights(const std::string& path, std::string_view bytes, const MappedFile& file,
                         const std::string& weights_file) {
  runtime::ArtifactParts parts = runtime::ReadArtifact(bytes, file.path());
  if (!parts.manifest.weights_file.empty()) {
    DEUTERON_THROW(UsageError) << file.path() << " has its weights in " << parts.manifest.weights_file
                               << " already: copy both, or compile the model again";
  }
  std::vector<const void*> weights;
  for (const runtime::ConstantSpec& constant : parts.program.constants)
    weights.push_back(parts.weights.data() + constant.offset);
  // What is damaged gets no new checksum.
  runtime::Weights(parts.program, weights, file.path(), {}).CheckAll(runtime::UsableThreads());
  const auto weight = [&](size_t i) { return weights[i]; };
  runtime::WriteArtifact(path, parts.elf, parts.program, std::move(parts.manifest), weight, weights_file);
}

}  // namespace

void SaveFile(const MappedFile& file, const std::string& path, const std::string& weights_file) {
  if (weights_file.empty()) return WriteFile(path, file.bytes());
  std::vector<MemberWriter> writers;
  const auto add = [&](std::string_view bytes) {
    writers.push_back([&, bytes](const std::string& to) { WriteWithoutWeights(to, bytes, file, weights_file); });
  };
  if (const auto members = runtime::ReadArtifactSet(file.bytes(), file.path())) {
    for (const runtime::ArtifactMember& member : *members) add(file.bytes().substr(member.offset, member.bytes));
  } else {
    add(file.bytes());
  }
  WriteMembers(path, writers);
}

void Executable::Save(const std::string& path, const std::string& weights_file) const {
  if (impl_->file != nullptr) return SaveFile(*impl_->file, path, weights_file);
  std::vector<MemberWriter> writers;
  for (const GeneratedCode& code : impl_->code) {
    writers.push_back([&](const std::string& to) { WriteCode(to, code, weights_file); });
  }
  WriteMembers(path, writers);
}

Executable Executable::Load(const std::string& path, int threads, bool verify_weights,
                            const std::string& weights_file) {
  const runtime::LoadOptions options{.verify_weights = verify_weights, .weights_file = weights_file};
  Executable executable(runtime::Executable::Load(path, options), threads);
  executable.impl_->file = MappedFile::Open(path, "the compiled model");
  return executable;
}

}  // namespace deuteron
