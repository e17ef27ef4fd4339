// Events as lines of text or JSON, in a style.
#pragma once

#include <bitset>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

#include "cli/lines/line_style.hpp"
#include "output/json/line.hpp"
#include "output/record.hpp"
#include "output/stack/user_stack.hpp"
#include "output/text/header.hpp"
#include "output/text/lines.hpp"

namespace landtrace::cli {

class LineWriter {
 public:
  // `style` must outlive it. `time_in_ns`: false for a clock that counts something else.
  LineWriter(const LineStyle& style, bool time_in_ns);
  // The same for another thread, which knows what this one does and uses the same symbols.
  LineWriter(const LineWriter& other);

  // For times of the wall, without which they are those of the clock.
  void set_wall_offset(std::int64_t offset_ns);
  // Of every type before its first event, and again when it has changed.
  void know(const output::EventType& type);
  // Of the fields that are wanted, those that no type has that is known.
  [[nodiscard]] std::vector<std::string> fields_nobody_has() const;
  [[nodiscard]] const std::set<std::string>& fields_there_are() const { return field_names_; }
  [[nodiscard]] output::ObjectMap& objects() { return names_.objects(); }
  [[nodiscard]] const output::TextColumns& columns() const { return columns_; }

  // `who` and `type` may be nullptr: not known.
  void event(std::string& out, const output::Record& record, const output::Task* who, const output::EventType* type);
  // The same for events of which there are millions: tasks that are the same are at the same address until
  // forget_tasks().
  void event(event::TextBuffer& out, const output::Record& record, const output::Task* who,
             const output::EventType* type);
  void forget_tasks() { text_.forget_tasks(); }
  // Of times that are since the first event, or since the one before: that event's, which another thread printed.
  void set_origin(std::uint64_t time_ns) {
    is_first_ = false;
    columns_.origin_ns = time_ns;
  }
  void lost(std::string& out, std::uint32_t cpu, std::uint64_t count);
  void lost(event::TextBuffer& out, std::uint32_t cpu, std::uint64_t count);

 private:
  [[nodiscard]] std::vector<event::Field> chosen_fields(const event::Declaration& declaration) const;
  // The type with the wanted fields alone.
  [[nodiscard]] const output::EventType* cut(const output::EventType* type) const;
  void begin(const output::Record& record);
  void put_json(std::string& out, const output::Record& record, const output::Task* who, const output::EventType* type);
  void put_context(std::string& out, const output::Record& record, const output::Task* who);
  void put_body(std::string& out, const output::Record& record, const output::EventType* type);

  const LineStyle& style_;
  output::TextColumns columns_;
  std::optional<WallClock> wall_;
  struct SharedSymbols {
    symbols::Symbols symbols;
    std::mutex mutex;
  };
  std::shared_ptr<SharedSymbols> symbols_ = std::make_shared<SharedSymbols>();
  output::StackNames names_{&symbols_->symbols, &symbols_->mutex};
  output::JsonLineWriter json_{&names_};
  output::TextLines text_{&names_};
  std::string line_;
  std::bitset<65536> has_stack_;                              // by id
  std::unordered_map<std::uint16_t, output::EventType> cut_;  // types with the wanted fields alone, by id
  std::set<std::string> field_names_;
  bool is_first_ = true;
};

}  // namespace landtrace::cli
