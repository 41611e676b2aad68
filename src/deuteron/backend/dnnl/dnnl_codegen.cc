#include "deuteron/backend/dnnl/composite.h"
#include "deuteron/backend/dnnl/dnnl.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

class Serializer : public JsonSerializer {
 public:
  using JsonSerializer::JsonSerializer;

 private:
  JsonKernel Composite(const std::string& name, const relax::Function& function) override {
    std::string why;
    auto kernel = DescribeComposite(function, &why, &constants_);
    if (!kernel) DEUTERON_THROW(UnsupportedError) << "oneDNN cannot compute " << name << ": it holds " << why;
    return *std::move(kernel);
  }

  CentredConstants constants_;
};

}  // namespace

relax::ExternalFunction Generate(const relax::CodegenRequest& request) {
  return Serializer(request, "dnnl").Serialize("dnnl");
}

}  // namespace deuteron::backend::dnnl
