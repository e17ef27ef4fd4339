#include "fleet/subjects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace landtrace::fleet {
namespace {

std::string host_subject(const std::string& domain, const std::string& host) {
  return "landtrace." + part_of_subject(domain) + "." + part_of_subject(host);
}

constexpr std::ptrdiff_t kFrameDots = 6;

// Of "a.b.c" the part with this number, from 0 on; "" behind the last one.
std::string_view part_at(std::string_view subject, int number) {
  for (; number > 0; --number) {
    const std::size_t dot = subject.find('.');
    if (dot == std::string_view::npos) return {};
    subject.remove_prefix(dot + 1);
  }
  return subject.substr(0, subject.find('.'));
}

bool is_of_histogram(std::string_view subject, std::ptrdiff_t dots) {
  constexpr int kKind = 3;
  return part_at(subject, kKind) == "hist" && std::ranges::count(subject, '.') == dots;
}

Result<void> check_names(const std::string& host, const std::string& domain, const std::string& own,
                         const std::string& subject) {
  if (host.empty() || domain.empty()) return fail(EPROTO, "a message of no host under " + subject);
  if (own != subject) return fail(EPROTO, "a message of " + own + " under " + subject);
  return {};
}

}  // namespace

std::string part_of_subject(std::string_view text) {
  std::string part;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_') {
      part += c;
    } else {
      part += fmt::format("%{:02X}", byte);
    }
  }
  return part.empty() ? "%" : part;
}

std::string inbox_of(const std::string& user) { return user.empty() ? "_INBOX" : "_INBOX." + part_of_subject(user); }

std::string subject_of(const Status& status) { return host_subject(status.domain, status.host) + ".status"; }

std::string subject_of(const Frame& frame) {
  return fmt::format("{}.hist.{}.{}.{}", host_subject(frame.domain, frame.host), part_of_subject(frame.order),
                     frame.generation, part_of_subject(frame.event));
}

std::string host_part(std::string_view subject) {
  constexpr int kHost = 2;
  return std::string(part_at(subject, kHost));
}

std::string host_in(std::string_view subject) {
  const std::string part = host_part(subject);
  std::string host;
  for (std::size_t at = 0; at < part.size(); ++at) {
    unsigned byte = 0;
    const char* const digits = part.data() + at + 1;
    const bool is_written = part[at] == '%' && part.size() - at > 2 &&
                            std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    host += is_written ? static_cast<char>(byte) : part[at];
    if (is_written) at += 2;
  }
  return host;
}

bool is_frame_subject(std::string_view subject) { return is_of_histogram(subject, kFrameDots); }

std::string part_subject(const std::string& frame_subject, std::uint64_t number) {
  return fmt::format("{}.{}", frame_subject, number);
}

std::optional<std::string> whole_of(std::string_view subject) {
  if (!is_of_histogram(subject, kFrameDots + 1)) return std::nullopt;
  return std::string(subject.substr(0, subject.rfind('.')));
}

Result<Status> status_in(const std::string& subject, const std::string& json) {
  LT_TRY(Status status, status_of(json));
  LT_CHECK(check_names(status.host, status.domain, subject_of(status), subject));
  return status;
}

Result<void> check_subject(const std::string& subject, const Frame& head) {
  return check_names(head.host, head.domain, subject_of(head), subject);
}

std::string lines_subject(const std::string& domain, const std::string& host, const std::string& order) {
  return host_subject(domain, host) + ".lines." + part_of_subject(order);
}

std::string lines_of(const std::string& order) { return "landtrace.*.*.lines." + part_of_subject(order); }

std::string snapshot_subject(const std::string& domain, const std::string& host, const std::string& order) {
  return host_subject(domain, host) + ".snapshot." + part_of_subject(order);
}

std::string snapshots_of(const std::string& order) { return "landtrace.*.*.snapshot." + part_of_subject(order) + ".*"; }

std::string clock_subject(const std::string& domain, const std::string& host, const std::string& order) {
  return host_subject(domain, host) + ".clock." + part_of_subject(order);
}

std::string clocks_of(const std::string& order) { return "landtrace.*.*.clock." + part_of_subject(order); }

std::string frames_of(const std::string& order) { return "landtrace.*.*.hist." + part_of_subject(order) + ".>"; }

}  // namespace landtrace::fleet
