# Installs femgpu as a library: libfemgpu (linalg and expressions) and libfemgpu_mpi, their public
# headers, the CMake package femgpu with the targets femgpu::linalg, femgpu::mpi and femgpu::dealii, and
# files for pkg-config. Components of the installation: programs, libraries, development.
include(CMakePackageConfigHelpers)

option(BUILD_SHARED_LIBS "Build libfemgpu and libfemgpu_mpi as shared libraries" ON)

# Headers for users. The headers that they include are installed, too.
set(femgpu_public_headers
  linalg/base/error.h
  linalg/base/host_matrix.h
  linalg/c/femgpu.h
  linalg/execution/make_executor.h
  linalg/linear_solver.h
  linalg/operators/communicator.h
  linalg/operators/linear_operator.h
  linalg/operators/matrix.h
  linalg/operators/vector.h
  linalg/solvers/report.h)
set(femgpu_public_mpi_headers
  linalg/mpi/communicators.h
  linalg/mpi/distributed_linear_solver.h
  linalg/mpi/distribution.h
  linalg/mpi/rank_executor.h)
set(femgpu_public_dealii_headers
  linalg/dealii/rigid_body_modes.h
  linalg/dealii/solvers.h)

# Adds the installed library @p name, for which the package defines femgpu::COMPONENT, from the objects
# of static libraries.
function(femgpu_add_installed_library name component)
  set(objects ${ARGN})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name}_library ${objects})
  set_target_properties(${name}_library PROPERTIES
    OUTPUT_NAME ${name}
    EXPORT_NAME ${component}
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
    INSTALL_RPATH "$ORIGIN"
    INSTALL_RPATH_USE_LINK_PATH ON)
  target_compile_features(${name}_library INTERFACE cxx_std_17)
  target_include_directories(${name}_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${name}_library EXPORT femgpu_${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT femgpu_${component} NAMESPACE femgpu:: FILE femgpu-${component}.cmake
    DESTINATION ${femgpu_package_directory} COMPONENT development)
endfunction()

find_package(Threads REQUIRED)
find_package(LAPACK REQUIRED)
set(femgpu_package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/femgpu)
femgpu_add_installed_library(femgpu linalg femgpu_linalg femgpu_expressions)
target_link_libraries(femgpu_library PRIVATE Threads::Threads LAPACK::LAPACK ${CMAKE_DL_LIBS})
set(femgpu_pc_private "-llapack -lblas -lpthread -ldl")
if(FEMGPU_HAVE_UMFPACK)
  target_link_libraries(femgpu_library PRIVATE ${UMFPACK_LIBRARY})
  string(PREPEND femgpu_pc_private "-lumfpack ")
endif()
if(FEMGPU_HAVE_METIS)
  target_link_libraries(femgpu_library PRIVATE ${METIS_LIBRARY})
  string(PREPEND femgpu_pc_private "-lmetis ")
endif()
if(FEMGPU_HAVE_CUDA)
  target_link_libraries(femgpu_library PRIVATE CUDA::cudart_static CUDA::cusparse)
endif()
if(FEMGPU_HAVE_VECTOR_FUNCTIONS)
  target_link_libraries(femgpu_library PRIVATE m)
endif()
if(TARGET femgpu_mpi)
  find_package(MPI REQUIRED COMPONENTS CXX)
  femgpu_add_installed_library(femgpu_mpi mpi femgpu_mpi)
  target_link_libraries(femgpu_mpi_library PUBLIC femgpu_library MPI::MPI_CXX)
  target_compile_definitions(femgpu_mpi_library INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
else()
  set(femgpu_public_mpi_headers "")
  set(femgpu_public_dealii_headers "")
endif()

configure_package_config_file(cmake/femgpu-config.cmake.in generated/femgpu-config.cmake
                              INSTALL_DESTINATION ${femgpu_package_directory})
write_basic_package_version_file(generated/femgpu-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/femgpu-config.cmake
              ${CMAKE_BINARY_DIR}/generated/femgpu-config-version.cmake
        DESTINATION ${femgpu_package_directory} COMPONENT development)

# The prefix is relative to the .pc file, so that the installation can be moved.
file(RELATIVE_PATH femgpu_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
foreach(name femgpu femgpu_mpi)
  if(NOT TARGET ${name}_library)
    continue()
  endif()
  configure_file(cmake/${name}.pc.in generated/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/generated/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

install(CODE "set(source \"${PROJECT_SOURCE_DIR}\")
set(staging \"${CMAKE_BINARY_DIR}/generated/include\")
set(destination \"${CMAKE_INSTALL_INCLUDEDIR}\")
set(headers_of_femgpu.h linalg/c/femgpu.h)
set(headers_of_femgpu.hpp ${femgpu_public_headers})
set(headers_of_mpi.h ${femgpu_public_mpi_headers})
set(headers_of_dealii.h ${femgpu_public_dealii_headers})"
        COMPONENT development)
install(SCRIPT cmake/install_headers.cmake COMPONENT development)
