// What to find out next: the expected information of every unknown column.
import { isMissing, weightOf } from "./score.js";
import { termOf } from "./densities.js";

/** n log2 n, which is 0 at 0. @param {number} n */
const timesLog = (n) => (n > 0 ? n * Math.log2(n) : 0);

/** H(C | x) - sum over values v of P(v | x) H(C | x, v), in bits, the largest first, where P(v | x) = sum_c P(c | x) P(v | c), and P(c | x, v) goes
 * with P(c | x) P(v | c)^w, as cells are counted w times. What is counted is not what is expected to be seen, so it may be below 0, and is then 0.
 * The P(v | c) are those of Python's next_question. @param {number[]} posterior @returns {{column: number, bits: number}[]} */
export function gains(model, x, posterior) {
  const now = -posterior.reduce((sum, p) => sum + timesLog(p), 0);
  const found = [];
  for (const [j, { cells }] of model.columns.entries()) {
    if (!cells || !isMissing(x[j])) continue;
    const weight = weightOf(termOf(model, j));
    const sums = cells.map((of) => of.reduce((a, b) => a + b, 0));
    let after = 0;
    for (let m = 0; m < cells[0].length; m++) {
      let [whole, total, sum] = [0, 0, 0];
      for (let c = 0; c < cells.length; c++) {
        const p = posterior[c] * cells[c][m] ** weight;
        whole += (posterior[c] * cells[c][m]) / sums[c];
        total += p;
        sum += timesLog(p);
      }
      if (whole > 0 && total > 0) after += whole * (Math.log2(total) - sum / total); // H(C | x, v) of p / total
    }
    found.push({ column: j, bits: Math.max(0, now - after) });
  }
  return found.sort((a, b) => b.bits - a.bits);
}
