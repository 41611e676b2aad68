/// \file
/// Group norms that a model has in other words.
#pragma once

#include "deuteron/ir/module.h"

namespace deuteron::relax {

/// Instance norms of images whose channels were made groups, of as many values as these channels have in common, and
/// became channels again: nn.group_norm, which can have the channels last.
///
///     y = reshape(x, (n, g, …))             x: (n, c, h, w)
///     z = nn.instance_norm(y, s, b)                                  z = nn.group_norm(x, repeat(s, c / g), …, g)
///     v = reshape(z, (n, c, h, w))
///
/// Uses of `z` but for this one leave all as it is. Outside of dataflow blocks nothing changes.
IRModule WithGroupNorms(IRModule module);

}  // namespace deuteron::relax
