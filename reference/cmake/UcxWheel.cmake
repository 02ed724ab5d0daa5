# Imported target for the UCX inside the wheel libucx-cu13: ucx::wheel (libucp and libucs).
# The copy that Python's ucxx loads: Debian's is older, and two versions of UCX do not connect to each other.
include(WheelFolder)
wheel_folder(TDCONF_UCX_ROOT libucx libucx-cu13)

add_library(ucx_wheel INTERFACE)
add_library(ucx::wheel ALIAS ucx_wheel)
foreach(library ucp ucs)
  add_library(ucx::${library} SHARED IMPORTED)
  set_target_properties(ucx::${library} PROPERTIES
    IMPORTED_LOCATION "${TDCONF_UCX_ROOT}/lib/lib${library}.so.0")
  target_link_libraries(ucx_wheel INTERFACE ucx::${library})
endforeach()
target_include_directories(ucx_wheel SYSTEM INTERFACE "${TDCONF_UCX_ROOT}/include")
target_link_options(ucx_wheel INTERFACE
  "LINKER:-rpath,${TDCONF_UCX_ROOT}/lib"
  # libucp needs libuct and libucm, which its own RPATH finds at run time and the linker does not.
  "LINKER:-rpath-link,${TDCONF_UCX_ROOT}/lib")
