// What a request is carried out with, and what requests of several kinds have in common.
#pragma once

#include <array>

#include "host/server.hpp"

namespace landtrace::host {

struct Context {
  domain::Domain& domain;
  rules::Rules& rules;
  Connection& connection;
  std::uint32_t pid;
  programs::Identity who;
  const ipc::Request& request;
  std::string_view text;

  [[nodiscard]] programs::EnableBit bit() const { return {request.a, static_cast<std::uint8_t>(request.b)}; }
  [[nodiscard]] domain::FileId file() const { return {request.file_slot, request.file_generation}; }
};

template <typename T>
Response respond(const Result<T>& result) {
  if (!result) return error_response(result.error());
  Response response;
  if constexpr (!std::is_void_v<T>) response.reply.a = *result;
  return response;
}

// A recording sees the events of all users.
inline Result<void> may_consume(const Context& c) {
  if (!c.domain.registrar().is_guest(c.who.uid) || c.connection.in_group) return {};
  return fail(EPERM, "only the user who runs the domain, root and members of its group may record it");
}

// The texts of a request, each with a NUL behind it. Missing ones are empty.
template <std::size_t Count>
std::array<std::string_view, Count> texts_of(std::string_view text) {
  std::array<std::string_view, Count> parts;
  for (std::string_view& part : parts) {
    part = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

}  // namespace landtrace::host
