# Enables clang's integer sanitizer. It reports overflow, unsigned overflow included, and conversions
# that change a value. integer_sanitizer.ignore lists intended cases.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "FEMGPU_SANITIZE_INTEGERS needs clang, not ${CMAKE_CXX_COMPILER_ID}: "
          "configure a new directory with -DCMAKE_CXX_COMPILER=clang++")
endif()
target_compile_options(femgpu_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=integer
    -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/integer_sanitizer.ignore -fno-sanitize-recover=all>)
target_link_options(femgpu_options INTERFACE -fsanitize=integer)
