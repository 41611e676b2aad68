# The layers. Each folder of src/deuteron is an object library that may use only the layers named in its
# DEPENDS; the libraries and the tests are linked from the objects of a layer and of all it depends on.

add_library(deuteron_options INTERFACE)
target_include_directories(deuteron_options INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_options(deuteron_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
if(DEUTERON_WARNINGS_AS_ERRORS)
  target_compile_options(deuteron_options INTERFACE -Werror)
endif()
target_link_libraries(deuteron_options INTERFACE tvm_ffi::header)

# What nearly all sources include and none of ours is: half of the time that a small source takes is to read it. Programs are
# compiled otherwise than libraries, so that the first target of either kind reads it for the others.
function(deuteron_precompile kind target)
  if(NOT DEUTERON_UNITY)
    return()
  endif()
  get_property(first GLOBAL PROPERTY DEUTERON_PRECOMPILED_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
    return()
  endif()
  set_property(GLOBAL PROPERTY DEUTERON_PRECOMPILED_${kind} ${target})
  target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <limits>
    <map> <memory> <mutex> <numeric> <optional> <set> <sstream> <string> <string_view> <unordered_map> <unordered_set> <utility>
    <vector> <tvm/ffi/tvm_ffi.h> ${ARGN})
endfunction()

# deuteron_layer(NAME SOURCES ... [ALONE ...] [DEPENDS ...] [LIBRARIES ...]). Presets for users compile several sources as
# one (DEUTERON_UNITY), so that names in anonymous namespaces are distinct within a layer; ALONE lists sources that cannot take
# part. Sixteen at once instead of eight take a fifth less time: they share instances of templates.
function(deuteron_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;DEPENDS;LIBRARIES" ${ARGN})
  set(layers ${name})
  set(libraries ${ARG_LIBRARIES})
  foreach(dependency ${ARG_DEPENDS})
    get_property(inherited TARGET dt_${dependency} PROPERTY DEUTERON_LAYERS)
    list(APPEND layers ${inherited})
    get_property(inherited TARGET dt_${dependency} PROPERTY DEUTERON_LIBRARIES)
    list(APPEND libraries ${inherited})
  endforeach()
  list(REMOVE_DUPLICATES layers)
  list(REMOVE_DUPLICATES libraries)
  if(ARG_SOURCES)
    add_library(dt_${name} OBJECT ${ARG_SOURCES} ${ARG_ALONE})
    set_target_properties(dt_${name} PROPERTIES UNITY_BUILD ${DEUTERON_UNITY} UNITY_BUILD_BATCH_SIZE 16)
    if(DEUTERON_UNITY)
      # Types of one source that are local to it: the warning takes the source for a header.
      target_compile_options(dt_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
    if(ARG_ALONE)
      set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    target_link_libraries(dt_${name} PUBLIC deuteron_options ${libraries})
    deuteron_precompile(LAYERS dt_${name})
  else()
    add_library(dt_${name} INTERFACE)  # headers only
  endif()
  set_property(TARGET dt_${name} PROPERTY DEUTERON_LAYERS ${layers})
  set_property(TARGET dt_${name} PROPERTY DEUTERON_LIBRARIES ${libraries})
endfunction()

# lld starts every target that LLVM was built with, which would link them all: half of the library. Those that nothing is compiled
# for are started by functions that do nothing, and so are readers of assembler.
set(DEUTERON_LLVM_TARGETS X86 AArch64)
set(DEUTERON_UNUSED_LLVM_TARGETS "${PROJECT_BINARY_DIR}/unused_llvm_targets.c")
set(unused_llvm_targets ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM unused_llvm_targets ${DEUTERON_LLVM_TARGETS})
set(source "")
foreach(target ${LLVM_TARGETS_TO_BUILD})
  string(APPEND source "void LLVMInitialize${target}AsmParser(void) {}\n")
endforeach()
foreach(target ${unused_llvm_targets})
  foreach(part TargetInfo Target TargetMC AsmPrinter)
    string(APPEND source "void LLVMInitialize${target}${part}(void) {}\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT "${DEUTERON_UNUSED_LLVM_TARGETS}" CONTENT "${source}" @ONLY)

# deuteron_link_layers(TARGET LAYERS ... [EXCLUDE ...] [RELEASED] [STATIC_LLVM]): links the objects of layers, and of all they
# depend on but the excluded ones and what those depend on, into a target.
function(deuteron_link_layers target)
  cmake_parse_arguments(ARG "RELEASED;STATIC_LLVM" "" "LAYERS;EXCLUDE" ${ARGN})
  set(layers)
  set(libraries)
  foreach(layer ${ARG_LAYERS})
    get_property(inherited TARGET dt_${layer} PROPERTY DEUTERON_LAYERS)
    list(APPEND layers ${inherited})
    get_property(inherited TARGET dt_${layer} PROPERTY DEUTERON_LIBRARIES)
    list(APPEND libraries ${inherited})
  endforeach()
  list(REMOVE_DUPLICATES layers)
  list(REMOVE_DUPLICATES libraries)
  foreach(layer ${ARG_EXCLUDE})
    get_property(inherited TARGET dt_${layer} PROPERTY DEUTERON_LAYERS)
    list(REMOVE_ITEM layers ${inherited})
  endforeach()
  foreach(layer ${layers})
    get_target_property(kind dt_${layer} TYPE)
    if(kind STREQUAL OBJECT_LIBRARY)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:dt_${layer}>)
    endif()
  endforeach()
  if(ARG_RELEASED)
    # Tables are pointers to pointers: written as bits, what the loader adds to them takes 0.1 MiB, not 4 (glibc 2.36 reads it). What
    # the library calls of itself is its own: a loader that looks 8,000 names up takes a tenth of the start.
    target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions -Wl,--gc-sections -Wl,-z,pack-relative-relocs)
  endif()
  if(ARG_STATIC_LLVM)
    target_sources(${target} PRIVATE "${DEUTERON_UNUSED_LLVM_TARGETS}")
    # Nothing of LLVM is visible outside: another copy in the process does no harm. The archives refer to each
    # other, hence the group. Debian keeps Polly, whose plugin link-time optimisation would load, in a package of its
    # own; nothing here optimises at link time, so that its entry needs no definition.
    list(TRANSFORM libraries REPLACE "^LLVM$"
         "-Wl,--start-group;${DEUTERON_LLVM_ARCHIVES};-Wl,--end-group" OUTPUT_VARIABLE libraries)
    target_link_options(${target} PRIVATE -Wl,--defsym=_Z18getPollyPluginInfov=0
                        "-Wl,--version-script,${PROJECT_SOURCE_DIR}/cmake/hide_llvm.map")
  endif()
  target_link_libraries(${target} PRIVATE deuteron_options ${libraries} tvm_ffi::shared Threads::Threads $<TARGET_NAME_IF_EXISTS:fmt::fmt>)
endfunction()

# deuteron_bring(TARGET NAME): a library of others that is installed beside ours lies beside them in the build's folder as well, by the
# name that the loader asks for.
function(deuteron_bring target name)
  get_target_property(file ${target} LOCATION)
  get_filename_component(file "${file}" REALPATH)
  set(link "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${name}")
  file(MAKE_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  file(CREATE_LINK "${file}" "${link}" SYMBOLIC)
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(configuration ${configurations})
    set_property(TARGET ${target} PROPERTY IMPORTED_LOCATION_${configuration} "${link}")
  endforeach()
  set_property(TARGET ${target} PROPERTY IMPORTED_LOCATION "${link}")
endfunction()

# deuteron_finds_as_installed(TARGET...): what is installed finds libraries in the build's folders as it will there. (A path that CMake is to change
# as it installs ends with an empty entry meanwhile: the working folder.)
function(deuteron_finds_as_installed)
  set_target_properties(${ARGN} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# deuteron_needs_runtime_stamp(TARGET): makes a program or library that uses the runtime library by its C++ headers refuse one of others.
function(deuteron_needs_runtime_stamp target)
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src/deuteron/runtime/needs_stamp.cc")
  target_include_directories(${target} PRIVATE "${DEUTERON_STAMP_FOLDER}")
  add_dependencies(${target} deuteron_runtime_stamp)
endfunction()

# deuteron_fast_malloc(PROGRAM): replaces malloc in it, and in all that it loads. The IR is many small nodes: on a graph of a million
# operators glibc's malloc takes half of the time of a pass. Never for a library, where that is for the embedder to say.
function(deuteron_fast_malloc program)
  if(TARGET mimalloc)
    target_link_libraries(${program} PRIVATE -Wl,--no-as-needed mimalloc)
  endif()
endfunction()

# deuteron_test(NAME LAYERS ... SOURCES ... [PLUGINS ...] [FOLDER F] [SYSTEM_MALLOC] [PROPERTIES ...]): one GoogleTest program, beside what it
# tests. It may link layers that come later (the interpreter, to test a schedule): programs are made by deuteron_add_tests, after
# all layers. PLUGINS are built before it runs; FOLDER, below bin/, is where it lies; SYSTEM_MALLOC leaves it the C library's;
# PROPERTIES are those of the test.
function(deuteron_test name)
  set(sources)
  cmake_parse_arguments(ARG "SYSTEM_MALLOC" "FOLDER" "SOURCES;LAYERS;PLUGINS;PROPERTIES" ${ARGN})
  if(ARG_SYSTEM_MALLOC)
    set(system_malloc SYSTEM_MALLOC)
  endif()
  foreach(source ${ARG_SOURCES})
    list(APPEND sources "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY DEUTERON_TESTS ${name})
  set_property(GLOBAL PROPERTY DEUTERON_TEST_${name}
    ${system_malloc} SOURCES ${sources} LAYERS ${ARG_LAYERS} PLUGINS ${ARG_PLUGINS} FOLDER ${ARG_FOLDER} PROPERTIES ${ARG_PROPERTIES})
endfunction()

# The programs are many and large: this linker takes a third of the time of the usual one, and comes with it.
find_program(DEUTERON_GOLD ld.gold)

# deuteron_gtest_program(NAME): what all programs of unit tests have. They are not optimised: most of what they do they have the layers
# do, whose copies of inline functions are linked, since they come first.
function(deuteron_gtest_program name)
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE DEUTERON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(DEUTERON_UNITY AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${name} PRIVATE -O0)
  endif()
  deuteron_precompile(TESTS ${name} <gtest/gtest.h>)
  if(DEUTERON_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(${name} PRIVATE -fuse-ld=gold)
  endif()
endfunction()

function(deuteron_add_tests)
  get_property(tests GLOBAL PROPERTY DEUTERON_TESTS)
  if(NOT DEUTERON_BUILD_TESTS)
    return()
  endif()
  foreach(name ${tests})
    get_property(arguments GLOBAL PROPERTY DEUTERON_TEST_${name})
    cmake_parse_arguments(ARG "SYSTEM_MALLOC" "FOLDER" "SOURCES;LAYERS;PLUGINS;PROPERTIES" ${arguments})
    add_executable(${name} ${ARG_SOURCES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/${ARG_FOLDER}"
      UNITY_BUILD ${DEUTERON_UNITY} UNITY_BUILD_BATCH_SIZE 8)
    deuteron_link_layers(${name} LAYERS ${ARG_LAYERS})
    deuteron_gtest_program(${name})
    if(NOT ARG_SYSTEM_MALLOC)
      deuteron_fast_malloc(${name})
    endif()
    foreach(plugin ${ARG_PLUGINS})
      if(TARGET deuteron_${plugin})
        add_dependencies(${name} deuteron_${plugin})
      endif()
    endforeach()
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    if(ARG_PROPERTIES)
      set_tests_properties(${name} PROPERTIES ${ARG_PROPERTIES})
    endif()
  endforeach()
endfunction()

# deuteron_plugin(NAME SOURCES ... LIBRARIES ...): the run side of a back end, libdeuteron_NAME.so beside the runtime library. It
# links no part of that.
function(deuteron_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(deuteron_${name} SHARED ${ARG_SOURCES})
  target_link_libraries(deuteron_${name} PRIVATE deuteron_options tvm_ffi::shared ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY DEUTERON_PLUGINS deuteron_${name})
endfunction()
