# How targets are compiled, so that nobody waits for what does not matter.
#
# - What most files include of other libraries is compiled once for each group of targets. None of our own headers is in
#   it: each layer still sees only what it USES. GCC alone: Clang wants every option to be the same.
#   -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows whether each file includes what it needs.
# - Several sources are compiled as one. -DCMAKE_UNITY_BUILD=OFF compiles each alone.
# - Only what is on the data path is optimized as far as the build type says, and tests only where they race on it.

set(LANDTRACE_PRECOMPILED_producer
  <fcntl.h>
  <poll.h>
  <sched.h>
  <sys/mman.h>
  <sys/socket.h>
  <sys/stat.h>
  <sys/syscall.h>
  <sys/types.h>
  <sys/uio.h>
  <unistd.h>
  <algorithm>
  <array>
  <atomic>
  <bit>
  <cerrno>
  <charconv>
  <climits>
  <cstddef>
  <cstdint>
  <cstdio>
  <cstdlib>
  <cstring>
  <ctime>
  <memory>
  <optional>
  <span>
  <string>
  <string_view>
  <tl/expected.hpp>
  <tuple>
  <type_traits>
  <utility>
  <variant>
  <vector>
)
set(LANDTRACE_PRECOMPILED_owner ${LANDTRACE_PRECOMPILED_producer}
  <chrono>
  <condition_variable>
  <deque>
  <filesystem>
  <fmt/format.h>
  <functional>
  <map>
  <mutex>
  <set>
  <shared_mutex>
  <sstream>
  <thread>
  <unordered_map>
  <unordered_set>
)
set(LANDTRACE_PRECOMPILED_test ${LANDTRACE_PRECOMPILED_owner}
  <gmock/gmock.h>
  <gtest/gtest.h>
)
set(LANDTRACE_PRECOMPILED_unoptimized_test ${LANDTRACE_PRECOMPILED_test})

# landtrace_optimize(TARGET -On): no more than this in an optimized build. What is on the data path is left to the build type.
function(landtrace_optimize target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()

# landtrace_hot(SOURCES ...): what is done for each event, within a target that is optimized less than -O2.
function(landtrace_hot)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
endfunction()

# landtrace_unite(TARGET COUNT): compiles so many of its sources as one. Two of them cannot give the same name to different
# things, also within unnamed namespaces.
function(landtrace_unite target count)
  if(NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

# landtrace_precompile(TARGET GROUP): lets the target use the precompiled headers of its group: producer, owner, test or
# unoptimized_test.
function(landtrace_precompile target group)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  set(headers landtrace_precompiled_${group})
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${group}.cc CONTENT "// For its precompiled headers alone.\n")
    add_library(${headers} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${group}.cc)
    target_precompile_headers(${headers} PRIVATE ${LANDTRACE_PRECOMPILED_${group}})
    target_link_libraries(${headers} PRIVATE landtrace_warnings tl::expected Threads::Threads)
    if(group STREQUAL producer)
      target_link_libraries(${headers} PRIVATE landtrace_no_exceptions)
    else()
      target_link_libraries(${headers} PRIVATE fmt::fmt)
    endif()
    if(group STREQUAL unoptimized_test)
      landtrace_optimize(${headers} -O0)
    endif()
    if(group MATCHES test)
      target_link_libraries(${headers} PRIVATE GTest::gmock)
      set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    endif()
  endif()
  if(NOT group STREQUAL producer)
    # As whoever links fmt has it: with a difference in macros, the headers would not fit.
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  endif()
  # Precompiled, libstdc++'s char_traits.h loses the pragmas by which it silences these: GCC 12 sees in std::string what is
  # not there.
  target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()
