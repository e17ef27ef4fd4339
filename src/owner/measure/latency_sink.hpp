// The records of two events, brought into the order of time and paired.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/pairs.hpp"
#include "consumer/sink.hpp"
#include "output/stack/user_stack.hpp"

namespace landtrace::measure {

// A field of an event as a key.
class KeyField {
 public:
  // A field of the payload, common_pid or common_cpu. EINVAL for another name.
  static Result<KeyField> find(const output::EventType& type, const std::string& name);

  [[nodiscard]] const ipc::HistogramKey& key() const { return key_; }
  [[nodiscard]] ipc::HistogramKeyValue value(const output::Record& record) const;

 private:
  enum class Source : std::uint8_t { kPayload, kThread, kCpu };

  Source source_ = Source::kPayload;
  event::Field field_;
  ipc::HistogramKey key_;
};

class LatencySink : public consumer::Sink {
 public:
  struct Request {
    std::string from;  // SYSTEM:EVENT
    std::string to;
    std::vector<std::string> from_key;
    std::vector<std::string> to_key;
    std::vector<std::string> by;  // fields of `to`
  };
  LatencySink(Request request, Pairs::Limits limits);

  void type(const output::EventType& type) override;
  void task(std::int32_t /*tid*/, const output::Task& /*task*/) override {}
  void event(const output::Record& record, const output::EventType& type) override;
  void lost(std::uint32_t /*cpu*/, std::uint64_t /*count*/) override {}
  void settled(std::uint64_t horizon_ns) override;

  // EINVAL: an event has registered that does not have the fields.
  [[nodiscard]] const Result<void>& fits() const { return fits_; }
  // That event.
  [[nodiscard]] const std::optional<output::EventType>& misfit() const { return misfit_; }
  [[nodiscard]] const Pairs& pairs() const { return pairs_; }
  [[nodiscard]] ipc::HistogramTable table(const std::string& name) const { return pairs_.table(by_, name); }

 protected:
  // An end that has found its start.
  struct Paired {
    std::uint64_t ns = 0;  // how long it took
    std::uint64_t time_ns = 0;
    std::int32_t tid = 0;
    std::uint16_t event_id = 0;
    std::vector<std::byte> payload = {};
    std::vector<ipc::HistogramKeyValue> by = {};
    std::optional<output::UserStack> stack = {};
  };
  enum class Kept : std::uint8_t { kNothing, kEvents, kStacks };
  // What paired() is to have: it is called for each pair then, in the order of time. A stack comes behind its event, so
  // that with stacks pairs are told of a little later.
  void keep(Kept kept) { kept_ = kept; }
  virtual void paired(Paired /*end*/) {}

 private:
  // What an event is for. One event may be both.
  struct Part {
    std::optional<std::vector<KeyField>> start;
    std::optional<std::vector<KeyField>> end;
    std::vector<KeyField> by;
  };
  struct Seen {
    std::uint64_t time_ns;
    std::optional<std::string> start;  // its key
    std::optional<std::string> end;
    std::vector<ipc::HistogramKeyValue> by;
    std::unique_ptr<Paired> kept = {};  // of an end, if that is wanted
  };
  void take_stack(const output::Record& record);
  Result<Part> part_of(const output::EventType& type);
  Result<void> use_keys_of(const std::vector<KeyField>& by);
  void pair(Seen& seen);

  Request request_;
  std::map<std::uint16_t, Part> parts_;  // by the event's id
  std::vector<ipc::HistogramKey> by_;
  bool knows_by_ = false;
  std::vector<Seen> waiting_;  // for older ones of other CPUs
  Kept kept_ = Kept::kNothing;
  Pairs pairs_;
  Result<void> fits_;
  std::optional<output::EventType> misfit_;
};

}  // namespace landtrace::measure
