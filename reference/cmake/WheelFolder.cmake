# Puts the folder of a Python package into a variable; without the package, says which wheel is missing.
function(wheel_folder variable package wheel)
  execute_process(
    COMMAND "${TDCONF_PYTHON}" -c "import importlib.util as u; print(u.find_spec('${package}').submodule_search_locations[0])"
    OUTPUT_VARIABLE folder
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "TDCONF_PYTHON=${TDCONF_PYTHON} has no ${wheel}; run ./launcher/tdconf doctor")
  endif()
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()
