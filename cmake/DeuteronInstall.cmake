# A relocatable package: libraries, headers, tvm-ffi beside them, and a hand-written config file that finds
# everything relative to itself.
include(GNUInstallDirs)
install(TARGETS deuteron_runtime LIBRARY DESTINATION lib COMPONENT runtime)
install(TARGETS deuteron deuteron_command LIBRARY DESTINATION lib RUNTIME DESTINATION bin COMPONENT compiler)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/deuteron" DESTINATION include FILES_MATCHING PATTERN "*.h")
foreach(directory ${tvm_ffi_INCLUDE_DIR} ${tvm_ffi_DLPACK_INCLUDE_DIR})
  install(DIRECTORY "${directory}/" DESTINATION include)
endforeach()
install(FILES ${tvm_ffi_LIB_FILES} DESTINATION lib)
# The plugins, and oneDNN beside them.
get_property(DEUTERON_PLUGINS GLOBAL PROPERTY DEUTERON_PLUGINS)
if(DEUTERON_PLUGINS)
  install(TARGETS ${DEUTERON_PLUGINS} LIBRARY DESTINATION lib COMPONENT runtime)
endif()
if(dnnl_FOUND)
  get_target_property(dnnl_library DNNL::dnnl LOCATION)
  get_filename_component(dnnl_library "${dnnl_library}" REALPATH)
  install(FILES "${dnnl_library}" DESTINATION lib RENAME libdnnl.so.3 COMPONENT runtime)
endif()
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/deuteron-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/deuteron-config.cmake" "${PROJECT_BINARY_DIR}/deuteron-config-version.cmake"
        DESTINATION lib/cmake/deuteron)
