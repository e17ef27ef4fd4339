// An event and a payload that tests put together in a line.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "filter/evaluate.hpp"
#include "filter/test_well_formed.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::filter {

using namespace language;

struct TestEvent {
  event::Declaration declaration;
  std::uint32_t cpus = 8;
  FunctionResolver* functions = nullptr;

  explicit TestEvent(std::string_view fields) : declaration(*event::parse_declaration("e " + std::string(fields))) {}

  [[nodiscard]] FilterNames names() const { return {declaration.fields, cpus, functions}; }

  [[nodiscard]] FilterFailure failure(std::string_view expression) const {
    const auto program = compile_filter(expression, names());
    EXPECT_FALSE(program.has_value()) << expression;
    return program ? FilterFailure{} : program.error();
  }
};

template <typename... T>
std::string bytes_of(T... values) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return out;
}

inline constexpr char kTestComm[kCommSize] = "worker/3";
inline constexpr Context kTestContext{{60007, 1, 2, 4711}, 5, 4700, kTestComm};

inline bool passes(const TestEvent& event, std::string_view expression, std::string_view payload,
                   const Context& context = kTestContext) {
  const auto program = compile_filter(expression, event.names());
  EXPECT_TRUE(program.has_value()) << expression;
  if (!program) return false;
  EXPECT_TRUE(is_well_formed(program->bytes()));
  const arch::Segment segment{payload.data(), payload.size()};
  return passes(program->program(), context, &segment, 1);
}

}  // namespace landtrace::filter
