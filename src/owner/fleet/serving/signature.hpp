// Ed25519 signatures of orders, by OpenSSL. Keys are files as openssl(1) makes them: PEM.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace landtrace::fleet {

struct PublicKey;

// The keys that a host trusts.
class Trust {
 public:
  // A file with one public key or more, one behind the other. EINVAL with a sentence, ENOTSUP: built without OpenSSL.
  static Result<Trust> read(const std::string& file);
  Trust(Trust&& other) noexcept;
  Trust& operator=(Trust&&) = delete;
  ~Trust();

  [[nodiscard]] bool has_signed(std::string_view bytes, std::string_view signature) const;

 private:
  Trust();

  std::vector<std::unique_ptr<PublicKey>> keys_;
};

// The order with the signature of the private key in this file. EINVAL, EACCES, ENOTSUP.
Result<std::string> sign_order(const std::string& json, const std::string& key_file);

// A new key in `file`, which only its owner may read, and what hosts are given, in `file`.pub. EEXIST.
Result<void> make_key(const std::string& file);

}  // namespace landtrace::fleet
