// Of a message with events as lines those that its host may have sent.
//
//   10:31:07.123456 web-7 service-4711 request: id=8812
//   10:31:07.123460 web-7 service-4711 <user stack trace>
//    => handle+0x1f [/usr/bin/service]
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace landtrace::fleet {

struct OwnLines {
  std::string text;           // newlines included
  std::uint64_t foreign = 0;  // lines of no host, or of another one, which are not there
};
// Who may send under a subject is all that the transport checks: a line that names another host than its subject does
// is foreign. What begins as a stack's frame belongs to the line before it.
OwnLines own_lines(std::string_view subject, std::string_view message);

std::uint64_t lines_in(std::string_view text);

// Lines as a host tells them. Nobody keeps them, so each message says how many there were before it: whoever has not
// heard all of those knows that.
struct ToldLines {
  std::string subject;
  std::string lines;
  std::uint64_t before = 0;  // lines of this order at this host, told or not
};
// Where a message says that.
inline constexpr const char* kLinesBefore = "Landtrace-Lines-Before";
// The first of them, in so many bytes at most, without those that are longer; the rest stays.
ToldLines take_lines(ToldLines& told, std::size_t most_bytes);

class MissingLines {
 public:
  // How many lines there are that should have come before this message. An agent that was started anew counts anew.
  std::uint64_t before(const std::string& subject, std::uint64_t before, std::string_view message);

 private:
  std::map<std::string, std::uint64_t> heard_;  // by subject
};

}  // namespace landtrace::fleet
