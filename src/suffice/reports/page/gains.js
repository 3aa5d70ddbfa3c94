// What to find out next: the expected information of every unknown column.
import { isMissing } from "./score.js";
import { likelihoods } from "./densities.js";

const MOST_JOINED = 30; // columns of a joint distribution that every keystroke can go through
const MOST_COLUMNS = 200; // the most telling columns are asked for

/**
 * I(C; X_j | x) in bits, the largest first:
 * sum over values v and classes c of P(c | x) P(v | c, x) log2 P(v | c, x) / P(v | x).
 * @param {any} model @param {any[]} x @param {number[]} posterior @param {number[]} order
 * @returns {{column: number, bits: number}[]}
 */
export function gains(model, x, posterior, order) {
  const asked = order.filter((j) => isMissing(x[j])).slice(0, MOST_COLUMNS);
  const found = [];
  for (const j of asked) {
    const term = model.terms.find((/** @type {any} */ one) => one.at.includes(j));
    if (term.at.length > MOST_JOINED) continue;
    const by = likelihoods(model, j, x);
    if (by === null) continue;
    let bits = 0;
    for (let m = 0; m < by[0].length; m++) {
      let whole = 0;
      for (let c = 0; c < by.length; c++) whole += posterior[c] * by[c][m];
      for (let c = 0; c < by.length; c++) {
        const joint = posterior[c] * by[c][m];
        if (joint > 0) bits += joint * Math.log2(by[c][m] / whole);
      }
    }
    found.push({ column: j, bits: Math.max(0, bits) });
  }
  return found.sort((a, b) => b.bits - a.bits);
}
