// Rows of the test table: a click asks about one.
import { averages, answerOf, textOf } from "./answer.js";
import { brief, numeral, percent } from "./format.js";
import { el, wideTable } from "./dom.js";

const FIRST = 20;

/** Fill the place of the rows: the surest errors first. @param {(row: any) => void} ask */
export function showRows(model, place, ask) {
  const average = averages(model);
  const classes = model.task === "classes";
  const columns = model.order.slice(0, 3);
  /** @returns {{cells: string[], wrong: boolean}} */
  const said = (row) => {
    const found = answerOf(model, row.cells, average);
    const truth = classes ? brief(row.truth) : row.truth.map(numeral).join("; ");
    const cells = columns.map((j) => textOf(model, j, row.cells[j]));
    if (found === null) return { cells: ["no answer", "", truth, ...cells], wrong: true };
    if (!classes) return { cells: [numeral(found.scores[0]), numeral(row.truth[0] - found.scores[0]), truth, ...cells], wrong: false };
    const answer = model.outputs[found.answer];
    return { cells: [brief(answer), percent(found.posterior[found.answer]), truth, ...cells], wrong: answer !== row.truth };
  };
  const line = (row) => {
    const { cells, wrong } = said(row);
    return el("tr", { class: wrong ? "wrong" : undefined },
      el("td", {}, el("button", { type: "button", onclick: () => { ask(row); location.hash = "#ask"; } }, `row ${numeral(row.number)}`)),
      ...cells.map((text) => el("td", {}, el("bdi", {}, text))));
  };
  const head = ["answer", classes ? "probability" : "truth less answer", "truth", ...columns.map((j) => brief(model.columns[j].name))];
  const body = el("tbody", {}, ...model.rows.slice(0, FIRST).map(line));
  place.append(wideTable("Rows of the test table", el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "row"),
    ...head.map((text) => el("th", { scope: "col" }, el("bdi", {}, text))))), body));
  const rest = model.rows.slice(FIRST);
  if (!rest.length) return;
  const more = el("button", { type: "button", class: "controls", onclick: () => { body.append(...rest.map(line)); more.remove(); } }, `Show ${numeral(rest.length)} more`);
  place.append(more);
}
