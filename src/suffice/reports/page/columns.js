// The columns: what each tells, and how it looks in every class. Drawn when opened.
import { finite, isNumeric, probabilities, scoresOf, weightOf } from "./score.js";
import { brief, numeral, percent, signed } from "./format.js";
import { colour, el, figures, key, named } from "./dom.js";
import { figure, legend, path, plane, shares } from "./chart.js";
import { DRAWN_CLASSES, endsOf, heights, likelihoods, placeOf, termOf, ticksOf, valuesOf } from "./densities.js";
import { densities, remark } from "./ask.js";
import { bar } from "./answer.js";

const AT_ONCE = 50; // columns
const MOST_VALUES = 40;
const MOST_ODDS = 7; // in nats, of a picture

/** What the model says where one cell alone is known. @param {number} j */
const only = (model, j, cell) => scoresOf(model, model.columns.map((_, i) => (i === j ? cell : null)), new Set([...model.columns.keys()].filter((i) => i !== j)));

/** P(c) where one cell alone is known. @param {number} j */
function alone(model, j, value) {
  const scores = only(model, j, value);
  return scores === null ? model.prior : probabilities(model, scores);
}

/** Curves of classes over the values of a column. @param {number} j @param {any} up @param {string} title @param {[number, number[]][]} by a class, and a number for every value */
function curves(model, j, up, title, by) {
  const column = model.columns[j];
  const values = valuesOf(model, j);
  const across = { ends: endsOf(column), name: brief(column.name, 40), ticks: ticksOf(column, 6) };
  return figure(title, plane(across, up, title, (X, Y) => by.map(([c, row]) =>
    path(row.map((v, m) => /** @type {[number, number]} */ ([X(placeOf(column, values[m])), Y(v)])), colour(c)))));
}

/** log of a sum of exponentials of all but one. @param {number[]} scores @param {number} c */
function logOfRest(scores, c) {
  const most = Math.max(...scores.filter((_, e) => e !== c));
  if (most === -Infinity) return most;
  return most + Math.log(scores.reduce((sum, score, e) => (e === c ? sum : sum + Math.exp(score - most)), 0));
}

/** The evidence of one cell for every class against the others, in nats. @returns {number[]} */
export function evidenceOf(model, j, cell) {
  const prior = model.start.map(finite);
  const scores = only(model, j, cell) ?? prior;
  return scores.map((score, c) => score - logOfRest(scores, c) - (prior[c] - logOfRest(prior, c)) || 0);
}

/** Evidence of values for every class, or for the second of two, in nats. @param {number} j */
function evidenceOfValues(model, j, values) {
  const found = values.map((value) => evidenceOf(model, j, value));
  const two = model.outputs.length === 2;
  const classes = model.outputs.map((_, c) => c).slice(two ? 1 : 0, DRAWN_CLASSES);
  const against = two ? `for ${brief(model.outputs[1])}, against ${brief(model.outputs[0])}` : "for every class, against the others";
  return { found, classes, text: `What a value says ${against}, in log-odds: 0.69 is 2 to 1, 2.3 is 10 to 1` };
}

function numbersOf(model, j) {
  const column = model.columns[j];
  const by = likelihoods(model, j, new Array(model.columns.length).fill(null));
  if (by === null) return [el("p", {}, "Its values share their distribution with other columns, so it has no picture of its own.")];
  const values = valuesOf(model, j);
  const classes = model.outputs.map((_, c) => c).slice(0, DRAWN_CLASSES);
  const after = values.map((value) => alone(model, j, value));
  const evidence = evidenceOfValues(model, j, values);
  const sizes = evidence.found.flatMap((one) => evidence.classes.map((c) => Math.abs(one[c]))).filter(Number.isFinite);
  const far = Math.min(MOST_ODDS, Math.ceil(Math.max(1, ...sizes)));
  const drawn = heights(column, values, by.slice(0, DRAWN_CLASSES));
  return [legend(model.outputs, classes), el("div", { class: "charts" },
    curves(model, j, { ends: [0, 1], name: column.at ? "share of rows, its root" : "density", ticks: [] }, "How its values are distributed in every class", classes.map((c) => [c, drawn[c]])),
    curves(model, j, shares("probability"), "Probability of every class if nothing but this value is known", classes.map((c) => [c, after.map((p) => p[c])])),
    curves(model, j, { ends: [-far, far], name: "log-odds" }, evidence.text,
      evidence.classes.map((c) => [c, evidence.found.map((one) => one[c])])))];
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
  figures(`Evidence of values of ${name}`, text, "value", classes.map((c) => model.outputs[c]),
    values.map((value, m) => [String(value), classes.map((c) => signed(found[m][c], 2))]))];
}

/** The words that are most typical of every class. */
const typicalWords = (model, column) => column.words.map(([name, words]) =>
  el("p", {}, key(model.outputs.indexOf(name)), "Most typical of ", el("bdi", {}, brief(name)), ": ", el("bdi", {}, words.join(", "))));

/** An effect, and its interval where that is known. @param {number[]} effect */
function effectIn([adds, low, high]) {
  const written = (/** @type {number} */ value) => signed(value, Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(Math.abs(value) || 1)))));
  return low === undefined ? written(adds) : `${written(adds)} (${written(low)} to ${written(high)})`;
}

/** What an effect is of. */
const perUnit = (column) => ({ date: "one day", time: "one hour" })[column.kind] ?? "one unit";

/** What a unit, or each value, adds in a linear or logistic model, with its interval where that is known. @param {number} j */
function effects(model, j) {
  const { name, values, levels, effects } = model.columns[j];
  const known = effects.some((row) => row.some((one) => one.length > 1));
  const what = model.task !== "classes" ? "the prediction" : known ? `the log-odds against ${brief(model.outputs[0])}` : "the log-odds";
  return [figures(`Effects of ${brief(name, 80)}`, `What it adds to ${what}${known ? ", with its 95 % interval" : ""}`, levels ? "value" : "effect", model.outputs,
    effects.map((row, i) => /** @type {[string, string[]]} */ ([levels ? String(levels[i]) : `${perUnit(model.columns[j])} more adds`, row.map(effectIn)])))];
}

function facts(model, j) {
  const column = model.columns[j];
  const said = remark(model, j);
  const weight = termOf(model, j) ? weightOf(termOf(model, j)) : 1;
  const counted = model.weighted && weight !== 0 ? `What it says is counted ${weight.toFixed(2)} times. ` : "";
  const known = Object.entries(column.parameters ?? {});
  const table = known.length ? [figures(`Parameters of ${brief(column.name, 80)}`, "Parameters in every class", "parameter", model.outputs,
    known.map(([name, by]) => [name, by.map((v) => (typeof v === "string" ? v : numeral(v)))]))] : [];
  const why = column.why ? `It was chosen by the log loss of this column alone: ${column.why}.` : "";
  const text = `${counted}${said ? `${said[0].toUpperCase()}${said.slice(1)}. ` : ""}${why}`;
  return [...(text ? [el("p", {}, text)] : []), ...table];
}

/** One column, that opens. @param {number} j @param {number} most */
function entry(model, j, most) {
  const column = model.columns[j];
  const size = column.bits ?? column.moves;
  const tells = size === undefined ? "" : column.bits === undefined ? numeral(size) : size < 0.005 ? "< 0.01 bits" : `${size.toFixed(2)} bits`;
  const share = size === undefined || !(most > 0) ? 0 : size / most;
  const effect = column.effects?.length === 1 && model.outputs.length <= 2 ? el("span", { class: "effect" }, `${perUnit(column)} more: ${effectIn(column.effects[0][model.outputs.length - 1])}`) : el("span");
  const missing = column.missing >= 0.0005 ? `${percent(column.missing)} missing` : "";
  const made = el("details", { class: "column" }, el("summary", {}, named(column.name), densities(model, j)?.made ?? effect,
    tells ? bar(share, "rest") : el("span"), el("span", { class: "number" }, tells),
    el("span", { class: "quiet" }, [column.family === "coefficient" ? "" : column.family.replaceAll("_", " "), missing].filter(Boolean).join(", "))));
  made.addEventListener("toggle", () => {
    const drawn = column.kind === "text" ? typicalWords(model, column) : !column.unknown ? effects(model, j)
      : isNumeric(column) ? numbersOf(model, j) : valuesTable(model, j);
    made.append(...drawn, ...facts(model, j));
  }, { once: true });
  return made;
}

/** Fill the place of the columns. */
export function showColumns(model, place) {
  const most = Math.max(...model.columns.map((one) => one.bits ?? one.moves ?? 0));
  place.append(el("p", {}, model.columns.some((one) => one.moves !== undefined)
    ? "A bar is how much one standard deviation of the column moves the answer. Open a column to see its coefficients."
    : model.columns.some((one) => one.bits !== undefined) ? "A bar is what a cell of the column is expected to tell of the class, if nothing else is known, in bits. Open a column to see how it looks in every class."
      : "Open a column to see how it looks in every class."));
  const list = el("div");
  const more = el("p", { class: "quiet", role: "status" });
  const draw = () => {
    const found = model.order.filter((j) => model.columns[j].name.toLowerCase().includes(box.value.toLowerCase()));
    list.replaceChildren(...found.slice(0, AT_ONCE).map((j) => entry(model, j, most)));
    const left = found.length - AT_ONCE;
    more.textContent = left > 0 ? `${numeral(left)} more: write a part of their name.` : found.length ? "" : "No column has such a name.";
  };
  const box = el("input", { type: "search", id: "filter", oninput: draw });
  if (model.columns.length > 8) place.append(el("p", { class: "controls switch" }, el("label", { for: "filter" }, "Find a column: "), box));
  place.append(list, more);
  draw();
}
