// What a thread of a program runs for us, once, before it goes on where it was: it has pthread_create() make a thread,
// and that one loads the agent. So no lock that the first thread holds can be in the way of the loader.
//
//   the end of an executable segment, up to its page's: nothing is there
//     +------+------------+-------+---------+
//     | code | parameters | agent | socket  |        written before any thread is stopped
//     +------+------------+-------+---------+
//
//   block, mapped by the code at an address that we have chosen
//     +----------------------+---------------------+------------------+
//     | DetourBlock          | the vector registers| stack            |
//     +----------------------+---------------------+------------------+
//
// From the moment in which its instruction pointer leads here the thread needs nobody any more: it saves all its
// registers by itself and restores them. Whoever attaches may be killed at any time.
#pragma once

#include <cstdint>
#include <string>

namespace landtrace::attach {

enum class DetourState : std::uint32_t {
  kUnderWay,
  kNotLoaded,  // `text` has the loader's reason
  kStarted,    // `result` is what the agent's beginning has returned: 0, or an errno
};

struct DetourBlock {
  DetourState state;
  std::int32_t created;        // what pthread_create() has returned
  std::uint32_t is_left;       // the thread that made the other one is through
  std::uint32_t acknowledged;  // by us: the block may be unmapped
  std::int32_t result;
  std::uint32_t reserved;
  std::uint64_t thread;
  char text[1024];
};
static_assert(sizeof(DetourBlock) == 1056);

inline constexpr std::uint64_t kBlockBytes = 128 << 10;

// Of the program's libc, in the program.
struct LibcFunctions {
  std::uint64_t pthread_create = 0;
  std::uint64_t pthread_detach = 0;
  std::uint64_t dlopen = 0;
  std::uint64_t dlsym = 0;
  std::uint64_t dlerror = 0;
  std::uint64_t errno_location = 0;
};

struct DetourPlan {
  LibcFunctions libc;
  std::uint64_t block = 0;
  std::string agent;
  std::string socket;
};

// Bytes that begin with what tells them from other code, see is_detour().
std::string make_detour(const DetourPlan& plan);
// From the beginning of those bytes: where the thread is sent, and where 8 bytes have the address where it goes on.
std::uint64_t detour_entry();
std::uint64_t detour_way_back();
// Whether these are of an earlier attempt.
bool is_detour(const std::string& begin);

}  // namespace landtrace::attach
