// What the words of a text say: the text itself, its telling words marked in the colour of their class.
import { isMissing, sumOfWords, weightOf, wordsOf } from "./score.js";
import { signed } from "./format.js";
import { colour, el } from "./dom.js";

const [MOST_WORDS, LEAST_SAID, MOST_QUOTED] = [10, 0.25, 4000]; // listed; marked, of the most; letters

/** The texts of a row, and their words that say the most for one class and against another. */
export function wordsTable(model, x, found) {
  const said = new Map();
  const texts = [];
  for (const term of model.members ? [] : model.terms) {
    if (!term.words || isMissing(x[term.columns[0]])) continue;
    texts.push(x[term.columns[0]]);
    for (const word of wordsOf(x[term.columns[0]])) {
      const by = sumOfWords(model, term, word);
      const adds = weightOf(term) * (by[found.answer] - by[found.against]);
      if (Number.isFinite(adds) && adds !== 0) said.set(word, [(said.get(word)?.[0] ?? 0) + adds, adds]);
    }
  }
  const shown = [...said].sort((a, b) => Math.abs(b[1][0]) - Math.abs(a[1][0])).slice(0, MOST_WORDS);
  if (!shown.length) return [];
  const most = Math.max(...shown.map(([, [, one]]) => Math.abs(one)));
  const marked = (/** @type {string} */ word) => {
    const one = said.get(word.toLowerCase())?.[1] ?? 0;
    return Math.abs(one) < LEAST_SAID * most ? word : el("mark", { class: colour(one > 0 ? found.answer : found.against), title: `${signed(one, 2)} in log-odds` }, word);
  };
  return [...texts.map((text) => el("p", { class: "quoted" }, el("bdi", {}, ...text.slice(0, MOST_QUOTED).split(/([\p{L}\p{N}_]{2,})/u).map(marked)))),
    el("table", {}, el("caption", {}, "Words that say the most, for and against, each as often as it is there, in log-odds"),
      el("tbody", {}, ...shown.map(([word, [adds]]) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, word)), el("td", { class: "number" }, signed(adds, 2))))))];
}
