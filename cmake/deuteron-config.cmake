# find_package(deuteron CONFIG COMPONENTS runtime compiler): targets deuteron::runtime and deuteron::compiler; deuteron::runtime_static is the
# runtime as an archive, for programs that link no compiler.
get_filename_component(_deuteron_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET deuteron::tvm_ffi)
  add_library(deuteron::tvm_ffi SHARED IMPORTED)
  set_target_properties(deuteron::tvm_ffi PROPERTIES
    IMPORTED_LOCATION "${_deuteron_prefix}/lib/libtvm_ffi.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_deuteron_prefix}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
  add_library(deuteron::runtime SHARED IMPORTED)
  set_target_properties(deuteron::runtime PROPERTIES
    IMPORTED_LOCATION "${_deuteron_prefix}/lib/libdeuteron_runtime.so"
    INTERFACE_LINK_LIBRARIES deuteron::tvm_ffi)
  set(deuteron_runtime_FOUND TRUE)
  if(EXISTS "${_deuteron_prefix}/lib/libdeuteron_runtime.a")
    # The runtime as a part of the program. All of it: what byte code calls is found by name.
    include(CMakeFindDependencyMacro)
    find_dependency(Threads)
    add_library(deuteron::runtime_archive STATIC IMPORTED)
    set_target_properties(deuteron::runtime_archive PROPERTIES
      IMPORTED_LOCATION "${_deuteron_prefix}/lib/libdeuteron_runtime.a"
      IMPORTED_LINK_INTERFACE_LANGUAGES CXX)
    add_library(deuteron::runtime_static INTERFACE IMPORTED)
    set_target_properties(deuteron::runtime_static PROPERTIES
      INTERFACE_LINK_LIBRARIES
        "$<LINK_LIBRARY:WHOLE_ARCHIVE,deuteron::runtime_archive>;deuteron::tvm_ffi;Threads::Threads;${CMAKE_DL_LIBS}")
  endif()
  if(EXISTS "${_deuteron_prefix}/lib/libdeuteron.so")
    add_library(deuteron::compiler SHARED IMPORTED)
    set_target_properties(deuteron::compiler PROPERTIES
      IMPORTED_LOCATION "${_deuteron_prefix}/lib/libdeuteron.so"
      INTERFACE_LINK_LIBRARIES deuteron::runtime)
    set(deuteron_compiler_FOUND TRUE)
  endif()
endif()

foreach(_component ${deuteron_FIND_COMPONENTS})
  if(NOT TARGET deuteron::${_component})
    set(deuteron_FOUND FALSE)
    set(deuteron_NOT_FOUND_MESSAGE "deuteron has no component ${_component} here; it has runtime and compiler")
  endif()
endforeach()
unset(_deuteron_prefix)
