// Two models: how both answer the row that is asked about, and the test rows that divide them.
import { isMissing } from "./score.js";
import { answerOf, averages, bar, MOST_CLASSES, textOf, UNITS } from "./answer.js";
import { brief, numeral, percent, signed } from "./format.js";
import { el, figures, key, named } from "./dom.js";
import { startOf } from "./address.js";
import { rowTable } from "./rows.js";

const LINES_OF_BOTH = 10;

/** The same row for the other model: cells that both read, and of the rest those of a test row, or what is known of nothing. A model that needs every
 * cell takes the average row's. */
function rowOfOther(model, x, rest) {
  const begin = startOf(model.other);
  return model.other.columns.map((column, i) => {
    const j = model.columns.findIndex((one) => one.name === column.name);
    const cell = j < 0 ? rest?.[i] : x[j];
    return isMissing(cell) ? begin[i] : cell;
  });
}

/** Probabilities of the classes of either. */
function probabilitiesOfBoth(models, found) {
  const names = [...new Set(models.flatMap((one) => one.outputs))];
  const shares = (name) => models.map((one, m) => found[m]?.posterior[one.outputs.indexOf(name)]);
  const largest = (name) => Math.max(...shares(name).map((p) => p ?? 0));
  const shown = names.length <= MOST_CLASSES ? names : names.sort((a, b) => largest(b) - largest(a)).slice(0, MOST_CLASSES);
  return figures("Probabilities by both", ["Probability of every class", names.length > shown.length ? `; ${names.length - shown.length} more` : ""], "class", ["A", "B"],
    shown.map((name) => [el("span", { class: "keyed" }, key(models[0].outputs.indexOf(name)), named(name)),
      shares(name).map((p) => (p === undefined ? "–" : [percent(p), bar(p, "k7")]))]));
}

/** What every column adds in both. @param {string} unit */
function ledgerOfBoth(models, rows, found, unit) {
  const [first] = found;
  const classes = models[0].task === "classes";
  const [a, b] = classes ? [first.answer, first.against].map((c) => models[0].outputs[c]) : [models[0].outputs[0], ""];
  const sums = models.map((model, m) => {
    const [p, q] = [a, b].map((name) => model.outputs.indexOf(name));
    if (found[m] === null || p < 0 || (classes && q < 0)) return null;
    const of = (/** @type {number[]} */ by) => (classes ? (by[p] - by[q]) * UNITS[/** @type {"bits"} */ (unit)] : by[p]);
    return new Map(found[m].columns.map((one) => [model.columns[one.column].name, of(one.by)]));
  });
  const adds = (name) => sums.map((one) => one?.get(name));
  const most = (name) => Math.max(...adds(name).map((v) => Math.abs(v ?? 0)));
  const names = [...new Set(sums.flatMap((one) => [...(one?.keys() ?? [])]))].sort((c, d) => most(d) - most(c)).slice(0, LINES_OF_BOTH);
  if (!names.length) return [];
  const cellOf = (name) => {
    const m = models[0].columns.some((one) => one.name === name) ? 0 : 1;
    const j = models[m].columns.findIndex((one) => one.name === name);
    return textOf(models[m], j, rows[m][j]);
  };
  const caption = classes ? ["What cells say for ", el("bdi", {}, brief(a)), " and against ", el("bdi", {}, brief(b)), `, in ${unit}`]
    : ["What columns add to ", el("bdi", {}, brief(a)), ", from the average row"];
  const written = (v) => (v === undefined ? "–" : classes ? signed(v, 1) : numeral(v));
  return [figures("Evidence in both", caption, "cell", ["A", "B"], names.map((name) => [`${brief(name)}: ${cellOf(name)}`, adds(name).map(written)]))];
}

/** What a model says of a row. */
function saidBy(model, found) {
  if (found === null) return "no answer";
  if (model.task !== "classes") return found.scores.map((v) => numeral(v)).join("; ");
  return `${brief(model.outputs[found.answer])}, ${percent(found.posterior[found.answer])}`;
}

/** The part of the page that follows the row that is asked about. */
export function comparison(model, place) {
  const models = [model, model.other];
  const average = models.map(averages);
  let rest;
  return {
    /** Cells of columns that only the other model reads. */
    know(cells) { rest = cells; },
    show(x, unit) {
      const rows = [x, rowOfOther(model, x, rest)];
      const found = models.map((one, m) => answerOf(one, rows[m], average[m]));
      const parts = [el("p", {}, `A: ${saidBy(models[0], found[0])}. B: ${saidBy(models[1], found[1])}.`)];
      if (model.task === "classes") parts.push(probabilitiesOfBoth(models, found));
      if (found[0] !== null && (model.task !== "classes" || found[0].against >= 0)) parts.push(...ledgerOfBoth(models, rows, found, unit));
      const filled = model.other.columns.some((one) => !one.unknown) && x.some(isMissing);
      if (filled) parts.push(el("p", { class: "quiet" }, "B needs every cell: where a cell is unknown, it takes that of the average row."));
      place.replaceChildren(...parts);
    },
  };
}

/** Test rows that the two answer differently; a click asks about one. @param {(row: any) => void} ask */
export function showDifferences(model, place, ask) {
  const models = [model, model.other];
  const average = models.map(averages);
  const said = (row, m) => saidBy(models[m], answerOf(models[m], m ? row.others : row.cells, average[m]));
  rowTable(place, "Test rows that both answer differently", ["A", "B", "truth"], model.differ, (row) => {
    const truth = model.task === "classes" ? brief(row.truth) : row.truth.map(numeral).join("; ");
    return { cells: [said(row, 0), said(row, 1), truth], wrong: false };
  }, ask);
}
