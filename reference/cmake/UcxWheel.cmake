# Imported target for the UCX inside the wheel libucx-cu13: ucx::wheel (libucp and libucs).
# The copy that Python's ucxx loads: Debian's is older, and two versions of UCX do not connect to each other.
execute_process(
  COMMAND "${TDCONF_PYTHON}" -c "import importlib.util as u; print(u.find_spec('libucx').submodule_search_locations[0])"
  OUTPUT_VARIABLE TDCONF_UCX_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET
  RESULT_VARIABLE ucx_lookup_status)
if(NOT ucx_lookup_status EQUAL 0)
  message(FATAL_ERROR "TDCONF_PYTHON=${TDCONF_PYTHON} has no libucx-cu13; run ./launcher/tdconf doctor")
endif()

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
