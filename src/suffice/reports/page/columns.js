// The columns: what each tells, and how it looks in every class. Drawn when opened.
import { added, isNumeric, ledger, probabilities, weightOf } from "./score.js";
import { brief, numeral, percent, signed } from "./format.js";
import { colour, el, key, named, svg, wideTable } from "./dom.js";
import { DRAWN_CLASSES, likelihoods, termOf, valuesOf } from "./densities.js";
import { remark } from "./ask.js";
import { bar } from "./answer.js";

const AT_ONCE = 50; // columns
const MOST_VALUES = 40;
const TYPICAL_WORDS = 12;

/** Curves over the values of a column. @param {number[][]} by @param {number} most @param {string} text */
function curves(by, most, text) {
  const paths = by.slice(0, DRAWN_CLASSES).map((row, c) => {
    const points = row.map((v, m) => `${((300 * m) / (row.length - 1 || 1)).toFixed(1)},${(118 - (112 * v) / (most || 1)).toFixed(1)}`);
    return svg("path", { class: `plain ${colour(c)}`, "vector-effect": "non-scaling-stroke", d: `M${points.join("L")}` });
  });
  return svg("svg", { class: "chart", viewBox: "0 0 300 120", preserveAspectRatio: "none", role: "img", "aria-label": text },
    svg("line", { class: "axis", x1: 0, x2: 300, y1: 118, y2: 118, "vector-effect": "non-scaling-stroke" }), ...paths);
}

/** P(c) where one cell alone is known. @param {any} model @param {number} j @param {any} value */
function alone(model, j, value) {
  const x = new Array(model.columns.length).fill(null);
  x[j] = value;
  const found = ledger(model, x);
  return found === null ? model.prior : probabilities(model, found.scores);
}

/** A picture over its values. @param {any} drawn @param {any} column @param {string} text */
const chart = (drawn, column, text) => el("figure", {}, el("figcaption", {}, text), drawn,
  el("p", { class: "ends" }, el("span", {}, numeral(column.low)), el("span", {}, numeral(column.high))));

/** @param {any} model @param {number} j */
function numbersOf(model, j) {
  const column = model.columns[j];
  const by = likelihoods(model, j, new Array(model.columns.length).fill(null));
  if (by === null) return [el("p", {}, "Its values share their distribution with other columns, so it has no picture of its own.")];
  const values = valuesOf(model, j);
  const after = values.map((value) => alone(model, j, value));
  const legend = el("p", { class: "legend" }, ...model.outputs.slice(0, DRAWN_CLASSES).map((/** @type {string} */ name, /** @type {number} */ c) =>
    el("span", {}, key(c), named(name))));
  const most = Math.max(...by.slice(0, DRAWN_CLASSES).map((row) => Math.max(...row)));
  return [legend, el("div", { class: "charts" },
    chart(curves(by, most, "Densities"), column, "How its values are distributed in every class"),
    chart(curves(model.outputs.map((/** @type {any} */ _, /** @type {number} */ c) => after.map((p) => p[c])), 1, "Probabilities"),
      column, "Probability of every class, from 0 to 1, if nothing but this value is known"))];
}

/** @param {any} model @param {number} j */
function valuesTable(model, j) {
  const values = (model.columns[j].values ?? []).slice(0, MOST_VALUES);
  const by = likelihoods(model, j, new Array(model.columns.length).fill(null));
  const shown = model.outputs.slice(0, DRAWN_CLASSES);
  if (by === null) return [el("p", {}, "Its values are indicators of a Gaussian, and have no shares in a class.")];
  const head = el("tr", {}, el("th", { scope: "col" }, "value"), ...shown.map((/** @type {string} */ name) =>
    el("th", { scope: "col", class: "number" }, named(name))));
  const rows = values.map((/** @type {any} */ value, /** @type {number} */ m) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, String(value))),
    ...shown.map((/** @type {any} */ _, /** @type {number} */ c) => el("td", { class: "number" }, percent(by[c][m])))));
  return [wideTable(`Shares of values of ${model.columns[j].name.slice(0, 80)}`,
    el("caption", {}, "Share of the rows of each class that have the value"), el("thead", {}, head), el("tbody", {}, ...rows))];
}

/** The words that are most typical of every class. @param {any} model @param {number} j */
function typicalWords(model, j) {
  const term = termOf(model, j);
  const score = (/** @type {number} */ c) => term.values.map((/** @type {string} */ word, /** @type {number} */ i) => {
    const row = term.table[i].map((/** @type {number|null} */ v) => (v === null ? 0 : Math.exp(v)));
    const mean = row.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) / row.length;
    return { word, says: row[c] > 0 ? row[c] * Math.log(row[c] / mean) : 0 };
  }).sort((/** @type {any} */ a, /** @type {any} */ b) => b.says - a.says).slice(0, TYPICAL_WORDS);
  return model.outputs.slice(0, DRAWN_CLASSES).map((/** @type {string} */ name, /** @type {number} */ c) =>
    el("p", {}, "Most typical of ", el("bdi", {}, brief(name)), ": ", el("bdi", {}, score(c).map((/** @type {any} */ one) => one.word).join(", "))));
}

/** What a unit, or each value, adds in a linear or logistic model. @param {any} model @param {number} j */
function effects(model, j) {
  const column = model.columns[j];
  const term = termOf(model, j);
  const x = new Array(model.columns.length).fill(0);
  const at = (/** @type {any} */ value) => { x[j] = value; return added(model, term, x)?.[0][1] ?? []; };
  const classes = model.task === "classes";
  const head = el("tr", {}, el("th", { scope: "col" }, isNumeric(column) ? "effect" : "value"), ...model.outputs.map((/** @type {string} */ name) =>
    el("th", { scope: "col", class: "number" }, named(name))));
  const line = (/** @type {string} */ name, /** @type {number[]} */ by) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, name)),
    ...by.map((value) => el("td", { class: "number" }, signed(Number(value.toPrecision(4)), Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(Math.abs(value) || 1))))))));
  const rows = isNumeric(column)
    ? [line("one unit more adds", at(1).map((/** @type {number} */ v, /** @type {number} */ c) => v - at(0)[c]))]
    : (column.values ?? []).slice(0, MOST_VALUES).map((/** @type {any} */ value) => line(String(value), at(value)));
  return [wideTable(`Effects of ${column.name.slice(0, 80)}`,
    el("caption", {}, classes ? "What it adds to the log-odds" : "What it adds to the prediction"), el("thead", {}, head), el("tbody", {}, ...rows))];
}

/** @param {any} model @param {number} j */
function facts(model, j) {
  const column = model.columns[j];
  const said = remark(model, j);
  const weight = termOf(model, j) ? weightOf(termOf(model, j)) : 1;
  const counted = model.weighted && weight !== 0 ? `What it says is counted ${weight.toFixed(2)} times. ` : "";
  const known = Object.entries(column.parameters ?? {});
  const table = known.length ? [wideTable(`Parameters of ${column.name.slice(0, 80)}`,
    el("caption", {}, "Parameters in every class"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "parameter"), ...model.outputs.map((/** @type {string} */ name) => el("th", { scope: "col", class: "number" }, named(name))))),
    el("tbody", {}, ...known.map(([name, by]) => el("tr", {}, el("th", { scope: "row" }, name),
      ...by.map((/** @type {number} */ v) => el("td", { class: "number" }, numeral(v)))))))] : [];
  const why = column.why ? `It was chosen by the log loss of this column alone: ${column.why}.` : "";
  const text = `${counted}${said ? `${said[0].toUpperCase()}${said.slice(1)}. ` : ""}${why}`;
  return [...(text ? [el("p", {}, text)] : []), ...table];
}

/** One column, that opens. @param {any} model @param {number} j @param {number} most */
function entry(model, j, most) {
  const column = model.columns[j];
  const size = column.bits ?? column.moves;
  const tells = size === undefined ? "" : column.bits === undefined ? numeral(size) : `${size.toFixed(2)} bits`;
  const share = size === undefined || !(most > 0) ? 0 : size / most;
  const missing = column.missing >= 0.0005 ? `${percent(column.missing)} missing` : "";
  const made = el("details", { class: "column" }, el("summary", {}, named(column.name),
    el("span", { class: "quiet" }, column.family.replaceAll("_", " ")), tells ? bar(share, "k7") : el("span"),
    el("span", { class: "number" }, tells), el("span", { class: "quiet" }, missing)));
  made.addEventListener("toggle", () => {
    const drawn = column.kind === "text" ? typicalWords(model, j) : !column.unknown ? effects(model, j)
      : isNumeric(column) ? numbersOf(model, j) : valuesTable(model, j);
    made.append(...drawn, ...facts(model, j));
  }, { once: true });
  return made;
}

/** Fill the place of the columns. @param {any} model @param {any} place */
export function showColumns(model, place) {
  const most = Math.max(...model.columns.map((/** @type {any} */ one) => one.bits ?? one.moves ?? 0));
  place.append(el("p", {}, model.columns.some((/** @type {any} */ one) => one.moves !== undefined)
    ? "A bar is how much one standard deviation of the column moves the answer. Open a column to see its coefficients."
    : "A bar is what a cell of the column is expected to tell of the class, if nothing else is known, in bits. Open a column to see how it looks in every class."));
  const list = el("div");
  const more = el("p", { class: "quiet" });
  const draw = (/** @type {string} */ wanted) => {
    const found = model.order.filter((/** @type {number} */ j) => model.columns[j].name.toLowerCase().includes(wanted.toLowerCase()));
    list.replaceChildren(...found.slice(0, AT_ONCE).map((/** @type {number} */ j) => entry(model, j, most)));
    const left = found.length - AT_ONCE;
    more.textContent = left > 0 ? `${numeral(left)} more: write a part of their name.` : found.length ? "" : "No column has such a name.";
  };
  if (model.columns.length > 8) {
    const box = el("input", { type: "search", id: "filter", oninput: () => draw(box.value) });
    place.append(el("p", { class: "controls" }, el("label", { for: "filter" }, "Find a column: "), box));
  }
  place.append(list, more);
  draw("");
}
