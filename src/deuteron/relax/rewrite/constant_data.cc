#include "deuteron/relax/rewrite/constant_data.h"

#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron::relax {

Tensor CompactData(const Constant& constant) {
  const DLTensor& data = *constant->data.GetDLTensorPtr();
  const bool ready = runtime::IsKernelReady(data) && data.byte_offset == 0;
  return ready ? constant->data : runtime::CopyCompact(data);
}

void LetGoOfData(const Constant& constant) {
  const auto bytes = static_cast<size_t>(constant->data.numel() * ElementBytes(constant->data.dtype()));
  MappedFile::LetGo(static_cast<const char*>(constant->data.data_ptr()) + constant->data.byte_offset(), bytes);
}

}  // namespace deuteron::relax
