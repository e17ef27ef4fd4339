// The ring's memory as a hostile producer might leave it: the reader never leaves it, comes to an end, and its
// sums stay within what the ring claims to hold.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "ring/reader.hpp"

namespace {

using namespace landtrace::ring;

constexpr Geometry kGeometry{kMinSizeLog2};
// AddressSanitizer guards what lies around it.
alignas(64) std::byte ring[kGeometry.stride()];

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  template <typename T>
  T take() {
    T value{};
    const std::size_t n = std::min(left_, sizeof value);
    if (n > 0) std::memcpy(&value, data_, n);
    data_ += n;
    left_ -= n;
    return value;
  }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

void require(bool condition) {
  if (!condition) std::abort();
}

// A position near the tail, near a lap's end, or anything.
std::uint64_t position(Input& input, std::uint64_t tail) {
  switch (input.take<std::uint8_t>() % 4) {
    case 0:
      return tail + static_cast<std::uint64_t>(input.take<std::int16_t>()) * 8;
    case 1:
      return tail - kGeometry.size() + input.take<std::uint16_t>() * 8ull;
    case 2:
      return input.take<std::uint8_t>() * kGeometry.size() / 4 - input.take<std::uint8_t>() * 8ull;
    default:
      return input.take<std::uint64_t>();
  }
}

void scribble(Input& input) {
  auto* words = reinterpret_cast<RingWords*>(ring);
  auto* marks = reinterpret_cast<Mark*>(ring + Geometry::marks_offset());
  std::byte* data = ring + kGeometry.data_offset();
  switch (input.take<std::uint8_t>() % 5) {
    case 0:
      words->commit.position = position(input, words->commit.position);
      return;
    case 1:
      words->intent = position(input, words->commit.position);
      return;
    case 2:
      words->commit.count = input.take<std::uint16_t>();
      return;
    case 3: {  // a mark where it would be looked for
      const std::uint64_t at = position(input, words->commit.position);
      marks[(at >> kGeometry.chunk_shift()) % kGeometry.chunks()] = {at, input.take<std::uint16_t>()};
      return;
    }
    default: {  // a run of like records
      std::uint64_t at = position(input, words->commit.position) & ~7ull;
      RecordHeader header{};
      header.event = input.take<std::uint16_t>();
      header.words = input.take<std::uint16_t>();
      for (std::uint32_t i = input.take<std::uint8_t>(); i > 0; --i) {
        const std::uint64_t offset = at % kGeometry.size();
        if (offset + sizeof header <= kGeometry.size()) std::memcpy(data + offset, &header, sizeof header);
        at += record_length(header.words * 4ull);
      }
    }
  }
}

// Reads until nothing comes; whatever stands there, a lap is the most that can come.
void drain(Reader& reader, std::uint64_t& read) {
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
  for (const Reader::Batch* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
    for (const RecordView& record : batch->records) {
      require(record.payload.size() == record.header.words * 4u && record.payload.size() <= kMaxPayload);
      for (const std::byte byte : record.payload) sum += static_cast<std::uint64_t>(byte);
      bytes += record_length(record.payload.size());
    }
    read += batch->records.size();
  }
  asm volatile("" : : "r"(sum));  // every byte is looked at
  require(bytes <= kGeometry.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::memset(ring, 0, sizeof ring);
  Input input(data, size);
  const auto& words = *reinterpret_cast<RingWords*>(ring);
  for (std::uint32_t i = input.take<std::uint8_t>() % 32; i > 0; --i) scribble(input);

  std::uint64_t highest = words.commit.count;
  std::uint64_t read = 0;
  Reader reader(ring, kGeometry);
  drain(reader, read);
  require(reader.lost() <= highest);
  // The ring changes under the reader; each time no more can be lost than the ring claims to have held.
  for (std::uint64_t rounds = 1; input.left() > 0 && rounds < 64; ++rounds) {
    scribble(input);
    highest = std::max(highest, words.commit.count);
    drain(reader, read);
    require(reader.lost() <= highest * (rounds + 1));
  }
  Reader late(ring, kGeometry);
  drain(late, read);
  require(late.lost() <= words.commit.count);
  return 0;
}
