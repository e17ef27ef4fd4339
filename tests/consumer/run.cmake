# Installs BUILD into a folder of its own, then configures, builds and runs the project beside this file against it.
#   cmake -DBUILD=… -DWORK=… -DGENERATOR=… -DC=… -DCXX=… -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component development)

file(GLOB_RECURSE pc ${prefix}/*/landtrace.pc)
get_filename_component(pc_folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program by_package by_static c_by_static own_words own_words_11 by_pkg_config c_by_pkg_config)
  if(EXISTS ${WORK}/build/${program})
    run(${WORK}/build/${program})
  endif()
endforeach()
# They find their library, and say that what they are to read is not there.
foreach(program reads_by_package reads_by_pkg_config)
  if(EXISTS ${WORK}/build/${program})
    execute_process(COMMAND ${WORK}/build/${program} ${WORK}/nosuch.dat RESULT_VARIABLE status ERROR_VARIABLE said)
    if(NOT status EQUAL 1 OR NOT said MATCHES "nosuch.dat")
      message(FATAL_ERROR "${program}: ${status}: ${said}")
    endif()
  endif()
endforeach()
