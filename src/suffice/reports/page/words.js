// What the words of a text say, one by one.
import { isMissing, sumOfWords, weightOf, wordsOf } from "./score.js";
import { signed } from "./format.js";
import { el } from "./dom.js";

const MOST_WORDS = 10;

/** The words of the texts of a row that say the most for one class and against another. @param {number} scale of a nat */
export function wordsTable(model, x, found, scale) {
  const said = new Map();
  for (const term of model.terms) {
    if (!term.text || isMissing(x[term.at[0]])) continue;
    for (const word of wordsOf(x[term.at[0]])) {
      const by = sumOfWords(model, term, word);
      const adds = weightOf(term) * scale * (by[found.answer] - by[found.against]);
      if (Number.isFinite(adds) && adds !== 0) said.set(word, (said.get(word) ?? 0) + adds);
    }
  }
  const shown = [...said].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, MOST_WORDS);
  if (!shown.length) return [];
  return [el("table", {}, el("caption", {}, "Words that say the most, for and against, each as often as it is there"),
    el("tbody", {}, ...shown.map(([word, adds]) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, word)), el("td", { class: "number" }, signed(adds, 1))))))];
}
