# What the wheel of the Python package holds beside its sources (pyproject.toml): libraries, oneDNN and the command. tvm-ffi is a
# package of its own there, so that a process has one.
install(TARGETS deuteron_runtime deuteron deuteron_llvm deuteron_command deuteron_command_library
        LIBRARY DESTINATION deuteron/lib COMPONENT python EXCLUDE_FROM_ALL
        RUNTIME DESTINATION deuteron/bin COMPONENT python EXCLUDE_FROM_ALL)
if(TARGET deuteron_dnnl)
  install(TARGETS deuteron_dnnl LIBRARY DESTINATION deuteron/lib COMPONENT python EXCLUDE_FROM_ALL)
  install(FILES "${dnnl_library}" DESTINATION deuteron/lib RENAME libdnnl.so.3 COMPONENT python EXCLUDE_FROM_ALL)
endif()
