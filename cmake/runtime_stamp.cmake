# Writes HEADER, which names the symbol by which a runtime library is known: that of these headers (FOLDERS, below SOURCE).
set(text "")
foreach(folder ${FOLDERS})
  file(GLOB headers "${SOURCE}/${folder}/*.h")
  list(SORT headers)
  foreach(header ${headers})
    file(SHA256 "${header}" hash)
    string(APPEND text "${hash}")
  endforeach()
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING "${hash}" 0 12 hash)
file(CONFIGURE OUTPUT "${HEADER}"
     CONTENT "#define DEUTERON_RUNTIME_STAMP libdeuteron_runtime_is_of_another_build_@hash@\n" @ONLY)
