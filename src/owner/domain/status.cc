#include "domain/status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/status_pages.hpp"

namespace landtrace::domain {
namespace {

std::uint32_t rotate(std::uint32_t value, int by) { return value << by | value >> (32 - by); }

// Bob Jenkins' lookup3 ("jhash"), public domain; the kernel keeps events in buckets by it and lists them by bucket.
std::uint32_t jenkins_hash(std::string_view key) {
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4 && at + i < key.size(); ++i) {
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(key[at + i])) << (8 * i);
    }
    return value;
  };
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(key.size());
  std::uint32_t b = a, c = a;
  std::size_t at = 0;
  for (; key.size() - at > 12; at += 12) {
    a += word(at), b += word(at + 4), c += word(at + 8);
    a -= c, a ^= rotate(c, 4), c += b;
    b -= a, b ^= rotate(a, 6), a += c;
    c -= b, c ^= rotate(b, 8), b += a;
    a -= c, a ^= rotate(c, 16), c += b;
    b -= a, b ^= rotate(a, 19), a += c;
    c -= b, c ^= rotate(b, 4), b += a;
  }
  if (at == key.size()) return c;
  a += word(at), b += word(at + 4), c += word(at + 8);
  c ^= b, c -= rotate(b, 14);
  a ^= c, a -= rotate(c, 11);
  b ^= a, b -= rotate(a, 25);
  c ^= b, c -= rotate(b, 16);
  a ^= c, a -= rotate(c, 4);
  b ^= a, b -= rotate(a, 14);
  c ^= b, c -= rotate(b, 24);
  return c;
}

std::string definition_line(const Event& event) {
  const std::string fields = fields_text(*event.declaration());
  switch (event.flavour()) {
    case event::Flavour::kSynthetic:
      return fmt::format("s:{}/{}\t{}", event.system, event.name, fields);
    case event::Flavour::kUser:
      return fmt::format("u:{}{}{}", event.registered_name(), fields.empty() ? "" : " ", fields);
    default:
      return event.text();
  }
}

// With the serials by which they are in order: a place that was added to a probe is as young as that.
std::vector<std::pair<std::uint64_t, std::string>> dynamic_event_lines(Events& events) {
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  for (const Event* const event : events.all()) {
    if (event::is_function_probe(event->flavour())) {
      for (const Event::Definition& each : event->defined->definitions) lines.emplace_back(each.serial, each.text);
    } else {
      lines.emplace_back(event->serial, definition_line(*event));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::uint32_t bucket(const Event& event) {
  constexpr std::uint32_t kGoldenRatio = 0x61c88647;
  return jenkins_hash(event.registered_name()) * kGoldenRatio >> 24;
}

}  // namespace

std::string status_text(Events& events, abi::Version abi) {
  std::vector<Event*> all = events.all();
  std::erase_if(all, [](const Event* event) { return !event->is_user_event(); });
  std::reverse(all.begin(), all.end());  // a bucket lists its newest first
  std::vector<std::pair<std::uint32_t, const Event*>> by_bucket;
  for (const Event* const event : all) by_bucket.emplace_back(bucket(*event), event);
  std::stable_sort(by_bucket.begin(), by_bucket.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  std::size_t busy = 0;
  for (const auto& [hash, event] : by_bucket) {
    if (abi == abi::Version::k6_1) text += fmt::format("{}:", event->status_bit);
    text += event->name;
    if (event->listeners.any()) {
      text += " # Used by ftrace";
      ++busy;
    }
    text += '\n';
  }
  text += fmt::format("\nActive: {}\nBusy: {}\n", all.size(), busy);
  if (abi == abi::Version::k6_1) text += fmt::format("Max: {}\n", StatusPages::kBits);
  return text;
}

std::string dynamic_events_text(Events& events) {
  std::string text;
  for (const auto& [serial, line] : dynamic_event_lines(events)) text += line + '\n';
  return text;
}

std::string synthetic_events_text(Events& events) {
  std::string text;
  for (const Event* const event : events.all()) {
    if (event->flavour() != event::Flavour::kSynthetic) continue;
    text += fmt::format("{}\t{}\n", event->name, fields_text(*event->declaration()));
  }
  return text;
}

}  // namespace landtrace::domain
