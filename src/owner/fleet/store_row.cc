#include "fleet/store_row.hpp"

#include <unordered_map>

#include "fleet/row_binary.hpp"
#include "fleet/row_key.hpp"

namespace landtrace::fleet {
namespace {

// Rows by the text of their keys.
class Columns {
 public:
  explicit Columns(const ipc::HistogramTable& table) : sums_(table.values.size()) {
    for (const ipc::HistogramRow& row : table.rows) add(table, row);
  }

  void write(RowWriter& writer) const {
    writer.texts(names_);
    write(writer, steps_);
    write(writer, hits_);
    writer.size(sums_.size());
    for (const Lists& sums : sums_) write(writer, sums);
  }

 private:
  using Lists = std::vector<std::vector<std::uint64_t>>;

  static void write(RowWriter& writer, const Lists& lists) {
    writer.size(lists.size());
    for (const std::vector<std::uint64_t>& list : lists) writer.numbers(list);
  }

  void add(const ipc::HistogramTable& table, const ipc::HistogramRow& row) {
    const auto [known, is_new] = places_.try_emplace(key_text(table, row), names_.size());
    if (is_new) {
      names_.push_back(known->first);
      steps_.emplace_back();
      hits_.emplace_back();
      for (Lists& sums : sums_) sums.emplace_back();
    }
    const std::size_t place = known->second;
    steps_[place].push_back(step_of(table, row));
    hits_[place].push_back(row.hits);
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i][place].push_back(row.values[i]);
  }

  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> names_;
  Lists steps_;
  Lists hits_;
  std::vector<Lists> sums_;
};

}  // namespace

void append_row(std::string& out, const Frame& frame, std::uint32_t stored_s) {
  RowWriter writer(out);
  writer.number(kSchema);
  writer.number(stored_s);
  writer.text(frame.order);
  writer.text(frame.event);
  writer.number(frame.time_ns);
  for (const std::string* text : {&frame.host, &frame.domain, &frame.boot}) writer.text(*text);
  writer.number(frame.generation);
  writer.number(frame.sequence);
  writer.number(static_cast<std::uint8_t>(frame.is_last ? 1 : 0));
  writer.text(frame.labels);
  writer.text(shape_bytes(frame.table));
  for (const std::uint64_t number : {frame.table.hits, frame.table.dropped, frame.unpaired.starts, frame.unpaired.ends,
                                     frame.unpaired.lost}) {
    writer.number(number);
  }
  Columns(frame.table).write(writer);
}

std::string shape_bytes(const ipc::HistogramTable& table) {
  Frame frame;
  frame.table.trigger = table.trigger;
  frame.table.keys = table.keys;
  frame.table.values = table.values;
  return encode(frame);
}

Result<ipc::HistogramTable> shape_of_bytes(std::string_view bytes) {
  LT_TRY(Frame frame, decode_frame(bytes));
  return std::move(frame.table);
}

}  // namespace landtrace::fleet
