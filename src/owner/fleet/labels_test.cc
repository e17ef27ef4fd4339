#include "fleet/labels.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

std::string refusal_of_labels(std::string_view text) {
  const auto labels = parse_labels(text);
  return labels ? "" : labels.error().message;
}

TEST(LabelsTest, AreNamesWithValues) {
  EXPECT_EQ(*parse_labels("role=web,zone=a"), (Labels{{"role", "web"}, {"zone", "a"}}));
  EXPECT_EQ(*parse_labels("empty=,k8s.io-x=a=b"), (Labels{{"empty", ""}, {"k8s.io-x", "a=b"}}));
  EXPECT_TRUE(parse_labels("")->empty());
}

TEST(LabelsTest, WhatIsWrongIsQuoted) {
  EXPECT_EQ(refusal_of_labels("role"), "labels: want NAME=VALUE, not 'role'");
  EXPECT_EQ(refusal_of_labels("role=web,=a"), "labels: want NAME=VALUE, not '=a'");
  EXPECT_EQ(refusal_of_labels("1a=b"), "labels: want NAME=VALUE, not '1a=b'");
  EXPECT_EQ(refusal_of_labels("a b=c"), "labels: want NAME=VALUE, not 'a b=c'");
  EXPECT_EQ(refusal_of_labels("a=b,,c=d"), "labels: want NAME=VALUE, not ''");
  EXPECT_EQ(refusal_of_labels("a=b,a=c"), "labels: 'a' is there twice");
  EXPECT_EQ(refusal_of_labels("host=x"), "labels: every host has 'host' of its own");
  EXPECT_EQ(refusal_of_labels("domain=x"), "labels: every host has 'domain' of its own");
}

TEST(LabelsTest, AreWrittenAsTheyAreRead) {
  EXPECT_EQ(text_of(*parse_labels("zone=a,role=web")), "role=web,zone=a");
  EXPECT_EQ(text_of({}), "");
}

}  // namespace
}  // namespace landtrace::fleet
