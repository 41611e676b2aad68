# Writes HEADER, which defines MACRO as the symbol by which a library is known: PREFIX, and what stands for these headers (FOLDERS, below
# SOURCE, with their subfolders).
cmake_minimum_required(VERSION 3.25)
set(text "")
foreach(folder ${FOLDERS})
  file(GLOB_RECURSE headers "${SOURCE}/${folder}/*.h")
  list(SORT headers)
  foreach(header ${headers})
    file(SHA256 "${header}" hash)
    string(APPEND text "${hash}")
  endforeach()
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING "${hash}" 0 12 hash)
file(CONFIGURE OUTPUT "${HEADER}"
     CONTENT "#define @MACRO@ @PREFIX@_@hash@\n" @ONLY)
