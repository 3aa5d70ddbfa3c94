// The rows of the test table: the surest errors first; a click asks about one.
import { averages, answerOf, textOf } from "./answer.js";
import { brief, numeral, percent } from "./format.js";
import { el } from "./dom.js";

const FIRST = 20;

/** Answer and how wrong it is. @param {any} model @param {any} row @param {Map<number, number[]>} average */
function judged(model, row, average) {
  const found = answerOf(model, row.cells, average);
  if (found === null) return { row, answer: "no answer", share: "", right: false };
  if (model.task !== "classes") {
    const error = row.truth[0] - found.scores[0];
    return { row, answer: numeral(found.scores[0]), share: numeral(error), right: true };
  }
  const answer = model.outputs[found.answer];
  return { row, answer: brief(answer), share: percent(found.posterior[found.answer]), right: answer === row.truth };
}

/**
 * Fill the place of the rows.
 * @param {any} model @param {any} place @param {(cells: any[]) => void} restore
 */
export function showRows(model, place, restore) {
  const average = averages(model);
  const classes = model.task === "classes";
  const shown = model.rows.map((/** @type {any} */ row) => judged(model, row, average));
  const columns = model.order.slice(0, 3);
  const line = (/** @type {any} */ one) => el("tr", { class: one.right ? undefined : "wrong" },
    el("td", {}, el("button", { type: "button", onclick: () => { restore([...one.row.cells]); location.hash = "#ask"; } },
      `row ${numeral(one.row.number)}`)),
    el("td", {}, el("bdi", {}, one.answer)), el("td", { class: "number" }, one.share),
    el("td", {}, el("bdi", {}, classes ? brief(one.row.truth) : one.row.truth.map(numeral).join("; "))),
    ...columns.map((/** @type {number} */ j) => el("td", {}, el("bdi", {}, textOf(model, j, one.row.cells[j])))));
  const head = ["", "answer", classes ? "probability" : "truth less answer", "truth",
    ...columns.map((/** @type {number} */ j) => brief(model.columns[j].name))];
  const body = el("tbody", {}, ...shown.slice(0, FIRST).map(line));
  const table = el("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Rows of the test table" },
    el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text, i) =>
      el("th", { scope: "col", class: i === 2 ? "number" : undefined }, i ? el("bdi", {}, text) : "row")))), body));
  place.append(table);
  const rest = shown.slice(FIRST);
  if (!rest.length) return;
  const more = el("button", { type: "button", class: "controls", onclick: () => { body.append(...rest.map(line)); more.remove(); } },
    `Show ${numeral(rest.length)} more`);
  place.append(more);
}
