#include "fleet/serving/signature.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "fleet/signed_order.hpp"

namespace landtrace::fleet {
namespace {

struct Freed {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using PKey = std::unique_ptr<EVP_PKEY, Freed>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed>;
using File = std::unique_ptr<std::FILE, Freed>;

constexpr std::size_t kSignatureBytes = 64;

const unsigned char* bytes_at(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Result<File> open_key(const std::string& file) {
  File opened(std::fopen(file.c_str(), "re"));
  if (!opened) return fail_errno(file);
  return opened;
}

bool is_ed25519(const PKey& key) { return key && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_ED25519; }

// Nobody is asked for a password.
int no_password(char*, int, int, void*) { return -1; }

Result<PKey> private_key(const std::string& file) {
  LT_TRY(const File opened, open_key(file));
  PKey key(PEM_read_PrivateKey(opened.get(), nullptr, no_password, nullptr));
  if (is_ed25519(key)) return key;
  return fail(EINVAL, file + ": want a private key of ed25519 without a password: `landtrace fleet key new FILE`");
}

Result<File> create(const std::string& file, mode_t mode) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return fail_errno(file);
  File created(::fdopen(fd, "w"));
  if (created) return created;
  ::close(fd);
  return fail_errno(file);
}

}  // namespace

struct PublicKey {
  PKey key;
};

Trust::Trust() = default;
Trust::Trust(Trust&& other) noexcept = default;
Trust::~Trust() = default;

Result<Trust> Trust::read(const std::string& file) {
  LT_TRY(const File opened, open_key(file));
  Trust trust;
  while (PKey key{PEM_read_PUBKEY(opened.get(), nullptr, no_password, nullptr)}) {
    if (!is_ed25519(key)) return fail(EINVAL, file + ": a key that is not of ed25519");
    trust.keys_.push_back(std::make_unique<PublicKey>(PublicKey{std::move(key)}));
  }
  if (!trust.keys_.empty()) return trust;
  return fail(EINVAL, file + ": there is no public key in it, as `landtrace fleet key new FILE` writes it to FILE.pub");
}

bool Trust::has_signed(std::string_view bytes, std::string_view signature) const {
  for (const auto& one : keys_) {
    const Digest digest(EVP_MD_CTX_new());
    if (!digest || EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, one->key.get()) != 1) continue;
    const int verified =
        EVP_DigestVerify(digest.get(), bytes_at(signature), signature.size(), bytes_at(bytes), bytes.size());
    if (verified == 1) return true;
  }
  return false;
}

Result<std::string> sign_order(const std::string& json, const std::string& key_file) {
  LT_TRY(const PKey key, private_key(key_file));
  LT_TRY(const std::string bytes, signed_bytes(json));
  const Digest digest(EVP_MD_CTX_new());
  std::array<unsigned char, kSignatureBytes> signature{};
  std::size_t size = signature.size();
  const bool is_signed = digest && EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
                         EVP_DigestSign(digest.get(), signature.data(), &size, bytes_at(bytes), bytes.size()) == 1;
  if (!is_signed) return fail(EINVAL, key_file + ": OpenSSL does not sign with it");
  return with_signature(json, {reinterpret_cast<const char*>(signature.data()), size});
}

Result<void> make_key(const std::string& file) {
  const PKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key) return fail(ENOTSUP, "OpenSSL makes no key of ed25519 here");
  LT_TRY(File secret, create(file, S_IRUSR | S_IWUSR));
  auto shared = create(file + ".pub", S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  bool is_written = PEM_write_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  is_written = shared && PEM_write_PUBKEY(shared->get(), key.get()) == 1 && is_written;
  is_written = std::fclose(secret.release()) == 0 && is_written;
  is_written = shared && std::fclose(shared->release()) == 0 && is_written;
  if (is_written) return {};
  const Error error = shared ? Error(EIO, file + ": it cannot be written") : shared.error();
  ::unlink(file.c_str());
  if (shared) ::unlink((file + ".pub").c_str());
  return tl::unexpected<Error>(error);
}

}  // namespace landtrace::fleet
