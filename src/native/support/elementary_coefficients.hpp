// Written by elementary_coefficients.py, which says where each number comes from.
#pragma once

// clang-format off
namespace suffice {

constexpr double PER_LN2 = 0x1.71547652b82fep0;  // 1 / log 2
constexpr double LN2_HIGH = 0x1.62e42fefa3000p-1;  // log 2, cut after 41 bits, and the rest
constexpr double LN2_LOW = 0x1.3de6af278ece6p-42;
constexpr double LGAMMA_SLOPE = 0x1.b0ee6072093cep-2;  // a = 1 − γ, a pair
constexpr double LGAMMA_SLOPE_LOW = 0x1.6cb90701fbfabp-58;
constexpr double LGAMMA_BEND = 0x1.4a34cc4a60fa6p-2;  // b = π²/12 − ½, a pair
constexpr double LGAMMA_BEND_LOW = 0x1.1873d8912200cp-56;
constexpr double LGAMMA_CONSTANT = 0x1.acfe390c97d69p-2;  // ½(log 2π − 1), a pair
constexpr double LGAMMA_CONSTANT_LOW = 0x1.3494bc9001442p-56;
constexpr double LGAMMA_LAST = 0x1.754d9278b51a7p1014;  // log Γ of what is larger is no double
constexpr double DIGAMMA_ROOT = 0x1.d8b618d5af8fep-2;  // z₀ with ψ(1 + z₀) = 0, a pair
constexpr double DIGAMMA_ROOT_LOW = -0x1.1e563779a1f5bp-56;
constexpr double DIGAMMA_SLOPE = 0x1.e6f0cbb873616p-1;  // g = ψ(3/2) / (½ − z₀), a pair
constexpr double DIGAMMA_SLOPE_LOW = 0x1.8f70c7a125e6ap-55;

// (eʳ − 1 − r) / r², abs(r) ≤ ½ log 2, from the constant on.
constexpr double EXP[] = {
    0x1.0p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
    0x1.11111111100dfp-7, 0x1.6c16c16c162d6p-10, 0x1.a01a01abe62ddp-13,
    0x1.a01a01a6d7808p-16, 0x1.71de02375656cp-19, 0x1.27e4db67b4303p-22,
    0x1.af4ddd84882fep-26, 0x1.1f72fc730b4ffp-29,
};

// (2 artanh s − 2s) / s³ in s², s² ≤ 0.0295, from the constant on.
constexpr double LOG[] = {
    0x1.5555555555555p-1, 0x1.9999999999998p-2, 0x1.249249249295ap-2,
    0x1.c71c71c64c724p-3, 0x1.745d17d35ee66p-3, 0x1.3b137b318ca2ep-3,
    0x1.111d27a88c8fep-3, 0x1.debecba11d219p-4, 0x1.e6b04843b892ap-4,
};

// (log Γ(2 + z) − az − bz²) / z³, −⅝ ≤ z ≤ ½, from the constant on.
constexpr double LGAMMA[] = {
    -0x1.13e001a557607p-4, 0x1.51322ac7d8484p-6, -0x1.e404fc218f5dbp-8,
    0x1.7add6eadb6a01p-9, -0x1.38ac5c2bfb67bp-10, 0x1.0b36af865ea63p-11,
    -0x1.d3fd4c732c6b6p-13, 0x1.a127b0cdfe940p-14, -0x1.78de5d36427dcp-15,
    0x1.580dd7ec0e270p-16, -0x1.3cbc491f044d4p-17, 0x1.259651f32667ep-18,
    -0x1.11bd73ffbcbc8p-19, 0x1.00819bd02337dp-20, -0x1.e08fc2a7e89a1p-22,
    0x1.c4b834fbac6c5p-23, -0x1.c7f96cb208548p-24, 0x1.a7467fc725b2ep-25,
    -0x1.900548caa25b2p-27, 0x1.8ce09d1320e1ap-27, -0x1.00c00e07dee9ap-26,
};

// x (log Γ(x) − (x − ½)(log x − 1) − ½(log 2π − 1)) in 1/x², x ≥ 8.5, from the constant on.
constexpr double LGAMMA_SERIES[] = {
    0x1.5555555555555p-4, -0x1.6c16c16c15b05p-9, 0x1.a01a018cc57fcp-11,
    -0x1.3813603b2b06dp-11, 0x1.b936e77f10654p-11, -0x1.f0ef8b2984bccp-10,
    0x1.5485d1fbaab48p-8,
};

// (ψ(1 + z) / (z − z₀) − g) / (z − ½) in z − ½, 0 ≤ z ≤ 1, from the constant on.
constexpr double DIGAMMA[] = {
    -0x1.b1cb63005ee96p-2, 0x1.eca189b8e6f6bp-3, -0x1.2feeeb98a7e14p-3,
    0x1.8512e59039721p-4, -0x1.fb4420299c39ep-5, 0x1.4de9aa171ff45p-5,
    -0x1.b9f8b14eb372ep-6, 0x1.2564719a65b96p-6, -0x1.8635595c28480p-7,
    0x1.03c0a69f8b8f2p-7, -0x1.5a07ffdcf1525p-8, 0x1.cd21dea34d652p-9,
    -0x1.335166d938f39p-9, 0x1.99ae2bb0ed049p-10, -0x1.1138fd323dc0cp-10,
    0x1.6c45b604ef5fcp-11, -0x1.e24e3f4fdc1dcp-12, 0x1.41877ec744b5bp-12,
    -0x1.c8e71b670fd14p-13, 0x1.30996e0f6d29ep-13, -0x1.0081238b97022p-14,
    0x1.56011f10ddfffp-15, -0x1.5600aebc07538p-14, 0x1.c800d395a6ea9p-15,
};

// x² (log x − 1/(2x) − ψ(x)) in 1/x², x ≥ 8, from the constant on.
constexpr double DIGAMMA_SERIES[] = {
    0x1.5555555555555p-4, -0x1.1111111110d4dp-7, 0x1.041041019504ap-8,
    -0x1.11110c0f1f2c7p-8, 0x1.f0772017ce3cbp-8, -0x1.58e681bbbe566p-6,
    0x1.47c6241721619p-4, -0x1.329aa6d9ffd58p-2,
};

// log₂(1 + f) / f, √½ ≤ 1 + f ≤ √2, off by less than 2⁻³³, from the constant on.
constexpr double ROUGH_LOG2[] = {
    0x1.715476530458cp0, -0x1.71547678f1feep-1, 0x1.ec709b5b33c1ap-2,
    -0x1.715438ed50d73p-2, 0x1.2777694c44dfdp-2, -0x1.ec8cbb28a46d3p-3,
    0x1.a608e4d0d409cp-3, -0x1.6eb2698f21315p-3, 0x1.4645e59a19474p-3,
    -0x1.41fffb9965927p-3, 0x1.3a457f7b873b6p-3, -0x1.596fe0ad18378p-4,
};

}  // namespace suffice
