# Imported targets for the libtorch inside a PyTorch wheel: torch::wheel (torch_cpu and c10 with gloo's c10d).
# find_package(Torch) is not used: it enables CUDA whenever a toolkit is present and then fails to configure without a GPU.
include(WheelFolder)
wheel_folder(TDCONF_TORCH_ROOT torch torch)

cmake_path(GET TDCONF_TORCH_ROOT PARENT_PATH site_packages)
add_library(torch_wheel INTERFACE)
add_library(torch::wheel ALIAS torch_wheel)
foreach(library torch_cpu c10)
  add_library(torch::${library} SHARED IMPORTED)
  set_target_properties(torch::${library} PROPERTIES
    IMPORTED_LOCATION "${TDCONF_TORCH_ROOT}/lib/lib${library}.so")
  target_link_libraries(torch_wheel INTERFACE torch::${library})
endforeach()
target_include_directories(torch_wheel SYSTEM INTERFACE
  "${TDCONF_TORCH_ROOT}/include" "${TDCONF_TORCH_ROOT}/include/torch/csrc/api/include")
target_compile_definitions(torch_wheel INTERFACE USE_C10D_GLOO)
target_link_options(torch_wheel INTERFACE
  "LINKER:-rpath,${TDCONF_TORCH_ROOT}/lib"
  # libtorch_cpu needs CUDA's runtime by name; its own RPATH finds it at run time, the linker does not.
  "LINKER:-rpath-link,${site_packages}/nvidia/cu13/lib")
