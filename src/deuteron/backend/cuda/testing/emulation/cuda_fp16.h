/// \file
/// Half floats, as cuda_runtime.h beside this has the rest.
#pragma once

using __half = _Float16;
