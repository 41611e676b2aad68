/// \file
/// The list of all operators. To add one, write its row in the file of its family and a test beside it; a new family
/// gets a line here.
#include <iterator>
#include <vector>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/call.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/loss.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/trees.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/op/vision.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {
namespace {

/// Every family of operators there is.
std::vector<OpInfo> ConcatenateFamilies() {
  std::vector<OpInfo> rows;
  const auto add = [&rows](std::vector<OpInfo> family) {
    rows.insert(rows.end(), std::make_move_iterator(family.begin()), std::make_move_iterator(family.end()));
  };
  add(CallOps());
  add(UnaryOps());
  add(BinaryOps());
  add(NNActivationOps());
  add(NNNormOps());
  add(NNConvOps());
  add(NNUnfoldOps());
  add(NNWinogradOps());
  add(NNPoolOps());
  add(NNMiscOps());
  add(LinearAlgebraOps());
  add(BuiltinOps());
  add(MemoryOps());
  add(VMOps());
  add(ManipulateOps());
  add(CopyOps());
  add(CreateOps());
  add(StatisticalOps());
  add(SearchOps());
  add(IndexOps());
  add(DatatypeOps());
  add(ShapeOps());
  add(GatherOps());
  add(SortingOps());
  add(TreeOps());
  add(QdqOps());
  add(ImageOps());
  add(VisionOps());
  add(LossOps());
  return rows;
}

const bool table_is_set = (SetOpTable(ConcatenateFamilies), true);

}  // namespace
}  // namespace deuteron::relax
