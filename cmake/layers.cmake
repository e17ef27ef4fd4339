# One target per layer, and the include path as its fence.
#
# A layer's headers are reachable only through its own target: `#include "ring/writer.hpp"` compiles only
# in a target that links landtrace_ring (directly or through a layer below it in src/README.md's list).
# That works because each layer gets an include root of its own, holding one symbolic link to its folder.

# For what runs in the middle of any function of any program: no vector registers, and no calls of memcpy() or memset() that
# a compiler makes of loops. (Clang cannot read the standard library's headers where long double is forbidden, too.)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(LANDTRACE_NO_VECTORS -mgeneral-regs-only)
  set(LANDTRACE_LOOPS_STAY_LOOPS -fno-tree-loop-distribute-patterns)
else()
  set(LANDTRACE_NO_VECTORS -mno-sse -mno-mmx)
  set(LANDTRACE_LOOPS_STAY_LOOPS -fno-builtin)
endif()

add_library(landtrace_warnings INTERFACE)
target_compile_options(landtrace_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Werror
  $<$<CXX_COMPILER_ID:Clang>:-Wno-gnu-zero-variadic-macro-arguments>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-overlength-strings>
  # GCC 12 sees overlaps in std::string operations that are not there (bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(LANDTRACE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 takes parameters for uninitialized there.
  target_compile_options(landtrace_warnings INTERFACE -Wno-maybe-uninitialized)
endif()

add_library(landtrace_no_exceptions INTERFACE)
target_compile_options(landtrace_no_exceptions INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>
  # A unique symbol, as libstdc++'s inline functions have for their tables, would keep a plugin from being unloaded.
  $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)

include(${CMAKE_CURRENT_LIST_DIR}/compile_time.cmake)

# landtrace_layer(NAME SOURCES a.cc ... USES other layers and libraries ...)
#
# A layer of the group `producer` runs inside other people's programs: it is built without exceptions and RTTI, and may use
# only layers of that group. The group is the folder (src/CMakeLists.txt).
function(landtrace_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${folder} SYMBOLIC)
  set_property(GLOBAL PROPERTY LANDTRACE_GROUP_OF_${name} ${LANDTRACE_GROUP})
  if(ARG_SOURCES)
    add_library(landtrace_${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(landtrace_${name} PRIVATE landtrace_warnings)
    set_target_properties(landtrace_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    if(LANDTRACE_GROUP STREQUAL producer)
      target_link_libraries(landtrace_${name} PRIVATE landtrace_no_exceptions)
      set_property(GLOBAL APPEND PROPERTY LANDTRACE_PRODUCER_OBJECTS $<TARGET_OBJECTS:landtrace_${name}>)
    else()
      # What the command line does is done once, or is done by the layers below it.
      if(folder STREQUAL cli)
        landtrace_optimize(landtrace_${name} -O1)
      else()
        landtrace_optimize(landtrace_${name} -O2)
      endif()
      landtrace_unite(landtrace_${name} 12)
    endif()
    landtrace_precompile(landtrace_${name} ${LANDTRACE_GROUP})
  else()
    add_library(landtrace_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(landtrace_${name} ${scope} ${root})
  foreach(use ${ARG_USES})
    if(NOT TARGET landtrace_${use})
      target_link_libraries(landtrace_${name} ${scope} ${use})
      continue()
    endif()
    get_property(group GLOBAL PROPERTY LANDTRACE_GROUP_OF_${use})
    if(LANDTRACE_GROUP STREQUAL producer AND NOT group STREQUAL producer)
      message(FATAL_ERROR "${name} runs in programs and cannot use ${use}, which is the owner's")
    endif()
    target_link_libraries(landtrace_${name} ${scope} landtrace_${use})
  endforeach()
endfunction()

# landtrace_test(NAME SOURCES ... USES ...): one GoogleTest program, registered with CTest case by case.
function(landtrace_test name)
  if(NOT LANDTRACE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  foreach(use ${ARG_USES})
    if(TARGET landtrace_${use})
      target_link_libraries(${name} PRIVATE landtrace_${use})
    else()
      target_link_libraries(${name} PRIVATE ${use})
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE landtrace_warnings GTest::gmock GTest::gtest_main)
  landtrace_unite(${name} 6)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as the precompiled headers
  # What tests themselves do takes no time, but where they race with each other on rings and tables.
  if(LANDTRACE_GROUP STREQUAL producer)
    landtrace_optimize(${name} -O1)
    landtrace_precompile(${name} test)
  else()
    landtrace_optimize(${name} -O0)
    landtrace_precompile(${name} unoptimized_test)
  endif()
  # What is in a layer's folder is its tests: `./dev test LAYER` builds the target and runs the label.
  get_filename_component(layer ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  if(NOT TARGET tests_of_${layer})
    add_custom_target(tests_of_${layer})
  endif()
  add_dependencies(tests_of_${layer} ${name})
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 300 LABELS ${layer})
endfunction()
