# Finds the GPUs of this machine, for which FEMGPU_CUDA=NATIVE compiles.

# Sets @p gpus to their compute capabilities, for example "80;90"; empty if nvidia-smi reports none.
function(femgpu_find_gpus gpus)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE output ERROR_QUIET RESULT_VARIABLE failed)
  set(found "")
  if(failed EQUAL 0)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${output}")
    list(TRANSFORM found REPLACE "\\." "")
    list(REMOVE_DUPLICATES found)
  endif()
  set(${gpus} "${found}" PARENT_SCOPE)
endfunction()

# Removes the GPUs from the list @p gpus that @p nvcc cannot compile for. A GPU that is newer than nvcc
# uses the PTX of the release architectures, which its driver compiles.
function(femgpu_filter_known_to nvcc gpus)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  set(kept "")
  foreach(gpu IN LISTS ${gpus})
    if(known MATCHES "compute_${gpu}\n")
      list(APPEND kept ${gpu})
    endif()
  endforeach()
  set(${gpus} "${kept}" PARENT_SCOPE)
endfunction()
