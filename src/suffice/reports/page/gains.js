// What to find out next: the expected information of every unknown column.
import { isMissing, weightOf } from "./score.js";
import { likelihoods, termOf } from "./densities.js";

const MOST_JOINED = 30; // columns of a joint distribution that every keystroke can go through
const MOST_DENSITIES = 600; // of the most telling columns, in every class, at a keystroke

/** In bits. @param {number[]} p */
const entropy = (p) => p.reduce((sum, one) => (one > 0 ? sum - one * Math.log2(one) : sum), 0);

/**
 * H(C | x) - sum over values v of P(v | x) H(C | x, v), in bits, the largest first, where
 * P(v | x) = sum_c P(c | x) P(v | c, x) and P(c | x, v) goes with P(c | x) P(v | c, x)^w, as cells
 * are counted w times. What is counted is not what is expected to be seen, so it may be below 0,
 * and is then 0.
 * @param {any} model @param {any[]} x @param {number[]} posterior @param {number[]} order
 * @returns {{column: number, bits: number}[]}
 */
export function gains(model, x, posterior, order) {
  const most = Math.max(10, Math.floor(MOST_DENSITIES / posterior.length));
  const asked = order.filter((j) => isMissing(x[j])).slice(0, most);
  const now = entropy(posterior);
  const found = [];
  for (const j of asked) {
    const term = termOf(model, j);
    if (!term || term.at.length > MOST_JOINED) continue;
    const by = likelihoods(model, j, x);
    if (by === null) continue;
    const weight = weightOf(term);
    let after = 0;
    for (let m = 0; m < by[0].length; m++) {
      let whole = 0;
      for (let c = 0; c < by.length; c++) whole += posterior[c] * by[c][m];
      if (whole === 0) continue;
      const counted = posterior.map((p, c) => (weight === 0 ? p : p * by[c][m] ** weight));
      const total = counted.reduce((a, b) => a + b, 0);
      after += whole * entropy(counted.map((p) => p / total));
    }
    found.push({ column: j, bits: Math.max(0, now - after) });
  }
  return found.sort((a, b) => b.bits - a.bits);
}
