#include "deuteron/python/executable.h"

#include <tvm/ffi/reflection/registry.h>

#include "deuteron/python/options.h"
#include "deuteron/python/register.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron::python {
namespace {

/// (name, dtype, dimensions or -1, dimensions as text) of each.
Array<Array<ffi::Any>> Describe(const std::vector<TensorInfo>& infos) {
  Array<Array<ffi::Any>> described;
  for (const TensorInfo& info : infos) {
    Array<String> symbols;
    for (const std::string& symbol : info.symbols) symbols.push_back(symbol);
    described.push_back({String(info.name), String(runtime::DTypeName(info.dtype)),
                         ffi::Shape(info.shape.begin(), info.shape.end()), symbols});
  }
  return described;
}

std::vector<Tensor> ToVector(const Array<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

ExecutableRef CompileModule(IRModule module, const Map<String, ffi::Any>& options) {
  return ExecutableRef(Compile(std::move(module), ToCompileOptions(options)));
}

/// Of a path: what the cache knows is not read.
ExecutableRef CompileAtPath(const String& path, const Map<String, ffi::Shape>& shapes,
                            const Map<String, int64_t>& limits, const Array<IRModule>& custom,
                            const Map<String, ffi::Any>& options) {
  const CompileOptions compile = ToCompileOptions(options);
  const LimitScope scope(compile.limits);
  return ExecutableRef(CompileFile(path, ToImportOptions(shapes, limits, custom), compile));
}

Array<Tensor> Run(const ExecutableRef& executable, const Array<Tensor>& inputs) {
  const std::vector<Tensor> outputs = executable->value.Run(ToVector(inputs));
  return {outputs.begin(), outputs.end()};
}

void RunInto(const ExecutableRef& executable, const Array<Tensor>& inputs, const Array<Tensor>& outputs) {
  executable->value.RunInto(ToVector(inputs), ToVector(outputs));
}

Map<String, ffi::Any> Figures(const ExecutableRef& executable) {
  const deuteron::Executable& value = executable->value;
  return {{"num_kernels", value.num_kernels()},
          {"backend", String(value.backend())},
          {"threads", static_cast<int64_t>(value.threads())},
          {"weight_bytes", value.weight_bytes()},
          {"activation_bytes", value.activation_bytes()},
          {"target", String(value.runtime()->manifest().target)}};
}

/// A tensor over memory that the caller keeps; strides in elements, empty if there are no gaps.
Tensor View(int64_t address, const ffi::Shape& shape, const ffi::Shape& strides, DLDataType dtype) {
  const std::span<const int64_t> dims(shape.data(), shape.size());
  Tensor view = runtime::ViewTensor(reinterpret_cast<void*>(address), dims, dtype);
  return strides.empty() ? view : view.as_strided(shape, strides);
}

/// The memory of `tensor` as elements of another dtype of as many bytes.
Tensor Reinterpret(const Tensor& tensor, DLDataType dtype) {
  DEUTERON_CHECK(ElementBytes(dtype) == ElementBytes(tensor.dtype()))
      << runtime::DescribeTensor(*tensor.GetDLTensorPtr()) << " as " << runtime::DTypeName(dtype);
  const std::span<const int64_t> dims(tensor.shape().data(), tensor.shape().size());
  const auto owner = std::make_shared<const Tensor>(tensor);
  return runtime::ViewTensor(tensor.data_ptr(), dims, dtype, owner);
}

}  // namespace

void RegisterExecutables() {
  ffi::reflection::ObjectDef<ExecutableNode>();
  ffi::reflection::GlobalDef()
      .def("deuteron.python.compile", CompileModule)
      .def("deuteron.python.compile_file", CompileAtPath)
      .def("deuteron.python.load",
           [](const String& path, int threads, bool verify_weights, const String& weights) {
             return ExecutableRef(deuteron::Executable::Load(path, threads, verify_weights, weights));
           })
      .def("deuteron.python.inputs", [](const ExecutableRef& exe) { return Describe(exe->value.inputs()); })
      .def("deuteron.python.outputs", [](const ExecutableRef& exe) { return Describe(exe->value.outputs()); })
      .def("deuteron.python.figures", Figures)
      .def("deuteron.python.run", Run)
      .def("deuteron.python.run_into", RunInto)
      .def("deuteron.python.save",
           [](const ExecutableRef& exe, const String& path, const String& weights) { exe->value.Save(path, weights); })
      .def("deuteron.python.view", View)
      .def("deuteron.python.reinterpret", Reinterpret);
}
}  // namespace deuteron::python
