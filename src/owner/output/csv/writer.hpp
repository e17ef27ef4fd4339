// A recording as a table (RFC 4180): a row an event, a column for each field that one of the events has.
//
//   time,cpu,pid,tid,comm,event,lost,id,route[,stack]
//   12.345678901,3,1200,1234,app,user_events:job,,7,"/a,b"
//
// `time` is in seconds, or what the clock counts. Fields that an event does not have are empty. Where events are
// missing, a row has their number under `lost` ("some": it is not known) and nothing else but time and cpu.
// A stack is its functions, the outermost first, with ';' between them. Texts stand as they are but for bytes that are
// no UTF-8, which are U+FFFD; numbers that are none are inf, -inf and nan.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "output/export/exporter.hpp"
#include "output/export/frames.hpp"
#include "output/export/target.hpp"

namespace landtrace::output {

class CsvWriter : public Exporter {
 public:
  struct Options {
    bool time_in_ns = true;
    bool has_stacks = false;
  };
  CsvWriter(Target& target, const Options& options) : target_(target), options_(options) {}

  void type(const EventType& type) override;
  void object(const MappedObject& object) override { frames_.add(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void end() override;

 private:
  void begin();
  void put(std::string_view text) { put(target_.bytes(), text); }
  static void put(std::string& out, std::string_view text);
  static void put_quoted(std::string& out, std::string_view text);
  char* put_time(char* at, std::uint64_t time_ns, std::uint32_t cpu) const;
  void put_value(const event::Field& field, std::span<const std::byte> payload);
  void put_no_number(const event::Field& field, std::span<const std::byte> payload);
  const std::string& text_of_stack(const UserStack& stack);

  Target& target_;
  Options options_;
  std::map<std::uint16_t, EventType> types_;
  std::vector<std::string> columns_;
  // What is the same in all rows of a type.
  struct Row {
    std::string name;                         // SYSTEM:EVENT with its commas, as it stands in a row
    std::vector<const event::Field*> fields;  // by column; nullptr: it has no such field
    bool is_stack = false;
  };
  std::unordered_map<std::uint16_t, Row> rows_;  // by type
  Frames frames_;
  std::map<std::uint32_t, std::string> stacks_;
  std::string value_;  // kept for its room
  bool has_begun_ = false;
};

}  // namespace landtrace::output
