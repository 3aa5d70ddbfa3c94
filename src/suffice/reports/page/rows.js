// Rows of the test table: a click asks about one.
import { averages, answerOf, textOf } from "./answer.js";
import { brief, numeral, percent } from "./format.js";
import { colour, el, key, wideTable } from "./dom.js";

const [FIRST, MOST_COLUMNS] = [20, 8];
const MOST_OF_A_TEXT = 240; // letters

/** Fill the place of the rows: the surest errors first. @param {(row: any) => void} ask */
export function showRows(model, place, ask) {
  const average = averages(model);
  const classes = model.task === "classes";
  const columns = model.order.slice(0, MOST_COLUMNS);
  const classOf = (/** @type {string} */ name) => el("span", { class: "keyed" }, key(model.outputs.indexOf(name)), el("bdi", {}, brief(name)));
  const cellOf = (cell, j) => (model.columns[j].kind === "text" && typeof cell === "string"
    ? el("td", { class: "written" }, el("bdi", {}, brief(cell, MOST_OF_A_TEXT))) : el("td", { class: typeof cell === "number" ? "number" : undefined }, el("bdi", {}, textOf(model, j, cell))));
  /** The answer, how sure or how wrong it is, and what is true. @returns {any[]} */
  const said = (row) => {
    const found = answerOf(model, row.cells, average, true);
    const truth = classes ? classOf(row.truth) : row.truth.map((v) => numeral(v)).join("; ");
    if (found === null) return ["no answer", "", truth];
    if (!classes) return [numeral(found.scores[0]), numeral(row.truth[0] - found.scores[0]), truth];
    const answer = model.outputs[found.answer];
    return [classOf(answer), percent(found.posterior[found.answer]), truth, answer === row.truth ? "right" : "wrong"];
  };
  const line = (row) => {
    const [answer, sure, truth, verdict] = said(row);
    return el("tr", { class: verdict === "wrong" ? "wrong" : undefined },
      el("td", {}, el("button", { type: "button", onclick: () => { ask(row); location.hash = "#ask"; } }, `row ${numeral(row.number)}`)),
      el("td", { class: classes ? undefined : "number" }, answer), el("td", { class: "number" }, sure), el("td", { class: classes ? undefined : "number" }, truth),
      ...(classes ? [el("td", {}, verdict ?? "")] : []), ...columns.map((j) => cellOf(row.cells[j], j)));
  };
  const head = [["row"], [classes ? "answer" : "predicted", !classes], [classes ? "probability" : "truth less prediction", true], ["truth", !classes], ...(classes ? [["right or wrong"]] : []),
    ...columns.map((j) => [brief(model.columns[j].name), model.rows.some((row) => typeof row.cells[j] === "number")])];
  const body = el("tbody", {}, ...model.rows.slice(0, FIRST).map(line));
  place.append(wideTable("Rows of the test table", el("thead", {}, el("tr", {},
    ...head.map(([text, number]) => el("th", { scope: "col", class: number ? "number" : undefined }, el("bdi", {}, text))))), body));
  const rest = model.rows.slice(FIRST);
  if (!rest.length) return;
  const more = el("button", { type: "button", class: "controls", onclick: () => { body.append(...rest.map(line)); more.remove(); } }, `Show ${numeral(rest.length)} more`);
  place.append(more);
}
