# Products and sums of sizes that overflow, also unsigned, and values that a narrower type or another
# sign cannot hold. What is meant so is in the list beside this file.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "FEMGPU_SANITIZE_INTEGERS needs clang, not ${CMAKE_CXX_COMPILER_ID}: "
          "configure a new directory with -DCMAKE_CXX_COMPILER=clang++")
endif()
target_compile_options(femgpu_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=integer
    -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/integer_sanitizer.ignore -fno-sanitize-recover=all>)
target_link_options(femgpu_options INTERFACE -fsanitize=integer)
