// What hosts, operators and collectors send: frames, orders, statuses, labels. Each is refused, or is the same again
// when it is written and read once more.
#include <cstdlib>
#include <string>

#include "fleet/frame.hpp"
#include "fleet/memory_history.hpp"
#include "fleet/order.hpp"
#include "fleet/status.hpp"
#include "fleet/subjects.hpp"
#include "fleet/sums.hpp"
#include "fleet/where.hpp"

namespace {

using namespace landtrace;

void require(bool holds) {
  if (!holds) std::abort();
}

// A collector asks its memory, whatever became of the frames that came.
void try_memory(const fleet::Frame& head, const std::string& bytes) {
  constexpr std::size_t kLittle = 1000;
  constexpr std::uint64_t kLater_ns = 60'000'000'000;
  for (const std::size_t most_bytes : {kLittle, std::size_t{1} << 20}) {
    fleet::MemoryHistory memory(most_bytes);
    std::ignore = memory.add(fleet::subject_of(head), bytes);
    std::ignore = memory.answer({.order = head.order, .period = {0, kLater_ns, 0, true}});
    std::ignore = memory.answer({.order = head.order, .period = {0, kLater_ns, 0, true}, .per = {"host", "role"}});
    std::ignore = memory.answer({.period = {0, kLater_ns, 0, true}});
  }
}

void try_frame(const std::string& bytes) {
  const auto frame = fleet::decode_frame(bytes);
  const auto head = fleet::decode_head(bytes);
  if (head) try_memory(*head, bytes);
  if (!frame) return;
  require(head.has_value());
  const auto again = fleet::decode_frame(fleet::encode(*frame));
  require(again && *again == *frame);
  fleet::Sums sums;
  std::ignore = sums.add(fleet::subject_of(*frame), bytes);
  std::ignore = sums.of(frame->order, {"host", "role"});
}

template <typename T>
void try_json(Result<T> (*parse)(const std::string&), const std::string& text) {
  const auto one = parse(text);
  if (!one) return;
  const auto again = parse(fleet::json_of(*one));
  require(again && *again == *one);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      try_frame(text);
      break;
    case 1:
      try_json<fleet::Order>(fleet::order_of, text);
      break;
    case 2:
      try_json<fleet::Status>(fleet::status_of, text);
      break;
    default:
      if (const auto where = fleet::Where::parse(text)) std::ignore = where->matches({{"host", "a"}, {"role", "web"}});
      std::ignore = fleet::decode_frames(text);
  }
  return 0;
}
