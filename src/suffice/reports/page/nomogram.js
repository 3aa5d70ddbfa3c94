// The nomogram: points of every value, their total and the answer, for paper and a ruler.
import { added, isCount, isNumeric, isTime, ledger, valueOfTerm } from "./score.js";
import { isWhole, termOf, ticksOf, valuesOf } from "./densities.js";
import { brief, cellText, numeral, roundNumbers, roundTimes } from "./format.js";
import { el, svg } from "./dom.js";

const MOST_SCALES = 14; // that fill a page of A4, with those of points, total and answer
const CANDIDATES = 100; // the most telling columns, among which the widest scales are chosen
const MOST_NAMES = 12; // of values, or bins, of a scale
const [WIDTH, ROW, LEFT, RIGHT, LETTER] = [720, 50, 168, 690, 5.4]; // pixels; a letter at 10 px
const OUTSIDE = 14; // pixels that a name may stand left of its scale
const LEVELS = [5, 16]; // above a line, or below it, where names stand
const LEAST_POINTS = 0.5; // of a column that is drawn
const PROBABILITIES = [0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.3, 0.7, 0.2, 0.8, 0.05, 0.95, 0.4, 0.6]; // those first that have to be named

/** Whether classes share one covariance, so that log-odds are linear. */
const isLinear = (term) => term.covariance?.length === 1;

/** Why a model has no nomogram, or "". */
export function whyNone(model) {
  if (model.members) return "This model has no nomogram: what a column adds depends on the others.";
  if (model.terms.some((term) => term.columns.length > 1 && !isLinear(term))) {
    return "This model has no nomogram: it looks at columns together, so that no column has points of its own.";
  }
  return model.task === "classes" && model.outputs.length < 2 ? "This model has no nomogram: it has one class." : "";
}

/** Start and additions of linear log-odds, from the average row. @param {number} a @param {number} b */
function linearSums(model, term, a, b) {
  const w = term.linear[a].map((one, i) => one - term.linear[b][i]);
  const average = w.map((_, i) => model.prior.reduce((sum, p, c) => sum + p * term.mean[c][i], 0));
  const start = w.reduce((sum, one, i) => sum + one * (average[i] - (term.mean[a][i] + term.mean[b][i]) / 2), model.start[a] - model.start[b]);
  const moved = (i, value, j) => (valueOfTerm(term, i, value, j) ?? average[i]) - average[i];
  const adds = (j, value) => term.places.reduce((sum, place, i) => (place === j ? sum + w[i] * moved(i, value, j) : sum), 0);
  return { start, adds };
}

/** Start and additions of columns that are counted one by one. @param {number} a @param {number} b */
function singleSums(model, a, b) {
  const of = (/** @type {number[]} */ by) => (model.task === "classes" ? by[a] - by[b] : by[a]);
  const nothing = new Array(model.columns.length).fill(null);
  const found = ledger({ ...model, terms: model.terms.filter((one) => !one.columns.length) }, nothing);
  const terms = new Map();
  for (const term of model.terms) if (term.columns.length) terms.set(term.columns[0], [...(terms.get(term.columns[0]) ?? []), term]);
  const adds = (j, value) => {
    const x = nothing.map((_, i) => (i === j ? value : null));
    let sum = 0;
    for (const term of terms.get(j) ?? []) for (const [, by] of added(model, term, x) ?? []) sum += of(by);
    return sum;
  };
  return { start: of(/** @type {any} */ (found).scores), adds };
}

/** An answer as a sum: a start, and what every value of every column adds, the widest columns first. The sum is the log-odds of class a against b, or prediction a. */
export function sumsOf(model, a, b) {
  const joint = model.terms.find(isLinear);
  const { start, adds: addsOf } = joint ? linearSums(model, joint, a, b) : singleSums(model, a, b);
  const [columns, leftOut] = [/** @type {any[]} */ ([]), /** @type {number[]} */ ([])];
  for (const j of model.order.slice(0, CANDIDATES)) {
    const values = valuesOf(model, j);
    if (!values.length) { leftOut.push(j); continue; }
    const adds = values.map((value) => addsOf(j, value));
    const unknown = Boolean(model.columns[j].unknown || model.columns[j].lacking) && !joint;
    const ends = [...adds, ...(unknown ? [0] : [])];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    if (high > low) columns.push({ column: j, values, adds, unknown, low, high, at: (value) => addsOf(j, value) });
  }
  columns.sort((one, two) => two.high - two.low - (one.high - one.low));
  return { start, columns, leftOut: [...leftOut, ...model.order.slice(CANDIDATES)] };
}

/** What is drawn: s points to a nat or unit, so that the widest column has 100, and what a total of all of them says. */
export function pointsOf(sums) {
  const scale = 100 / (sums.columns[0].high - sums.columns[0].low);
  const shown = sums.columns.slice(0, MOST_SCALES).filter((one) => scale * (one.high - one.low) >= LEAST_POINTS);
  const least = shown.reduce((sum, one) => sum + one.low, sums.start);
  return { shown, scale, least, most: shown.reduce((sum, one) => sum + scale * (one.high - one.low), 0) };
}

/** A number between others. @param {number} x @param {number[]} xs @param {number[]} ys */
function between(x, xs, ys) {
  const i = Math.min(Math.max(xs.findIndex((one) => one >= x), 1), xs.length - 1);
  return ys[i - 1] + ((ys[i] - ys[i - 1]) * (x - xs[i - 1])) / (xs[i] - xs[i - 1]);
}

/** Where bins of a density begin, if it has few; else null. */
function edgesOf(model, one) {
  const { starts } = termOf(model, one.column);
  if (!starts) return null;
  const [first, last] = [one.values[0], one.values[one.values.length - 1]];
  const inside = starts.filter((edge) => edge > first && edge <= last).map((edge, i, all) => ({ edge, before: one.at(all[i - 1] ?? first), after: one.at(edge) }));
  const jumps = inside.filter((edge) => edge.before !== edge.after);
  return jumps.length >= MOST_NAMES || jumps.length >= one.adds.length / 8 ? null : jumps;
}

/** The marks of a column: what it adds, a name, and whether that grows with the value. @returns {{adds: number, name: string, rising: boolean}[]} */
function marksOf(model, one) {
  const column = model.columns[one.column];
  const marks = [];
  if (!isNumeric(column)) {
    const order = one.values.map((_, i) => i).sort((i, j) => one.adds[i] - one.adds[j]);
    const kept = order.length <= MOST_NAMES ? order : Array.from({ length: MOST_NAMES }, (_, i) => order[Math.round((i * (order.length - 1)) / (MOST_NAMES - 1))]);
    for (const i of kept) marks.push({ adds: one.adds[i], name: brief(String(one.values[i]), 20), rising: true });
  } else {
    const edges = isCount(column) ? null : edgesOf(model, one);
    if (edges) {
      const names = edges.map((edge) => cellText(column, edge.edge));
      marks.push({ adds: one.adds[0], name: names.length ? `below ${names[0]}` : "any", rising: true });
      edges.forEach((edge, i) => marks.push({ adds: edge.after, name: i + 1 < names.length ? `${names[i]} to ${names[i + 1]}` : `from ${names[i]}`, rising: true }));
    } else {
      const last = one.values.length - 1;
      const step = Math.min(...one.values.slice(1).map((value, i) => value - one.values[i]));
      const [first, final] = [one.values[0], one.values[last]];
      const marked = column.at ? ticksOf(column, 8).map(([v, name]) => /** @type {[number, string]} */ ([one.values[v], name]))
        : isTime(column) ? roundTimes(column, first, final, 8) : roundNumbers(first, final, 8, isWhole(column)).map((v) => /** @type {[number, string]} */ ([v, numeral(v)]));
      for (const [value, name] of marked) {
        const [left, right] = [value - step, value + step].map((v) => between(v, one.values, one.adds));
        marks.push({ adds: between(value, one.values, one.adds), name, rising: right >= left });
      }
    }
  }
  if (one.unknown) marks.push({ adds: 0, name: "unknown", rising: false });
  return marks;
}

/** Points from the left of the picture. @param {number} points */
const across = (points) => LEFT + ((RIGHT - LEFT) * points) / 100;

/** One scale: a line, marks and their names, or a list beside it where names do not fit. @param {number} row @param {string} title
 * @param {{at: number, name: string, rising: boolean}[]} marks in points @param {number} end of the line, in points */
function scaleOf(row, title, marks, end) {
  const y = ROW * (row + 0.6);
  const parts = [svg("text", { x: 0, y: y + 4, class: "scale-name" }, svg("title", {}, title), brief(title, 23)),
    svg("line", { class: "axis", x1: across(0), x2: across(end), y1: y, y2: y })];
  /** @type {Record<string, [number, number][]>} */
  const taken = {};
  const placed = marks.map((mark) => {
    const half = (LETTER * (mark.name.length + 1)) / 2;
    const x = Math.max(LEFT - OUTSIDE + half, Math.min(WIDTH - half, across(mark.at))); // of the name
    const level = LEVELS.findIndex((_, i) => (taken[`${mark.rising}${i}`] ?? []).every(([left, right]) => right <= x - half || left >= x + half));
    if (level >= 0) (taken[`${mark.rising}${level}`] ??= []).push([x - half, x + half]);
    return { ...mark, level, x };
  });
  for (const mark of placed) parts.push(svg("line", { class: "axis", x1: across(mark.at), x2: across(mark.at), y1: y, y2: mark.rising ? y - 4 : y + 4 }));
  const room = Math.floor((RIGHT - across(end) - 12) / LETTER);
  if (placed.some((mark) => mark.level < 0) && room > 40) {
    const lines = [""];
    for (const mark of placed.sort((one, two) => one.at - two.at)) {
      const text = `${mark.name}: ${Math.round(mark.at)}`;
      if (lines[lines.length - 1].length + text.length + 2 > room) lines.push("");
      lines[lines.length - 1] += `${lines[lines.length - 1] ? ", " : ""}${text}`;
    }
    lines.slice(0, 3).forEach((text, i) => parts.push(svg("text", { x: across(end) + 10, y: y + 4 + 12 * (i - (Math.min(lines.length, 3) - 1) / 2) }, text)));
    return parts;
  }
  for (const mark of placed) {
    if (mark.level < 0) continue;
    const shift = LEVELS[mark.level];
    parts.push(svg("text", { x: mark.x, y: mark.rising ? y - shift : y + shift + 8, "text-anchor": "middle" }, mark.name));
  }
  return parts;
}

/** The picture. @param {number} a @param {number} b */
function drawn(model, a, b) {
  const sums = sumsOf(model, a, b);
  if (!sums.columns.length) return [el("p", {}, "No column says anything that a scale shows.")];
  if (sums.columns.some((one) => !Number.isFinite(one.high - one.low))) {
    return [el("p", {}, "A value is impossible in one of these classes, so it has no number of points.")];
  }
  const { shown, scale, least, most } = pointsOf(sums);
  const classes = model.task === "classes";
  const plain = (/** @type {number[]} */ at, /** @type {string[]} */ names) => at.map((one, i) => ({ at: one, name: names[i], rising: true }));
  const [rows, tens] = [shown.length + 3, Array.from({ length: 11 }, (_, i) => 10 * i)];
  const answerOf = (total) => least + total / scale;
  const totalOf = (answer) => scale * (answer - least);
  // Totals of probabilities below 0.001 and above 0.999 need no room.
  const sure = Math.log(0.999) - Math.log(0.001);
  const margin = classes ? scale * sure / 20 : 0;
  const ends = classes ? [Math.max(0, totalOf(-sure) - margin), Math.min(most, totalOf(sure) + margin)] : [0, most];
  const [from, to] = ends[0] < ends[1] ? ends : [0, most];
  const place = (total) => (100 * (total - from)) / (to - from);
  const totals = roundNumbers(from, to, 10, false);
  const answers = classes ? PROBABILITIES.map((p) => Math.log(p) - Math.log1p(-p)) : roundNumbers(answerOf(0), answerOf(most), 10, false);
  const names = classes ? PROBABILITIES.map(String) : answers.map((one) => numeral(one));
  const kept = answers.map((_, i) => i).filter((i) => totalOf(answers[i]) >= from && totalOf(answers[i]) <= to);
  const last = classes ? `P(${brief(model.outputs[a], 14)})${model.outputs.length > 2 ? ", of the two" : ""}` : model.outputs[a];
  const made = svg("svg", { class: "nomogram", viewBox: `0 0 ${WIDTH} ${ROW * rows}`, role: "img",
    "aria-label": "Nomogram: a scale of points for every column, one of the total, and one of the answer" },
    ...tens.map((at) => svg("line", { class: "grid", x1: across(at), x2: across(at), y1: ROW * 0.6, y2: ROW * (rows - 2.6) })),
    ...scaleOf(0, "points", plain(tens, tens.map(String)), 100),
    ...shown.flatMap((one, i) => scaleOf(i + 1, model.columns[one.column].name,
      marksOf(model, one).map((mark) => ({ ...mark, at: scale * (mark.adds - one.low) })), scale * (one.high - one.low))),
    ...scaleOf(rows - 2, "total", plain(totals.map(place), totals.map((one) => numeral(one))), 100),
    ...scaleOf(rows - 1, last, plain(kept.map((i) => place(totalOf(answers[i]))), kept.map((i) => names[i])), 100));
  const [hidden, how] = [sums.columns.length - shown.length + sums.leftOut.length, shown.some((one) => one.unknown) ? "unknown" : "at their average"];
  const notes = [hidden ? `More columns that add little, or have no scale, and are taken as ${how}: ${numeral(hidden)}.` : "",
    shown.some((one) => !isNumeric(model.columns[one.column]) && one.values.length > MOST_NAMES) ? `Of a column with more values, ${MOST_NAMES} are shown.` : "",
    how === "unknown" || model.tested ? "" : "The model knows means and standard deviations of its columns, not where they end: scales may go too far.",
    from > 0 ? "A total below the scale means less than 0.1 %." : "",
    to < most ? "A total above it means more than 99.9 %." : "",
  ].filter(Boolean).join(" ");
  const note = notes ? [el("p", { class: "quiet" }, notes)] : [];
  return [el("div", { class: "nomogram-frame", tabindex: "0", role: "region", "aria-label": "Nomogram" }, made), ...note];
}

/** Fill the place of the nomogram. */
export function showNomogram(model, place) {
  const why = whyNone(model);
  if (why) { place.append(el("p", { class: "controls" }, why)); return; }
  const body = el("div");
  const order = model.outputs.map((_, c) => c);
  if (model.task === "classes") order.sort((c, d) => model.prior[d] - model.prior[c]);
  const title = el("p");
  const [one, two] = ["for", "against"].map((said, i) => el("select", { "aria-label": `Points speak ${said}`, onchange: () => draw() },
    ...order.map((c) => el("option", { value: String(c), selected: c === order[i] }, brief(model.outputs[c], 40)))));
  function draw() {
    const [a, b] = [Number(one.value), Number(two.value)];
    title.textContent = model.task === "classes"
      ? `Points for ${brief(model.outputs[a], 40)}, against ${brief(model.outputs[b], 40)}. Find each value on its scale, and its points above it; a value that stands below a line adds less the larger it is. Add the points up: below their total stands the probability.`
      : `Find each value on its scale, and its points above it. Add the points up: below their total stands ${brief(model.outputs[a], 40)}.`;
    body.replaceChildren(...(model.task === "classes" && a === b ? [el("p", {}, "Choose two classes.")] : drawn(model, a, b)));
  }
  if (model.outputs.length > 1) {
    place.append(el("p", { class: "controls switch" }, model.task === "classes" ? "Points for " : "Points of ", one, ...(model.task === "classes" ? [" against ", two] : [])));
  }
  place.append(title, body);
  draw();
}
