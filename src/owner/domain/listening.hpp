// Which instance listens to which event, and in which way.
#pragma once

#include <set>

#include "domain/enable_words.hpp"
#include "domain/plans.hpp"

namespace landtrace::domain {

class Listening {
 public:
  Listening(Plans& plans, Events& events, Cells& cells, Grace& grace, EnableWords& enable_words, StatusPages& pages,
            RulesLink& rules)
      : plans_(plans),
        events_(events),
        cells_(cells),
        grace_(grace),
        enable_words_(enable_words),
        pages_(pages),
        rules_(rules) {}

  // While there is one, enable words stay as they are, and all have their new values when the last one goes: to look
  // through everybody's words takes milliseconds, whether for one event or for many. Nobody is to be answered
  // meanwhile.
  class Batch {
   public:
    explicit Batch(Listening& listening) : listening_(listening) { ++listening_.batches_; }
    ~Batch() {
      if (--listening_.batches_ == 0) listening_.show_pending();
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    Listening& listening_;
  };

  // The instance listens to the events, or does so no more. Every enable word and status page has its new value when
  // this returns. ENOSPC.
  Result<void> set(Instance& instance, const std::vector<Event*>& events, bool on);

  // Soft mode: the event is enabled for its triggers or for those that switch it, and stays as recorded as it was. What
  // was enabled by this alone is off when the last one lets go, unless a trigger has switched it on.
  Result<void> hold_soft(Instance& instance, Event& event);
  void release_soft(Instance& instance, Event& event);

  // Whether the instance records the event: what its `enable` file says.
  [[nodiscard]] bool is_recorded(const Instance& instance, const Event& event) const;

  // The instance listens to nothing any more, and its rules are gone.
  void stop(Instance& instance);

 private:
  void take_back(Instance& instance, Event& event);
  // Whoever looks at whether these events have listeners finds out: enable words, status pages.
  void show(const std::vector<Event*>& events);
  void show_pending();

  Plans& plans_;
  Events& events_;
  Cells& cells_;
  Grace& grace_;
  EnableWords& enable_words_;
  StatusPages& pages_;
  RulesLink& rules_;
  std::size_t batches_ = 0;
  std::set<std::uint32_t> pending_;  // slots of events whose words are to be brought up to date
};

// Stops the instance and waits (bounded) until no producer writes to it.
void quiesce(Instance& instance, Listening& listening, Grace& grace);
// Stops the instance and destroys it. The top one stays.
void destroy_instance(std::uint32_t index, Listening& listening, Instances& instances);

}  // namespace landtrace::domain
