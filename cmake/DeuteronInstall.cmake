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
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/deuteron-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/deuteron-config.cmake" "${PROJECT_BINARY_DIR}/deuteron-config-version.cmake"
        DESTINATION lib/cmake/deuteron)
