# Everything that the build takes from outside; each one is explained in the README's table.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)

set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python that has apache-tvm-ffi")
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m tvm_ffi.config --cmakedir
  OUTPUT_VARIABLE tvm_ffi_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(tvm_ffi CONFIG REQUIRED)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
# malloc of the command and the benchmarks (deuteron_fast_malloc). Sanitizers bring their own.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  find_package(mimalloc 2 CONFIG REQUIRED)
endif()
# oneDNN, from PyPI (tests/requirements.txt). Without it the plugin dnnl is not built.
get_filename_component(DEUTERON_PYTHON_BIN "${Python_EXECUTABLE}" DIRECTORY)
# (Where pip builds in an environment of its own, it lies beside tvm-ffi.)
find_package(dnnl CONFIG HINTS "${DEUTERON_PYTHON_BIN}/../lib/cmake/dnnl" "${tvm_ffi_ROOT}/../../../../../../cmake/dnnl")
# NVIDIA's toolkit and cuDNN, wherever they are installed. Without them the plugins cublas and cudnn are not built; the
# compiler itself needs neither. Headers of cuDNN's graph builder and of CUTLASS come from PyPI (tests/headers.txt).
find_package(CUDAToolkit QUIET)
find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CUDNN_LIBRARY cudnn HINTS "${CUDAToolkit_LIBRARY_DIR}")
file(GLOB DEUTERON_SITE_PACKAGES "${DEUTERON_PYTHON_BIN}/../lib/python3*/site-packages")
find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h HINTS ${DEUTERON_SITE_PACKAGES} PATH_SUFFIXES include)
find_path(CUTLASS_INCLUDE_DIR cutlass/cutlass.h HINTS ${DEUTERON_SITE_PACKAGES} PATH_SUFFIXES cutlass_library/source/include)
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
# What code generation and lld (which knows all targets) need, for the static link.
file(GLOB DEUTERON_LLVM_ARCHIVES "${LLVM_LIBRARY_DIRS}/libLLVM*.a")
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
if(DEUTERON_BUILD_TESTS OR NOT DEFINED DEUTERON_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()
