// A domain with rules, and events that the test writes through the owner's own place in the data plane.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "domain/proxy.hpp"
#include "ring/reader.hpp"
#include "rules/rules.hpp"

namespace landtrace::rules {

class RulesFixture : public testing::Test {
 protected:
  static constexpr std::uint32_t kUser = 1000;

  RulesFixture() : domain_(*Domain::create({.ring_bytes = 1 << 18})), proxy_(*domain_) {
    file_ = *domain_->registrar().open_file(kUser);
  }

  // An event of the file, which keeps it. The first one has the write index 0, and so on.
  Event* make(const std::string& declaration) {
    Event* const event = domain_->events().at(*domain_->registrar().register_native(declaration, 0, kUser));
    EXPECT_TRUE(domain_->files().add_event(file_, *event));
    domain_->events().drop_reference(event->slot);
    return event;
  }
  template <typename... Parts>
  ssize_t write(std::uint32_t index, Parts... parts) {
    std::string bytes(reinterpret_cast<const char*>(&index), sizeof index);
    (append(bytes, parts), ...);
    const iovec vector{bytes.data(), bytes.size()};
    return proxy_.write(file_, 7, kUser, std::span(&vector, 1));
  }
  void listen(Event* event, bool on = true) { ASSERT_TRUE(domain_->listening().set(top(), {event}, on)); }
  // 0, or the errno.
  int apply(Event* event, const std::string& text, language::HistComplaints* complaints = nullptr) {
    const auto applied = rules_.triggers().apply(top(), *event, text, complaints);
    return applied ? 0 : applied.error().error.code;
  }
  std::string triggers(const Event* event) { return rules_.triggers().text(top(), *event); }
  // The first 4 bytes of each record of the instance, in the order of their times.
  std::vector<std::uint32_t> recorded(const Instance& instance) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
    const auto& place = instance.place;
    for (const domain::User& user : domain_->users().all()) {
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const ring::RecordView& record : reader.read().records) {
          std::uint32_t n = 0;
          std::memcpy(&n, record.payload.data(), std::min(sizeof n, record.payload.size()));
          found.emplace_back(record.header.clock, n);
        }
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint32_t> numbers;
    for (const auto& [clock, n] : found) numbers.push_back(n);
    return numbers;
  }
  std::vector<std::uint32_t> recorded() { return recorded(top()); }
  Instance& top() { return domain_->top(); }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  domain::Proxy proxy_;
  domain::FileId file_;

 private:
  template <typename Number>
  static void append(std::string& bytes, Number number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  static void append(std::string& bytes, std::string text) { bytes += text; }
};

}  // namespace landtrace::rules
