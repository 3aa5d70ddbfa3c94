// What to find out next: the expected information of every unknown column.
import { isMissing, weightOf } from "./score.js";
import { likelihoods, termOf } from "./densities.js";

const MOST_JOINED = 30; // columns of a joint distribution that every keystroke can go through
const MOST_DENSITIES = 600; // of the most telling columns, in every class, at a keystroke

/** n log2 n, which is 0 at 0. @param {number} n */
const timesLog = (n) => (n > 0 ? n * Math.log2(n) : 0);

/** H(C | x) - sum over values v of P(v | x) H(C | x, v), in bits, the largest first, where P(v | x) = sum_c P(c | x) P(v | c, x) and P(c | x, v) goes
 * with P(c | x) P(v | c, x)^w, as cells are counted w times. What is counted is not what is expected to be seen, so it may be below 0, and is then 0.
 * @param {number[]} posterior @param {number[]} order @returns {{column: number, bits: number}[]} */
export function gains(model, x, posterior, order) {
  const most = Math.max(10, Math.floor(MOST_DENSITIES / posterior.length));
  const asked = order.filter((j) => isMissing(x[j])).slice(0, most);
  const now = -posterior.reduce((sum, p) => sum + timesLog(p), 0);
  const found = [];
  for (const j of asked) {
    const term = termOf(model, j);
    if (!term || term.at.length > MOST_JOINED) continue;
    const by = likelihoods(model, j, x);
    if (by === null) continue;
    const weight = weightOf(term);
    let after = 0;
    for (let m = 0; m < by[0].length; m++) {
      let [whole, total, sum] = [0, 0, 0];
      for (let c = 0; c < by.length; c++) {
        const p = posterior[c] * by[c][m] ** weight;
        whole += posterior[c] * by[c][m];
        total += p;
        sum += timesLog(p);
      }
      if (whole > 0 && total > 0) after += whole * (Math.log2(total) - sum / total); // H(C | x, v) of p / total
    }
    found.push({ column: j, bits: Math.max(0, now - after) });
  }
  return found.sort((a, b) => b.bits - a.bits);
}
