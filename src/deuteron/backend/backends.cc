#include "deuteron/backend/backends.h"

#include <algorithm>

#include "deuteron/backend/csource/csource.h"
#include "deuteron/backend/cublas/cublas.h"
#include "deuteron/backend/cudnn/cudnn.h"
#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/backend/dnnl/dnnl.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/support/suggest.h"

namespace deuteron::backend {
namespace {

/// What the plugin of that name can run.
relax::LibraryCodegen OfPlugin(relax::ExternalFunction (*generate)(const relax::CodegenRequest&), const char* name) {
  return {generate, [name] { return runtime::PluginProblem(name); }, [name] { return runtime::PluginAbsence(name); }};
}

std::vector<Backend>& Table() {
  static auto* table = new std::vector<Backend>{
      {"dnnl", "oneDNN: convolutions, products, pooling, softmax, layer norm on CPUs", dnnl::Partition,
       OfPlugin(dnnl::Generate, "dnnl"), dnnl::PartitionQuantized, dnnl::PartitionPaying,
       [] { return runtime::PluginVersion("dnnl"); }, dnnl::IsLikely},
      {"csource",
       "plain C: products of matrices and element-wise operators, as an example",
       [] { return relax::FuseOpsByPattern(csource::Patterns()); },
       {csource::Generate, csource::Missing}},
      {"cublas", "cuBLASLt: products of matrices with bias and activation on NVIDIA GPUs", cublas::Partition,
       OfPlugin(cublas::Generate, "cublas"), nullptr, nullptr, [] { return runtime::PluginVersion("cublas"); }},
      {"cudnn", "cuDNN: convolutions with bias and ReLU, and attention, on NVIDIA GPUs", cudnn::Partition,
       OfPlugin(cudnn::Generate, "cudnn"), nullptr, nullptr, [] { return runtime::PluginVersion("cudnn"); }},
      {"cutlass",
       "CUTLASS: products, convolutions, attention and norms, compiled by nvcc for NVIDIA GPUs",
       cutlass::Partition,
       {.generate = cutlass::Generate, .missing = cutlass::Missing, .prepare = cutlass::Prepare}},
  };
  return *table;
}

}  // namespace

const std::vector<Backend>& AllBackends() { return Table(); }

const Backend* FindBackend(std::string_view name) {
  const auto it =
      std::find_if(Table().begin(), Table().end(), [&](const Backend& backend) { return backend.name == name; });
  return it == Table().end() ? nullptr : &*it;
}

void RegisterBackend(Backend backend) {
  if (FindBackend(backend.name) != nullptr)
    DEUTERON_THROW(UsageError) << "there is a back end " << backend.name << " already";
  Table().push_back(std::move(backend));
}

const Backend& GetBackend(const std::string& name) {
  if (const Backend* backend = FindBackend(name)) return *backend;
  std::vector<std::string_view> names;
  std::string known;
  for (const Backend& backend : Table()) {
    names.emplace_back(backend.name);
    known += (known.empty() ? "" : ", ") + backend.name;
  }
  DEUTERON_THROW(UsageError) << "there is no back end \"" << name << "\"" << DidYouMean(name, names)
                             << "; the back ends are: " << known;
}

bool IsAsked(const Backend& backend, std::string_view option) {
  return option == "auto" ? backend.partition_paying != nullptr : option == backend.name;
}

relax::LibraryCodegen FindCodegen(const std::string& name) { return GetBackend(name).codegen; }

}  // namespace deuteron::backend
