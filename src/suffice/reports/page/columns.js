// The columns: what each tells, and how it looks in every class. Drawn when opened.
import { finite, isNumeric, ledger, probabilities, weightOf } from "./score.js";
import { brief, numeral, percent, signed } from "./format.js";
import { colour, el, figures, key, named, svg } from "./dom.js";
import { DRAWN_CLASSES, likelihoods, termOf, valuesOf } from "./densities.js";
import { remark } from "./ask.js";
import { bar, UNITS } from "./answer.js";

const AT_ONCE = 50; // columns
const MOST_VALUES = 40;
const MOST_DECIBANS = 30; // of a picture

/** Curves over the values of a column. @param {number[][]} by @param {number} most @param {string} text */
function curves(by, most, text) {
  const paths = by.slice(0, DRAWN_CLASSES).map((row, c) => {
    const points = row.map((v, m) => `${((300 * m) / (row.length - 1 || 1)).toFixed(1)},${(118 - (112 * v) / (most || 1)).toFixed(1)}`);
    return svg("path", { class: `plain ${colour(c)}`, "vector-effect": "non-scaling-stroke", d: `M${points.join("L")}` });
  });
  return svg("svg", { class: "chart", viewBox: "0 0 300 120", preserveAspectRatio: "none", role: "img", "aria-label": text },
    svg("line", { class: "axis", x1: 0, x2: 300, y1: 118, y2: 118, "vector-effect": "non-scaling-stroke" }), ...paths);
}

/** P(c) where one cell alone is known. @param {number} j */
function alone(model, j, value) {
  const found = ledger(model, model.columns.map((_, i) => (i === j ? value : null)));
  return found === null ? model.prior : probabilities(model, found.scores);
}

/** A picture over its values. @param {string} text */
const chart = (drawn, column, text) => el("figure", {}, el("figcaption", {}, text), drawn,
  el("p", { class: "ends" }, el("span", {}, numeral(column.low)), el("span", {}, numeral(column.high))));

/** log of a sum of exponentials of all but one. @param {number[]} scores @param {number} c */
function logOfRest(scores, c) {
  const most = Math.max(...scores.filter((_, e) => e !== c));
  if (most === -Infinity) return most;
  return most + Math.log(scores.reduce((sum, score, e) => (e === c ? sum : sum + Math.exp(score - most)), 0));
}

/** The evidence of one cell for every class against the others, in nats. @returns {number[]} */
export function evidenceOf(model, j, cell) {
  const prior = model.start.map(finite);
  const scores = ledger(model, model.columns.map((_, i) => (i === j ? cell : null)))?.scores ?? prior;
  return scores.map((score, c) => score - logOfRest(scores, c) - (prior[c] - logOfRest(prior, c)) || 0);
}

/** Evidence of values for every class, or for the second of two, in decibans. @param {number} j */
function evidenceOfValues(model, j, values) {
  const found = values.map((value) => evidenceOf(model, j, value).map((v) => UNITS.decibans * v));
  const two = model.outputs.length === 2;
  const classes = model.outputs.map((_, c) => c).slice(two ? 1 : 0, DRAWN_CLASSES);
  const against = two ? `for ${brief(model.outputs[1])}, against ${brief(model.outputs[0])}` : "for every class, against the others";
  return { found, classes, text: (unit) => `What a value says ${against}, in ${unit}` };
}

/** The curves of evidence. @param {number} j */
function evidenceChart(model, j, values) {
  const { found, classes, text } = evidenceOfValues(model, j, values);
  const sizes = found.flatMap((one) => classes.map((c) => one[c])).filter(Number.isFinite).map(Math.abs);
  const most = Math.min(MOST_DECIBANS, 5 * Math.ceil(Math.max(1, ...sizes) / 5));
  const at = (v, m) => `${((300 * m) / (found.length - 1 || 1)).toFixed(1)},${(60 - (58 * Math.max(-most, Math.min(most, v))) / most).toFixed(1)}`;
  const paths = classes.map((c) =>
    svg("path", { class: `plain ${colour(c)}`, "vector-effect": "non-scaling-stroke", d: `M${found.map((one, m) => at(one[c], m)).join("L")}` }));
  return chart(svg("svg", { class: "chart", viewBox: "0 0 300 120", preserveAspectRatio: "none", role: "img", "aria-label": "Evidence" },
    svg("line", { class: "axis", x1: 0, x2: 300, y1: 60, y2: 60, "vector-effect": "non-scaling-stroke" }), ...paths),
  model.columns[j], text(`decibans, from −${most} up to ${most} (10 make the odds ten times as large)`));
}

function numbersOf(model, j) {
  const column = model.columns[j];
  const by = likelihoods(model, j, new Array(model.columns.length).fill(null));
  if (by === null) return [el("p", {}, "Its values share their distribution with other columns, so it has no picture of its own.")];
  const values = valuesOf(model, j);
  const after = values.map((value) => alone(model, j, value));
  const legend = el("p", { class: "legend" }, ...model.outputs.slice(0, DRAWN_CLASSES).map((name, c) => el("span", {}, key(c), named(name))));
  const most = Math.max(...by.slice(0, DRAWN_CLASSES).map((row) => Math.max(...row)));
  return [legend, el("div", { class: "charts" }, chart(curves(by, most, "Densities"), column, "How its values are distributed in every class"),
    chart(curves(model.outputs.map((_, c) => after.map((p) => p[c])), 1, "Probabilities"),
      column, "Probability of every class, from 0 to 1, if nothing but this value is known"),
    evidenceChart(model, j, values))];
}

function valuesTable(model, j) {
  const name = brief(model.columns[j].name, 80);
  const values = (model.columns[j].values ?? []).slice(0, MOST_VALUES);
  const by = likelihoods(model, j, new Array(model.columns.length).fill(null));
  const shown = model.outputs.slice(0, DRAWN_CLASSES);
  if (by === null) return [el("p", {}, "Its values are indicators of a Gaussian, and have no shares in a class.")];
  const { found, classes, text } = evidenceOfValues(model, j, values);
  return [figures(`Shares of values of ${name}`, "Share of the rows of each class that have the value", "value", shown,
    values.map((value, m) => [String(value), shown.map((_, c) => percent(by[c][m]))])),
  figures(`Evidence of values of ${name}`, text("decibans (10 make the odds ten times as large)"), "value", classes.map((c) => model.outputs[c]),
    values.map((value, m) => [String(value), classes.map((c) => signed(found[m][c], 1))]))];
}

/** The words that are most typical of every class. */
const typicalWords = (column) => column.words.map(([name, words]) =>
  el("p", {}, "Most typical of ", el("bdi", {}, brief(name)), ": ", el("bdi", {}, words.join(", "))));

/** What a unit, or each value, adds in a linear or logistic model, with its interval where that is known. @param {number} j */
function effects(model, j) {
  const { name, values, levels, effects } = model.columns[j];
  const known = effects.some((row) => row.some((one) => one.length > 1));
  const written = (value) => signed(value, Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(Math.abs(value) || 1)))));
  const said = ([adds, low, high]) => (low === undefined ? written(adds) : `${written(adds)} (${written(low)} to ${written(high)})`);
  const what = model.task !== "classes" ? "the prediction" : known ? `the log-odds against ${brief(model.outputs[0])}` : "the log-odds";
  return [figures(`Effects of ${brief(name, 80)}`, `What it adds to ${what}${known ? ", with its 95 % interval" : ""}`, levels ? "value" : "effect", model.outputs,
    effects.map((row, i) => /** @type {[string, string[]]} */ ([levels ? String(levels[i]) : "one unit more adds", row.map(said)])))];
}

function facts(model, j) {
  const column = model.columns[j];
  const said = remark(model, j);
  const weight = termOf(model, j) ? weightOf(termOf(model, j)) : 1;
  const counted = model.weighted && weight !== 0 ? `What it says is counted ${weight.toFixed(2)} times. ` : "";
  const known = Object.entries(column.parameters ?? {});
  const table = known.length ? [figures(`Parameters of ${brief(column.name, 80)}`, "Parameters in every class", "parameter", model.outputs,
    known.map(([name, by]) => [name, by.map((v) => numeral(v))]))] : [];
  const why = column.why ? `It was chosen by the log loss of this column alone: ${column.why}.` : "";
  const text = `${counted}${said ? `${said[0].toUpperCase()}${said.slice(1)}. ` : ""}${why}`;
  return [...(text ? [el("p", {}, text)] : []), ...table];
}

/** One column, that opens. @param {number} j @param {number} most */
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
    const drawn = column.kind === "text" ? typicalWords(column) : !column.unknown ? effects(model, j)
      : isNumeric(column) ? numbersOf(model, j) : valuesTable(model, j);
    made.append(...drawn, ...facts(model, j));
  }, { once: true });
  return made;
}

const SORTS = /** @type {Record<string, (model: any) => (a: number, b: number) => number>} */ ({
  "what it tells": (model) => (a, b) => model.order.indexOf(a) - model.order.indexOf(b),
  name: (model) => (a, b) => model.columns[a].name.localeCompare(model.columns[b].name, undefined, { numeric: true }),
  "place in the table": (model) => (a, b) => model.columns[a].place - model.columns[b].place,
});

/** Fill the place of the columns. */
export function showColumns(model, place) {
  const most = Math.max(...model.columns.map((one) => one.bits ?? one.moves ?? 0));
  place.append(el("p", {}, model.columns.some((one) => one.moves !== undefined)
    ? "A bar is how much one standard deviation of the column moves the answer. Open a column to see its coefficients."
    : "A bar is what a cell of the column is expected to tell of the class, if nothing else is known, in bits. Open a column to see how it looks in every class."));
  const list = el("div");
  const more = el("p", { class: "quiet", role: "status" });
  const draw = () => {
    const found = model.order.filter((j) => model.columns[j].name.toLowerCase().includes(box.value.toLowerCase()));
    if (sort.value !== Object.keys(SORTS)[0]) found.sort(SORTS[sort.value](model));
    list.replaceChildren(...found.slice(0, AT_ONCE).map((j) => entry(model, j, most)));
    const left = found.length - AT_ONCE;
    more.textContent = left > 0 ? `${numeral(left)} more: write a part of their name.` : found.length ? "" : "No column has such a name.";
  };
  const box = el("input", { type: "search", id: "filter", oninput: draw });
  const sort = el("select", { id: "sort", onchange: draw }, ...Object.keys(SORTS).map((name) => el("option", { value: name }, name)));
  const controls = [["filter", "Find a column: ", box], ["sort", "Sort by: ", sort]].map(([id, text, control]) =>
    el("span", {}, el("label", { for: id }, text), control));
  if (model.columns.length > 2) place.append(el("p", { class: "controls switch" }, ...controls.slice(model.columns.length > 8 ? 0 : 1)));
  place.append(list, more);
  draw();
}
