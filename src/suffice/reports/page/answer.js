// The answer: probabilities or predictions, the ledger they are the sum of, and a sentence.
import { best, illegal, isMissing, isNumeric, ledger, probabilities, scoresOf } from "./score.js";
import { brief, cellText, numeral, odds, percent, signed } from "./format.js";
import { colour, el, key, named, svg } from "./dom.js";
import { gains } from "./gains.js";
import { wordsTable } from "./words.js";

const MOST_CLASSES = 8; // shown one by one
const MOST_LINES = 12; // of a ledger
const NEXT = 3;

/** What an average row adds, where a model needs every cell. */
export const averages = (model) => new Map(model.columns.map((one, j) => [j, one.average]).filter(([, by]) => by));

/** Everything that is said of one row. @param {Map<number, number[]>} average @param {boolean} inShort without what columns add */
export function answerOf(model, x, average, inShort = false) {
  const scores = inShort && model.members ? scoresOf(model, x) : null;
  const found = scores ? { scores, start: scores, columns: new Map() } : ledger(model, x);
  if (found === null) return null;
  const start = found.start.map((v, c) => [...average.values()].reduce((sum, by) => sum + by[c], v));
  const nothing = start.map(() => 0); // of a missing cell, from which values are measured
  const adds = new Map([.../** @type {[number, number[]][]} */ ([...average.keys()].map((j) => [j, nothing])), ...found.columns]);
  const columns = [...adds].map(([j, by]) => ({ column: j, by: by.map((v, c) => v - (average.get(j)?.[c] ?? 0)) }));
  const posterior = model.task === "classes" ? probabilities(model, found.scores) : [];
  const answer = model.task === "classes" ? best(model, found.scores) : 0;
  const against = posterior.reduce((a, _, c) => (c !== answer && (a < 0 || found.scores[c] > found.scores[a]) ? c : a), -1);
  return { start, columns, scores: found.scores, posterior, answer, against };
}

/** A bar from the left. @param {number} share @param {string} kind */
export const bar = (share, kind) => svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
  svg("rect", { class: "track", width: 100, height: 8 }),
  svg("rect", { class: kind, width: Math.max(0, Math.min(100, 100 * share)), height: 8, "stroke-width": 0 }));

/** A bar from where a sum stood to where it stands, in the colour of what it speaks for. */
function step(from, to, low, high, zero, kind) {
  const at = (v) => (100 * (Math.max(low, Math.min(high, v)) - low)) / (high - low || 1);
  const [left, right] = [Math.min(at(from), at(to)), Math.max(at(from), at(to))];
  return svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: at(zero), x2: at(zero), y1: 0, y2: 8, "vector-effect": "non-scaling-stroke" }),
    svg("rect", { class: kind, x: left, y: 1, width: Math.max(right - left, 0.4), height: 6, "stroke-width": 0 }));
}

/** The probabilities side by side, as wide as they are. @param {number[]} shares @param {(c: number) => string} kind */
export function stack(shares, kind) {
  let left = 0;
  return svg("svg", { class: "stack", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...shares.map((share, c) => svg("rect", { class: kind(c), x: (left += share) && 100 * (left - share), width: 100 * share, height: 8, "stroke-width": 0 })));
}

function probabilityTable(model, found) {
  const order = found.posterior.map((_, c) => c).sort((a, b) => found.posterior[b] - found.posterior[a]);
  const stays = model.outputs.length <= MOST_CLASSES;
  const shown = stays ? order.sort((a, b) => a - b) : order.slice(0, MOST_CLASSES);
  const rest = stays ? [] : order.slice(MOST_CLASSES);
  const line = (head, p, kind) =>
    el("tr", {}, el("th", { scope: "row", class: "name-cell" }, ...head), el("td", { class: "bar-cell" }, bar(p, kind)), el("td", { class: "number" }, percent(p)));
  const rows = shown.map((c) => line([el("span", { class: "keyed" }, key(c), named(model.outputs[c]))], found.posterior[c], colour(c)));
  if (rest.length) rows.push(line([`${rest.length} others`], rest.reduce((total, c) => total + found.posterior[c], 0), "rest"));
  return el("table", {}, el("caption", {}, "Probability of every class"), el("tbody", {}, ...rows));
}

function ledgerTable(model, found, x, target) {
  const classes = model.task === "classes";
  const of = (/** @type {number[]} */ by) => {
    if (!classes) return by[target];
    const difference = by[found.answer] - by[found.against];
    return Number.isNaN(difference) ? 0 : difference;
  };
  const lines = found.columns.map((one) => ({ ...one, adds: of(one.by) })).sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const shown = lines.slice(0, MOST_LINES).map((one) => [[named(model.columns[one.column].name)], model.columns[one.column].kind === "text" ? "" : textOf(model, one.column, x[one.column]), one.adds]);
  const rest = lines.slice(MOST_LINES);
  if (rest.length) shown.push([[`${rest.length} other column${rest.length > 1 ? "s" : ""}`], "", rest.reduce((s, o) => s + o.adds, 0)]);
  const start = of(found.start);
  const zero = classes ? 0 : start; // where bars begin
  const points = [zero, start];
  for (const [, , adds] of shown) points.push(points[points.length - 1] + adds);
  const ends = points.filter(Number.isFinite);
  const least = classes ? 0 : Math.abs(start) / 10; // so that what is next to nothing looks like it
  const [low, high] = [Math.min(...ends, zero - least), Math.max(...ends, zero + least)];
  const places = classes ? 2 : placesOf(high - low);
  let sum = start;
  const first = model.columns.some((one) => !one.unknown) ? "average row" : classes ? "before any cell" : "start";
  const kindOf = (/** @type {boolean} */ up) => (classes ? colour(up ? found.answer : found.against) : up ? "more" : "less");
  const row = (head, cell, adds, from, to, kind = "", total = false) =>
    el("tr", { class: kind || undefined }, el("th", { scope: "row", class: "name-cell", colspan: cell ? undefined : 2 }, ...head), ...(cell ? [el("td", { class: cell.length < 12 ? "short" : undefined }, el("bdi", {}, cell))] : []),
      el("td", { class: "bar-cell" }, step(from, to, low, high, zero, kindOf(to >= from))), el("td", { class: "number" }, total && !classes ? numeral(adds, places) : signed(adds, places)));
  const headOf = (/** @type {string} */ name, /** @type {number} */ value) => [classes ? `${name}: ${odds(value)}` : name];
  const body = [row(headOf(first, start), "", start, zero, start, "", true)];
  for (const [head, cell, adds] of shown) { body.push(row(head, cell, adds, sum, sum + adds)); sum += adds; }
  body.push(row(headOf(classes ? "sum" : "prediction", sum), "", sum, zero, sum, "sum", true));
  const keyed = (/** @type {number} */ c) => el("span", { class: "keyed" }, key(c), el("bdi", {}, brief(model.outputs[c])));
  const caption = classes
    ? ["What speaks for ", keyed(found.answer), " (to the right) and for ", keyed(found.against), " (to the left), in log-odds"]
    : ["What every column adds to ", el("bdi", {}, brief(model.outputs[target]))];
  return el("table", {}, el("caption", {}, ...caption), el("tbody", {}, ...body));
}

/** Decimal places that show three digits of a width. @param {number} width */
const placesOf = (width) => Math.max(0, Math.min(12, 2 - Math.floor(Math.log10(width || 1))));

/** A cell as text. @param {number} j */
export function textOf(model, j, cell) {
  if (isMissing(cell)) return "unknown";
  if (typeof cell === "number" && isNumeric(model.columns[j])) return cellText(model.columns[j], cell);
  return brief(String(cell));
}

function sentence(model, found) {
  if (model.task !== "classes") {
    const off = (t) => (model.tested ? ` ± ${numeral(model.tested.targets[t].rmse, placesOf(model.tested.targets[t].rmse) - 1)}` : "");
    return model.outputs.map((name, t) => `${brief(name)}: ${numeral(found.scores[t])}${off(t)}`).join("; ") + ".";
  }
  const says = `${brief(model.outputs[found.answer])}, ${percent(found.posterior[found.answer])}.`;
  if (found.against < 0 || !found.columns.length) return `${says} Nothing is known of the row yet.`;
  const adds = found.columns.map((one) => ({ name: brief(model.columns[one.column].name), by: one.by[found.answer] - one.by[found.against] }))
    .filter((one) => Number.isFinite(one.by));
  const most = adds.reduce((a, b) => (b.by > (a?.by ?? 0.2) ? b : a), null);
  const least = adds.reduce((a, b) => (b.by < (a?.by ?? -0.2) ? b : a), null);
  const how = least && most && -least.by > most.by / 2 ? "strongly" : "slightly";
  return says + (most ? ` Mostly because of ${most.name}.` : "") + (least ? ` ${least.name} speaks ${how} against it.` : "");
}

function nextTable(model, x, found) {
  const asked = gains(model, x, found.posterior).slice(0, NEXT).filter((one) => one.bits > 0.0005);
  if (!asked.length) return [];
  const most = Math.max(...asked.map((one) => one.bits));
  return [el("table", { class: "next" }, el("caption", {}, "What to find out next: expected information, in bits"),
    el("tbody", {}, ...asked.map((one) => el("tr", {}, el("th", { scope: "row", class: "name-cell" }, named(model.columns[one.column].name)),
      el("td", { class: "bar-cell" }, bar(one.bits / most, "rest")), el("td", { class: "number" }, one.bits.toFixed(2))))))];
}

/** Why there is no answer. */
function refusal(model, x) {
  for (const [j, column] of model.columns.entries()) {
    if (!column.unknown && !column.lacking && isMissing(x[j])) return `No answer: this model needs ${brief(column.name)}.`;
    const why = illegal(column, x[j]);
    if (why) return `No answer: ${brief(column.name)} is ${textOf(model, j, x[j])}, ${why}.`;
  }
  return "No answer: a value was never seen in training, and this model refuses it.";
}

/** Write the answer into the page. */
export function showAnswer(model, x, view) {
  const found = answerOf(model, x, view.average);
  const words = found === null ? refusal(model, x) : sentence(model, found);
  if (view.sentence.textContent !== words) view.sentence.textContent = words;
  if (found === null) { view.body.replaceChildren(); view.stack.replaceChildren(); return; }
  const parts = [];
  if (model.task === "classes") {
    view.stack.replaceChildren(stack(found.posterior, colour));
    parts.push(probabilityTable(model, found));
    if (found.against >= 0 && found.columns.length) parts.push(...wordsTable(model, x, found), ledgerTable(model, found, x, 0));
    parts.push(...nextTable(model, x, found));
  } else {
    if (model.tested) parts.push(el("p", { class: "quiet" }, "± is the typical error on the test rows (root mean square)."));
    for (let t = 0; t < Math.min(model.outputs.length, MOST_CLASSES); t++) parts.push(ledgerTable(model, found, x, t));
  }
  view.body.replaceChildren(...parts);
}
