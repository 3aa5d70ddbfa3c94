// SHA-256 (FIPS 180-4).
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace suffice::replay {

// The first 32 bits of the fractions of the square or cube roots of the first primes.
template <std::size_t count>
std::array<std::uint32_t, count> fractions_of_roots(int degree) {
  std::array<std::uint32_t, count> found{};
  std::size_t many = 0;
  for (unsigned prime = 2; many < count; ++prime) {
    bool divisible = false;
    for (unsigned q = 2; q * q <= prime; ++q) divisible |= prime % q == 0;
    if (divisible) continue;
    // The largest r with r^degree <= prime · 2^(32 · degree), bit by bit.
    __extension__ typedef unsigned __int128 Wide;
    std::uint64_t root = 0;
    for (int bit = 36; bit >= 0; --bit) {
      const Wide r = root | std::uint64_t{1} << bit;
      const bool fits = degree == 2 ? r * r <= static_cast<Wide>(prime) << 64
                                    : r * r <= (static_cast<Wide>(prime) << 96) / r;
      if (fits) root = static_cast<std::uint64_t>(r);
    }
    found[many++] = static_cast<std::uint32_t>(root);
  }
  return found;
}

inline std::array<unsigned char, 32> sha256(std::vector<unsigned char> message) {
  static const auto constants = fractions_of_roots<64>(3);
  auto state = fractions_of_roots<8>(2);
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(message.size());
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  for (int byte = 7; byte >= 0; --byte)
    message.push_back(static_cast<unsigned char>(bits >> (8 * byte)));

  for (std::size_t block = 0; block < message.size(); block += 64) {
    std::uint32_t w[64];
    for (int i = 0; i < 16; ++i) {
      const unsigned char* at = &message[block + 4 * i];
      w[i] = std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
             std::uint32_t{at[3]};
    }
    for (int i = 16; i < 64; ++i) {
      const std::uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                  ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const std::uint32_t second =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first;
      d = c, c = b, b = a, a = first + second;
    }
    const std::uint32_t added[] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += added[i];
  }
  std::array<unsigned char, 32> digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

}  // namespace suffice::replay
