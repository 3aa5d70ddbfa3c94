#include "product_sums.hpp"

#include <cstring>

#include "interrupts.hpp"
#include "memory.hpp"

namespace suffice {

using Limb = std::uint64_t;
using Wide = unsigned __int128;

constexpr Index CELL = 128;                  // operations of a number of many limbs, about
constexpr Index MOST_ROWS = Index{1} << 28;  // of a matrix: then its sums go into tables

struct ProductSums::Gathered {
  int *left, *right;  // (d,) each
  double* level[PRODUCT_LEVELS];
  Index rows;
};

template <class T>
static T* zeros(Index many) {
  return static_cast<T*>(reserve(many * sizeof(T)));
}

// More of the same, zeros; those that are there stay the first.
template <class T>
static T* longer(T* values, Index before, Index many) {
  T* more = zeros<T>(many);
  if (values) std::memcpy(more, values, before * sizeof(T));
  give_back(values);
  return more;
}

ProductSums::ProductSums(Index d, const Index* place, Index places)
    : products_(d * (d + 1) / 2), d(d), places(places), weight(0), sums(0), products(0),
      place_(zeros<Index>(products_)) {
  if (products_) std::memcpy(place_, place, products_ * sizeof(Index));
}

ProductSums::~ProductSums() {
  for (Index m = 0; m < matrices_; ++m) {
    give_back(of_[m].left);
    for (double* level : of_[m].level) give_back(level);
  }
  give_back(of_);
  give_back(slices_);
  give_back(matrix_);
  give_back(place_);
}

void ProductSums::grow(const std::int64_t* matrix, Index groups) {
  Index matrices = matrices_;
  for (Index c = 0; c < groups; ++c)
    if (matrix[c] >= matrices) matrices = matrix[c] + 1;
  if (matrices > matrices_) {
    of_ = longer(of_, matrices_, matrices);
    products.grow(matrices * products_);
    for (; matrices_ < matrices; ++matrices_) {
      of_[matrices_].left = zeros<int>(2 * d);
      of_[matrices_].right = of_[matrices_].left + d;
    }
  }
  if (groups <= g_) return;
  slices_ = longer(slices_, g_ * LEFT_SLICES * d, groups * LEFT_SLICES * d);
  matrix_ = longer(matrix_, g_, groups);
  for (Index c = g_; c < groups; ++c) matrix_[c] = matrix[c];
  weight.grow(groups), sums.grow(groups * d);
  g_ = groups;
}

int* ProductSums::left(Index matrix) const { return of_[matrix].left; }
int* ProductSums::right(Index matrix) const { return of_[matrix].right; }

double* ProductSums::level(Index matrix, int which) {
  double*& at = of_[matrix].level[which];
  if (!at) at = zeros<double>(2 * places);
  return at;
}

void ProductSums::count(Index matrix, Index rows) {
  of_[matrix].rows += rows;
  if (of_[matrix].rows > MOST_ROWS) settle(matrix);
}

void ProductSums::settle_product(Index matrix, Index i, Index j) {
  const Gathered& of = of_[matrix];
  const Index at = matrix * products_ + cell(i, j), place = place_[cell(i, j)];
  for (int which = 0; which < PRODUCT_LEVELS; ++which) {
    if (!of.level[which]) continue;
    double &high = of.level[which][place], &low = of.level[which][places + place];
    const Index unit = of.left[i] + of.right[j] - CUT * which;
    products.add(at, static_cast<std::int64_t>(high / SPLIT), unit + 26);
    products.add(at, static_cast<std::int64_t>(low), unit);
    high = low = 0.0;
  }
}

void ProductSums::settle_sums(Index matrix, Index column) {
  for (Index c = 0; c < g_; ++c) {
    if (matrix_[c] != matrix) continue;
    for (Index i = 0; i < LEFT_SLICES; ++i) {
      double& sum = slices(c)[i * d + column];
      sums.add(c * d + column, static_cast<std::int64_t>(sum), of_[matrix].left[column] - CUT * i);
      sum = 0.0;
    }
  }
}

void ProductSums::settle_column(Index matrix, Index column) {
  for (Index i = 0; i < column; ++i) settle_product(matrix, i, column);
  for (Index j = column; j < d; ++j) settle_product(matrix, column, j);
  settle_sums(matrix, column);
}

void ProductSums::settle(Index matrix) {
  if (!of_[matrix].rows) return;
  LEVEL::Work work;
  for (Index i = 0; i < d; ++i) {
    work.done(CELL * (d - i));
    for (Index j = i; j < d; ++j) settle_product(matrix, i, j);
    settle_sums(matrix, i);
  }
  of_[matrix].rows = 0;
}

void ProductSums::settle() {
  for (Index m = 0; m < matrices_; ++m) settle(m);
}

void ProductSums::add_weight(Index group, double w) {
  const Digits of(w);
  weight.add(group, static_cast<std::int64_t>(of.digits), of.exponent);
}

void ProductSums::add_row(Index group, double w, const double* x, Index apart) {
  const Digits of_w(w);
  const Index first = matrix_[group] * products_;
  for (Index i = 0; i < d; ++i) {
    const Digits a(x[i * apart]);
    if (!a.digits) continue;
    const Wide wa = Wide{of_w.digits} * a.digits;
    const Index once = of_w.exponent + a.exponent;
    add_digits(sums, group * d + i, wa, a.negative, once);
    const Wide low = wa & ((Wide{1} << 53) - 1), high = wa >> 53;
    for (Index j = i; j < d; ++j) {
      const Digits b(x[j * apart]);
      if (!b.digits) continue;
      const bool negative = a.negative != b.negative;
      add_digits(products, first + cell(i, j), low * b.digits, negative, once + b.exponent);
      add_digits(products, first + cell(i, j), high * b.digits, negative, once + b.exponent + 53);
    }
  }
}

namespace {

// Whole numbers in two's complement, limbs from 2^(64 low) on: what is added, and what taken away.
class Sum {
  const Index low_, count_;
  std::vector<Limb> plus_, minus_;

 public:
  Sum(Index low, Index count) : low_(low), count_(count), plus_(count), minus_(count) {}

  void clear() {
    std::memset(plus_.data(), 0, count_ * sizeof(Limb));
    std::memset(minus_.data(), 0, count_ * sizeof(Limb));
  }

  // Add a cell of a table times a double, or take it away.
  void add(const DyadicTable& table, Index cell, const Digits& by, bool away) {
    if (!by.digits) return;
    const Index shift = 64 * (table.low - low_) + by.exponent;
    const Wide factor = Wide{by.digits} << (shift & 63);
    std::vector<Limb>& to = by.negative != away ? minus_ : plus_;
    add(to, table, cell, static_cast<Limb>(factor), shift >> 6);
    add(to, table, cell, static_cast<Limb>(factor >> 64), (shift >> 6) + 1);
  }

  // The number, and nothing in its place.
  void take(Limb* out, Index apart) {
    Limb borrow = 0;
    for (Index q = 0; q < count_; ++q) {
      const Wide s = Wide{plus_[q]} - minus_[q] - borrow;
      out[q * apart] = static_cast<Limb>(s), borrow = static_cast<Limb>(s >> 64) & 1;
    }
    clear();
  }

 private:
  void add(std::vector<Limb>& to, const DyadicTable& table, Index cell, Limb factor, Index from) {
    if (!factor) return;
    Limb carry = 0;
    for (Index q = from; q < count_; ++q) {
      const Wide s = Wide{factor} * table.limb(table.low + q - from, cell) + to[q] + carry;
      to[q] = static_cast<Limb>(s), carry = static_cast<Limb>(s >> 64);
    }
  }
};

}  // namespace

// A pair of doubles, the second of which is what rounding took off the first.
static void write_pair(const Dyadic& number, double* high, double* low) {
  *high = rounded(number);
  *low = rounded(number - Dyadic::of(*high));
}

static Index least(Index a, Index b) { return b < a ? b : a; }
static Index most(Index a, Index b) { return a < b ? b : a; }
static Index end(const DyadicTable& table) { return table.low + table.planes; }

void recentre(const ProductTables& of, double* weight, double* pivot, double* sums,
              double* products) {
  const Index d = of.d;
  const Digits one(1.0);
  Index low = 0, high = 0;  // exponents of pivots
  for (Index c = 0; c < of.g; ++c) {
    const Dyadic w = of.weight.number(c);
    write_pair(w, weight + 2 * c, weight + 2 * c + 1);
    for (Index j = 0; j < d; ++j) {
      if (w.zero()) break;
      double& p = pivot[c * d + j] = quotient(of.sums.number(c * d + j), w);
      if (p == 0.0) continue;
      low = least(low, Digits(p).exponent), high = most(high, Digits(p).exponent + 53);
    }
  }
  // S − Wp of every group, in planes of their own
  const Index from = least(of.sums.low, of.weight.low + (low >> 6)),
              many = most(end(of.sums), end(of.weight) + (high >> 6) + 1) + 1 - from;
  std::vector<Limb> limbs(many * of.g * d);
  Sum sum(from, many);
  for (Index at = 0; at < of.g * d; ++at) {
    sum.add(of.sums, at, one, false);
    sum.add(of.weight, at / d, Digits(pivot[at]), true);
    sum.take(limbs.data() + at, of.g * d);
  }
  const DyadicTable centred{limbs.data(), many, of.g * d, from};
  for (Index c = 0; c < of.g; ++c)
    for (Index j = 0; j < d; ++j)
      write_pair(centred.number(c * d + j), sums + 2 * c * d + j, sums + (2 * c + 1) * d + j);
  const Index first = least(of.products.low, from + (low >> 6)),
              planes = most(end(of.products), most(end(of.sums), from + many) + (high >> 6) + 1) +
                       1 - first;
  Sum product(first, planes);
  std::vector<Limb> number(planes);
  const DyadicTable found{number.data(), planes, 1, first};
  std::vector<Index> start(of.matrices + 1);  // groups of one matrix stand side by side
  for (Index c = 0; c < of.g; ++c) start[of.matrix[c] + 1] = c + 1;
  Index cell = 0;
  LEVEL::Work work;
  for (Index m = 0; m < of.matrices; ++m)
    for (Index i = 0; i < d; ++i)
      for (Index j = i; j < d; ++j, ++cell) {
        work.done(CELL * (1 + start[m + 1] - start[m]));
        product.add(of.products, cell, one, false);
        for (Index c = start[m]; c < start[m + 1]; ++c) {
          product.add(of.sums, c * d + j, Digits(pivot[c * d + i]), true);
          product.add(centred, c * d + i, Digits(pivot[c * d + j]), true);
        }
        product.take(number.data(), 1);
        double* pair = products + 2 * m * d * d + i * d + j;
        write_pair(found.number(0), pair, pair + d * d);
      }
}

}  // namespace suffice
