// What the layer above makes of events: filters, triggers and whatever else a user wants of them. The domain calls it
// where events and instances come and go; it knows no more of it. See rules/rules.hpp.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace landtrace::domain {

struct Event;
struct Instance;
struct SavedEvent;

// All of these are called by whoever holds the domain.
class EventRules {
 public:
  virtual ~EventRules() = default;

  // The event is new, and nobody can emit it yet. When this returns, every instance that selected it listens to it.
  virtual Result<void> select(Event& event) = 0;
  // Another instance listens to the event, or one listens no more; what the event does is published already.
  virtual Result<void> listeners_changed(Event& event) = 0;
  // The event goes. It is still there.
  virtual void gone(Event& event) = 0;
  // The instance is to select nothing from here on, and no event does anything in it but be recorded.
  virtual void stop(Instance& instance) = 0;
  // A program has come that has to do with the domain.
  virtual void program_came(std::uint32_t pid) = 0;
  // An event that no program registers, as an earlier owner had it: to be defined anew.
  virtual void restore(const SavedEvent& saved) = 0;
};

// For a domain without any: events are recorded by whoever listens to them, and that is all.
class NoRules final : public EventRules {
 public:
  Result<void> select(Event&) override { return {}; }
  Result<void> listeners_changed(Event&) override { return {}; }
  void gone(Event&) override {}
  void stop(Instance&) override {}
  void program_came(std::uint32_t) override {}
  void restore(const SavedEvent&) override {}
};

// The domain's rules: none until the layer above brings some.
class RulesLink {
 public:
  void set(EventRules* rules) { rules_ = rules != nullptr ? rules : &none_; }
  EventRules* operator->() const { return rules_; }

 private:
  NoRules none_;
  EventRules* rules_ = &none_;
};

}  // namespace landtrace::domain
