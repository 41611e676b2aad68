/// Modules: read, parsed, printed, compared.
#include <tvm/ffi/reflection/registry.h>

#include "deuteron/driver/read_module.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/python/options.h"
#include "deuteron/python/register.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron::python {
namespace {

String PrintForPeople(const ObjectRef& node) {
  // Weights would fill the screen.
  return script::Print(node, {.header = false, .spans = false, .elide_constants_over = 64});
}

}  // namespace

void RegisterModules() {
  ffi::reflection::GlobalDef()
      .def("deuteron.python.read_module",
           [](const String& path, const Map<String, ffi::Shape>& shapes, const Map<String, int64_t>& limits,
              const Array<IRModule>& custom) { return ReadModule(path, ToImportOptions(shapes, limits, custom)); })
      .def("deuteron.python.parse_onnx",
           [](const ffi::Bytes& bytes, const Map<String, ffi::Shape>& shapes, const Map<String, int64_t>& limits,
              const Array<IRModule>& custom, const String& folder) {
             return onnx::Parse({bytes.data(), bytes.size()}, ToImportOptions(shapes, limits, custom), folder);
           })
      .def("deuteron.python.parse_script",
           [](const String& text, const String& name) { return script::ParseModule(std::string(text), name); })
      .def("deuteron.python.script", [](const ObjectRef& node) { return String(script::Print(node)); })
      .def("deuteron.python.show", PrintForPeople)
      .def("deuteron.python.type_of", [](const RelaxExpr& expr) { return expr.ty(); })
      .def("deuteron.python.structural_equal", StructurallyEqual)
      .def("deuteron.python.first_mismatch",
           [](const ObjectRef& a, const ObjectRef& b, bool map_free_vars) {
             return String(FirstMismatch(a, b, map_free_vars));
           })
      .def("deuteron.python.check_well_formed", [](const IRModule& module) { relax::CheckWellFormed(module); })
      .def("deuteron.python.remove_all_unused",
           [](const relax::Function& function) { return relax::RemoveAllUnused(function); })
      .def("deuteron.python.lookup",
           [](const IRModule& module, const String& name) {
             return module.Lookup(module.GetGlobalVar(std::string(name)));
           })
      .def("deuteron.python.with_function", [](IRModule module, const GlobalVar& var, const BaseFunc& func) {
        module.Update(var, func);
        return module;
      });
}
}  // namespace deuteron::python
