#include "output/json/line.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace landtrace::output {
namespace {

using nlohmann::json;

EventType make_type(const std::string& declaration) {
  auto parsed = event::parse_declaration(declaration);
  EXPECT_TRUE(parsed) << declaration;
  std::string name = parsed->name;
  return {60000, "user_events", std::move(name), *std::move(parsed), {}};
}

std::string line(const EventType& type, std::span<const std::byte> payload) {
  std::string out;
  JsonLineWriter().append(out, {12'345'678'901, 3, 1234, 60000, payload}, nullptr, &type);
  return out;
}

template <typename T>
json fields(const std::string& declaration, const T& payload) {
  return json::parse(line(make_type(declaration), std::as_bytes(std::span(&payload, 1)))).at("fields");
}

TEST(JsonLineTest, WholeLine) {
  const Task task{"my app", 1200};
  const EventType type = make_type("job u32 id");
  const std::uint32_t id = 7;
  std::string out;
  JsonLineWriter().append(out, {12'345'678'901, 3, 1234, 60000, std::as_bytes(std::span(&id, 1))}, &task, &type);
  EXPECT_EQ(out, R"({"time":12345678901,"cpu":3,"pid":1234,"tgid":1200,"comm":"my app","system":"user_events",)"
                 R"("event":"job","fields":{"id":7}})"
                 "\n");
}

TEST(JsonLineTest, TaskWithoutTgidAndNoTask) {
  const Task task{"app", 0};
  const EventType type = make_type("job");
  std::string out;
  JsonLineWriter().append(out, {1, 0, 2, 60000, {}}, &task, &type);
  JsonLineWriter().append(out, {1, 0, 2, 60000, {}}, nullptr, &type);
  EXPECT_EQ(out, R"({"time":1,"cpu":0,"pid":2,"comm":"app","system":"user_events","event":"job","fields":{}})"
                 "\n"
                 R"({"time":1,"cpu":0,"pid":2,"system":"user_events","event":"job","fields":{}})"
                 "\n");
}

TEST(JsonLineTest, UnknownEvent) {
  const std::uint32_t payload = 0x1f0a;
  std::string out;
  JsonLineWriter().append(out, {1, 0, 2, 77, std::as_bytes(std::span(&payload, 1))}, nullptr, nullptr);
  EXPECT_EQ(out, "{\"time\":1,\"cpu\":0,\"pid\":2,\"id\":77,\"payload\":\"0a1f0000\"}\n");
}

TEST(JsonLineTest, Lost) {
  std::string out;
  append_json_lost(out, 3, 12);
  append_json_lost(out, 3, kLostUnknown);
  EXPECT_EQ(out, "{\"lost\":12,\"cpu\":3}\n{\"lost\":null,\"cpu\":3}\n");
}

TEST(JsonValueTest, IntegersKeepTheirSign) {
  struct [[gnu::packed]] {
    std::uint8_t a = 200;
    std::int8_t b = -100;
    std::uint16_t c = 60000;
    std::int16_t d = -5;
    std::uint64_t e = std::numeric_limits<std::uint64_t>::max();
    std::int64_t f = std::numeric_limits<std::int64_t>::min();
  } payload;
  EXPECT_EQ(fields("e u8 a;s8 b;u16 c;s16 d;u64 e;s64 f", payload),
            json::parse(R"({"a":200,"b":-100,"c":60000,"d":-5,"e":18446744073709551615,"f":-9223372036854775808})"));
}

TEST(JsonValueTest, RealNumbers) {
  struct [[gnu::packed]] {
    float a = 1.5f;
    double b = 0.1;
    double c = std::numeric_limits<double>::infinity();
  } payload;
  EXPECT_EQ(fields("e struct float a 4;struct double b 8;struct double c 8", payload),
            json::parse(R"({"a":1.5,"b":0.1,"c":null})"));
}

TEST(JsonValueTest, OtherStructsAreHex) {
  const std::uint32_t payload = 0x04030201;
  EXPECT_EQ(fields("e struct point p 4", payload), json::parse(R"({"p":"01020304"})"));
}

TEST(JsonValueTest, TextAndBytes) {
  struct [[gnu::packed]] {
    char a[8] = "eight";
    std::uint32_t b = 3u << 16 | 8;
    std::uint32_t c = 3u << 16 | (8 + 19);
    char b_text[3] = {'h', 'i', 0};
    std::uint8_t c_bytes[3] = {1, 2, 255};
  } payload;
  payload.b = 3u << 16 | 4;
  EXPECT_EQ(fields("e char[8] a;__rel_loc char[] b;__data_loc u8[] c", payload),
            json::parse(R"({"a":"eight","b":"hi","c":[1,2,255]})"));
}

TEST(JsonValueTest, WhatLiesOutsideThePayloadIsNull) {
  const std::uint32_t location = 200u << 16 | 100;
  EXPECT_EQ(fields("e __rel_loc char[] a;u32 b", location), json::parse(R"({"a":null,"b":null})"));
}

TEST(JsonValueTest, DataInTheCommonHeaderIsNull) {
  const std::uint32_t location = 4u << 16 | 2;
  EXPECT_EQ(fields("e __data_loc char[] a", location), json::parse(R"({"a":null})"));
}

}  // namespace
}  // namespace landtrace::output
