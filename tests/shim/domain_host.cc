// A domain for tests of unmodified programs: serves at the socket that argv[1] names, and does what the lines on its
// standard input say, answering each with text and a line "." alone. With a third argument it keeps a journal.
//
//   cat user_events_status | dynamic_events | events/SYSTEM/EVENT/enable | events/SYSTEM/EVENT/format
//   put events/SYSTEM/EVENT/enable VALUE      as the kernel takes it
//   trace                                     "EVENT: fields" of all that the rings hold, oldest first
//   clear                                     from here on `trace` shows later events only
//   ls SYSTEM
//   listen PATTERN | unlisten PATTERN         as a recorder does
//   count                                     how many events the rings were written
// and, as a mount would ask it for a program that is not under the shim (a FILE is a number):
//   open                                      -> a FILE
//   ioctl FILE TID COMMAND ADDRESS            -> the system call's result or a negative errno
//   write FILE TID HEX                        -> the same
//   close FILE
//   page                                      -> a path at which the page of user_events_status can be mapped
// With 6.1 in $LANDTRACE_TEST_ABI the domain has that kernel's ways.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "domain/data_call.hpp"
#include "domain/proxy.hpp"
#include "domain/status.hpp"
#include "event/print.hpp"
#include "host/server.hpp"
#include "host/test_serving.hpp"
#include "ring/reader.hpp"
#include "rules/selection.hpp"

namespace {

using namespace landtrace;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

class Host {
 public:
  Host(domain::Domain& domain, rules::Rules& rules) : domain_(domain), rules_(rules), proxy_(domain) {}

  std::string run(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string command = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (command == "cat") return cat(rest);
    if (command == "put") return put(rest);
    if (command == "ls") return ls(rest);
    if (command == "listen" || command == "unlisten") return listen(rest, command == "listen");
    if (command == "count") return count();
    if (command == "open" || command == "ioctl" || command == "write" || command == "close") {
      return std::to_string(request(command, rest));
    }
    if (command == "page") {
      return "/proc/" + std::to_string(::getpid()) + "/fd/" +
             std::to_string(domain_.status_pages().fd(domain::Page::kBits));
    }
    if (command == "trace") return trace(false);
    if (command == "clear") return trace(true);
    return "!unknown command";
  }

 private:
  domain::Event* find(const std::string& path, std::string& file) {
    const auto parts = split(path, '/');  // events/SYSTEM/EVENT/FILE
    if (parts.size() != 4 || parts[0] != "events") return nullptr;
    file = parts[3];
    return domain_.events().find(parts[1], parts[2]);
  }

  // A FILE is the file's slot and generation in one number.
  long request(const std::string& command, const std::string& rest) {
    const domain::Identity who{::geteuid(), ::getegid()};
    if (command == "open") {
      const auto file = domain_.registrar().open_file(who.uid);
      return file ? static_cast<long>(std::uint64_t{file->generation} << 16 | file->slot) : -file.error().code;
    }
    std::istringstream words(rest);
    std::uint64_t packed = 0;
    std::uint32_t tid = 0;
    words >> packed >> tid;
    const domain::FileId file{static_cast<std::uint32_t>(packed & 0xffff), static_cast<std::uint32_t>(packed >> 16)};
    if (command == "close") {
      domain_.files().close(file);
      return 0;
    }
    if (command == "write") {
      std::string hex;
      words >> hex;
      std::string bytes;
      for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
      }
      const iovec vector{bytes.data(), bytes.size()};
      return proxy_.write(file, tid, who.uid, std::span(&vector, 1));
    }
    unsigned ioctl = 0;
    std::uint64_t argument = 0;
    words >> ioctl >> argument;
    const auto result = domain::data_request(domain_, file, tid, who, ioctl, argument);
    return result ? *result : -result.error().code;
  }

  std::string cat(const std::string& path) {
    domain_.maintain();
    if (path == "user_events_status") return domain::status_text(domain_.events(), domain_.abi());
    if (path == "dynamic_events") return domain::dynamic_events_text(domain_.events());
    std::string file;
    const domain::Event* const event = find(path, file);
    if (event == nullptr) return "-ENOENT";
    if (file == "enable") return event->listeners[0] ? "1\n" : "0\n";
    const std::uint32_t id = domain_.control().segment().events[event->slot].id;
    return event::format_text(*event->declaration(), event->name, id);
  }

  std::string put(const std::string& rest) {
    const std::size_t space = rest.find(' ');
    std::string file;
    domain::Event* const event = find(rest.substr(0, space), file);
    if (event == nullptr || file != "enable") return "-ENOENT";
    const std::string value = space == std::string::npos ? "" : rest.substr(space + 1);
    if (value != "0" && value != "1" && value != "01") return "-EINVAL";
    const auto done = domain_.listening().set(domain_.top(), {event}, value != "0");
    return done ? "ok" : "-E" + std::to_string(done.error().code);
  }

  std::string listen(const std::string& text, bool on) {
    const auto pattern = event::Pattern::parse(text);
    if (!pattern) return "-EINVAL";
    const auto done = rules_.selections().listen(domain_.top(), *pattern, on);
    return done ? "ok" : "-E" + std::to_string(done.error().code);
  }

  std::string count() {
    std::uint64_t written = 0;
    const domain::Instance& top = domain_.top();
    for (const domain::User& user : domain_.users().all()) {
      for (std::uint32_t i = 0; i < domain_.instances().rings_per_set(); ++i) {
        ring::Reader reader(user.mapping.data() + top.place.rings + i * top.place.geometry.stride(),
                            top.place.geometry);
        if (reader.written() != 0) written += reader.written();
      }
    }
    return std::to_string(written);
  }

  std::string ls(const std::string& system) {
    domain_.maintain();
    std::vector<std::string> names;
    for (const domain::Event* const event : domain_.events().all()) {
      if (event->system == system) names.push_back(event->name);
    }
    if (names.empty()) return "-ENOENT";
    names.insert(names.end(), {"enable", "filter"});
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names) text += name + "\n";
    return text;
  }

  std::string trace(bool forget) {
    std::multimap<std::uint64_t, std::string> lines;
    const domain::Instance& top = domain_.top();
    std::size_t key = 0;
    for (const domain::User& user : domain_.users().all()) {
      for (std::uint32_t i = 0; i < domain_.instances().rings_per_set(); ++i, ++key) {
        const std::byte* const ring = user.mapping.data() + top.place.rings + i * top.place.geometry.stride();
        ring::Reader reader(ring, top.place.geometry);
        if (reader.written() == 0) continue;
        read_ring(reader, seen_[key], lines, forget);
      }
    }
    std::string text;
    for (const auto& [clock, line] : lines) text += line + "\n";
    return text;
  }

  void read_ring(ring::Reader& reader, std::uint64_t& seen, std::multimap<std::uint64_t, std::string>& lines,
                 bool forget) {
    std::uint64_t number = 0;
    for (const auto* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
      for (const ring::RecordView& record : batch->records) {
        if (number++ < seen) continue;
        const domain::Event* const event = domain_.events().at(record.header.event);
        if (event == nullptr) continue;
        std::string line = event->name + ":";
        event::print_fields(line, *event->declaration(), record.payload);
        lines.emplace(record.header.clock, line);
      }
    }
    if (forget) seen = number;
  }

  domain::Domain& domain_;
  rules::Rules& rules_;
  domain::Proxy proxy_;
  std::map<std::size_t, std::uint64_t> seen_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  const char* const abi = std::getenv("LANDTRACE_TEST_ABI");
  const bool is_old = abi != nullptr && std::strcmp(abi, "6.1") == 0;
  auto domain = domain::Domain::create({.abi = is_old ? abi::Version::k6_1 : abi::Version::k6_12});
  if (!domain) return 1;
  rules::Rules rules(**domain);
  auto server = host::Server::create(**domain, rules, argv[1]);
  if (!server) {
    std::cerr << server.error().message << "\n";
    return 1;
  }
  if (argc == 3) {
    if (const auto kept =
            (*domain)->succession().keep_journal(std::string(argv[1]) + ".state", domain::Successor::kMayCome);
        !kept) {
      std::cerr << kept.error().message << "\n";
    }
  }
  std::thread serving([&] { (*server)->run(); });
  Host host(**domain, rules);
  std::cout << "ready\n" << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
    if (!host::wait_for_server(argv[1])) return 1;
    std::string answer;
    {
      const auto access = (*domain)->enter();
      answer = host.run(line);
    }
    std::cout << answer << (answer.empty() || answer.back() == '\n' ? "" : "\n") << ".\n" << std::flush;
  }
  (*server)->stop();
  serving.join();
}
