// Emits an event whose fields are structs that it has described.
#include <landtrace/landtrace.hpp>

enum class Colour : std::uint8_t { kRed, kGreen };

struct Position {
  std::int32_t x;
  std::int32_t y;
};

struct Shape {
  Position corners[2];
  Colour colour;
  bool filled;
  char name[6];
  double area;
};

struct Plain {
  std::uint32_t word;
};

LANDTRACE_DESCRIBE(Position, x, y);
LANDTRACE_DESCRIBE(Shape, corners, colour, filled, name, area);

using landtrace::Event, landtrace::Field;
using Drawn =
    Event<"drawn", Field<"id", std::uint32_t>, Field<"shape", Shape>, Field<"at", Position>, Field<"plain", Plain>>;

int main() {
  Drawn::emit(7u, {{{1, -2}, {3, 4}}, Colour::kGreen, true, "box", 0.5}, {-5, 6}, {0x1234});
  return Drawn::registration() == 0 ? 0 : 1;
}
