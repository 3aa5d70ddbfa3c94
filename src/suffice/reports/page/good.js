// How good the model is on test data: the verdict as a picture, and what moves with a threshold.
import { count, numeral, percent } from "./format.js";
import { colour, el, figures, named, svg, wideTable } from "./dom.js";
import { figure, legend, path, plane, shares } from "./chart.js";
import { bar, stack } from "./answer.js";

const [WORTH, TENTHS] = [6, 20]; // columns of a verdict without a test; bars of a histogram
const [MOST_BESIDE, MOST_CELLS] = [6, 12]; // classes of a confusion table beside a picture, and on a page: of more, a row for each

/** Where a class stands in the model; −1 of a label that it does not know. @param {string} label */
const classAt = (model, label) => model.outputs.indexOf(label);

const orDash = (/** @type {number | null} */ share) => (share === null || Number.isNaN(share) ? "–" : percent(share));

/** Answers to the rows of every class, each as wide as its share. */
function answersByTruth(model, { labels, confusion }) {
  const rows = confusion.map((/** @type {number[]} */ row, i) => ({ row, i, n: row.reduce((a, b) => a + b, 0) })).filter((one) => one.n > 0);
  return wideTable("Answers to the rows of every class", el("caption", {}, "Answers to the test rows of each class, in the colours of the answers"),
    el("tbody", {}, ...rows.map(({ row, i, n }) => el("tr", {}, el("th", { scope: "row" }, named(labels[i])),
      el("td", { class: "stack-cell" }, stack(row.map((one) => one / n), (c) => colour(classAt(model, labels[c])))), el("td", { class: "number" }, `${percent(row[i] / n)} of ${count(n)} right`)))));
}

/** Recall of the classes with the most errors, where there are too many for a table of all. */
const worst = (model, { classes }) => wideTable("Recall by class", el("caption", {}, `Share of the rows of a class that get it: the ${classes.length} classes with the most errors`),
  el("tbody", {}, ...classes.map((one) => el("tr", {}, el("th", { scope: "row" }, named(one.label)),
    el("td", { class: "stack-cell" }, bar(one.recall ?? 0, colour(classAt(model, one.label)))), el("td", { class: "number" }, orDash(one.recall))))));

/** Truth by answer, and a line where they are equal. */
function truthByAnswer({ target, points }) {
  const ends = [Math.min(...points.flat()), Math.max(...points.flat())];
  const title = "Test rows: what is true, by the prediction; on the line they are equal";
  return figure(title, plane({ ends, name: `predicted ${target.slice(0, 30)}` }, { ends, name: `true ${target.slice(0, 30)}` }, title, (X, Y) => [
    path([[X(ends[0]), Y(ends[0])], [X(ends[1]), Y(ends[1])]], "line"), ...points.map(([x, y]) => svg("circle", { cx: X(x).toFixed(1), cy: Y(y).toFixed(1), r: 2 }))]));
}

/** The picture of the verdict; without test data, of what the model goes by. */
export function showVerdict(model, place) {
  const good = model.tested;
  if (good?.targets) place.append(truthByAnswer(good.targets[0]));
  else if (good) place.append(good.confusion.length ? answersByTruth(model, good) : worst(model, good));
  else {
    const tells = (one) => one.bits ?? one.moves ?? 0;
    const shown = model.order.slice(0, WORTH).map((j) => model.columns[j]).filter((one) => tells(one) > 0);
    if (shown.length) {
      place.append(wideTable("The columns that it goes by", el("caption", {}, "The columns that it goes by most"), el("tbody", {}, ...shown.map((one) => el("tr", {},
        el("th", { scope: "row" }, named(one.name)), el("td", { class: "stack-cell" }, bar(tells(one) / tells(shown[0]), "rest")))))));
    }
  }
}

/** Rows at and below every cut: sides[i] of them are in bin i. @param {number[][]} sides of either class @returns {number[][]} */
function sumsBelow(sides) {
  const sums = [[0, 0]];
  for (const [zero, one] of sides) sums.push([sums[sums.length - 1][0] + zero, sums[sums.length - 1][1] + one]);
  return sums;
}

/** What follows from answering `positive` on its side of cut i. @param {number[][]} sums of `sumsBelow` @param {number} i @param {number} positive */
export function atCut(sums, i, positive) {
  const all = sums[sums.length - 1];
  const table = [0, 1].map((truth) => [sums[i][truth], all[truth] - sums[i][truth]]); // by truth, and by answer
  const negative = 1 - positive;
  const [found, missed, alarms, spared] = [table[positive][positive], table[positive][negative], table[negative][positive], table[negative][negative]];
  return { table, found, missed, alarms, recall: found / (found + missed), precision: found / (found + alarms), falls: alarms / (alarms + spared), error: (missed + alarms) / (all[0] + all[1]) };
}

/** The threshold of two classes, and all that moves with it. @param {any[]} more pictures */
function threshold(model, { curve, labels, rows }, more) {
  const sums = sumsBelow(curve.sides);
  const last = sums.length - 1;
  const totals = sums[last];
  let positive = Number(totals[1] <= totals[0]); // the rarer class
  let cut = curve.half;
  const named2 = (/** @type {number} */ c) => labels[c].slice(0, 40);
  const number = (/** @type {string} */ id) => el("input", { type: "text", inputmode: "decimal", id, value: "1", oninput: () => draw() });
  const [missCost, alarmCost] = [number("cost-miss"), number("cost-alarm")];
  const choice = el("select", { id: "positive", onchange: () => { positive = Number(choice.value); draw(); } },
    ...labels.map((label, c) => el("option", { value: String(c), selected: c === positive }, label)));
  const slider = el("input", { type: "range", id: "threshold", min: 0, max: last, step: 1, oninput: () => { cut = placed(Number(slider.value)); draw(); } });
  const placed = (/** @type {number} */ v) => (positive === 1 ? v : last - v); // the further right, the surer
  const chance = (/** @type {number} */ i) => (positive === 1 ? curve.cuts[i] : 1 - curve.cuts[i]);
  const [shown, missLabel, alarmLabel] = [el("strong"), el("label", { for: "cost-miss" }), el("label", { for: "cost-alarm" })];
  const [pictures, table, said] = [el("div"), el("div"), el("p", { role: "status", "aria-live": "polite", id: "at-threshold" })];
  const cheapest = el("button", { type: "button", onclick: () => { cut = least(); draw(); } }, "Least cost");
  const costs = () => [missCost, alarmCost].map((box) => Math.max(0, Number(box.value.replace(",", ".")) || 0));
  const costAt = (/** @type {number} */ i) => {
    const [miss, alarm] = costs();
    const at = atCut(sums, i, positive);
    return (miss * at.missed + alarm * at.alarms) / rows;
  };
  const least = () => sums.map((_, i) => costAt(i)).reduce((best, cost, i, all) => (cost < all[best] ? i : best), 0);

  function draw() {
    const at = atCut(sums, cut, positive);
    const [yes, no] = [named2(positive), named2(1 - positive)];
    slider.value = String(placed(cut));
    slider.setAttribute("aria-valuetext", percent(chance(cut)));
    shown.textContent = percent(chance(cut));
    missLabel.textContent = `A missed ${yes} costs`;
    alarmLabel.textContent = `a false ${yes} costs`;
    said.textContent = `It finds ${count(at.found)} of ${count(totals[positive])} ${yes} (recall ${orDash(at.recall)}); ${count(at.found)} of ${count(at.found + at.alarms)} answers ${yes} are right (precision ${orDash(at.precision)}); `
      + `${orDash(at.falls)} of ${no} are false alarms. Errors: ${orDash(at.error)}. Cost: ${numeral(costAt(cut))} a row.`;
    table.replaceChildren(confusionTable(model, labels, at.table));
    const every = sums.map((_, i) => atCut(sums, i, positive));
    const dot = (x, y) => svg("circle", { class: "now", cx: x, cy: y, r: 5 });
    const sure = every.filter((one) => one.found + one.alarms > 0);
    const top = Math.max(...every.map((_, i) => costAt(i)), 1e-9);
    const [zeros, ones] = [0, 1].map((c) => histogram(curve, c, totals[c], positive));
    const high = Math.max(...zeros, ...ones);
    pictures.replaceChildren(
      figure(`Test rows by their probability of ${yes}; the line is the threshold`, legend(labels, [0, 1]), plane(shares(`probability of ${yes}`), { ends: [0, high], name: "share of the class", places: shares("").places }, "Histogram of probabilities", (X, Y) => [
        ...[zeros, ones].map((of, c) => svg("path", { class: `curve ${colour(classAt(model, labels[c]))}`, d: `M${X(0)},${Y(0)}${of.map((v, b) => `V${Y(v).toFixed(1)}H${X((b + 1) / TENTHS).toFixed(1)}`).join("")}V${Y(0)}Z` })),
        svg("line", { class: "here", x1: X(chance(cut)), x2: X(chance(cut)), y1: Y(0), y2: Y(high) })])),
      figure(`ROC curve, area ${curve.area === null ? "unknown" : curve.area.toFixed(3)}`, plane(shares(`false alarms, of ${no}`), shares(`found, of ${yes}`), "ROC curve", (X, Y) => [
        path([[X(0), Y(0)], [X(1), Y(1)]], "line"), path(every.map((one) => [X(one.falls), Y(one.recall)]), "ink"), dot(X(at.falls), Y(at.recall))])),
      figure(`Precision by recall, average ${curve.precision[positive] === null ? "unknown" : curve.precision[positive].toFixed(3)}`, plane(shares(`recall: found, of ${yes}`), shares("precision: right"), "Precision by recall", (X, Y) => [
        path([[X(0), Y(totals[positive] / rows)], [X(1), Y(totals[positive] / rows)]], "line"), path(sure.map((one) => [X(one.recall), Y(one.precision)]), "ink"),
        ...(at.found + at.alarms > 0 ? [dot(X(at.recall), Y(at.precision))] : [])])),
      figure("Cost of a row by threshold", plane(shares(`threshold of ${yes}`), { ends: [0, top], name: "mean cost" }, "Cost by threshold", (X, Y) => [
        path(every.map((_, i) => [X(chance(i)), Y(costAt(i))]), "ink"), dot(X(chance(cut)), Y(costAt(cut)))])));
  }
  draw();
  return el("div", { class: "threshold" }, el("h3", {}, "Where to draw the line"),
    el("p", { class: "switch controls" }, el("label", { for: "positive" }, "Answer"), choice, el("label", { for: "threshold" }, "from a probability of"), shown, slider),
    el("p", { class: "switch controls" }, missLabel, missCost, alarmLabel, alarmCost, cheapest),
    el("div", { class: "charts" }, el("div", { class: "moving" }, table, said), pictures, ...more));
}

/** Shares of a class by probability of the positive one. @param {number} c @param {number} total @param {number} positive */
function histogram({ cuts, sides }, c, total, positive) {
  const bars = new Array(TENTHS).fill(0);
  sides.forEach((/** @type {number[]} */ side, i) => {
    const middle = (cuts[i] + cuts[i + 1]) / 2;
    bars[Math.min(TENTHS - 1, Math.floor(TENTHS * (positive === 1 ? middle : 1 - middle)))] += side[c] / (total || 1);
  });
  return bars;
}

/** Rows by true class and answer. @param {string[]} labels @param {number[][]} table */
function confusionTable(model, labels, table) {
  const cell = (/** @type {number} */ n, /** @type {number} */ all, c, right) => el("td", { class: right ? "number right" : "number" }, `${count(n)} `,
    el("small", {}, all > 0 ? `${Math.round((100 * n) / all)} %` : "–"), bar(all > 0 ? n / all : 0, colour(classAt(model, labels[c]))));
  return wideTable("True class and answer", el("caption", {}, "True class (down) and answer (across), with its share of the true class"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "true class"), ...labels.map((label) => el("th", { scope: "col", class: "number" }, named(label))))),
    el("tbody", {}, ...table.map((row, i) => el("tr", {}, el("th", { scope: "row" }, named(labels[i])),
      ...row.map((n, c) => cell(n, row.reduce((a, b) => a + b, 0), c, c === i))))));
}

/** Whether the probabilities are right. */
function calibration({ tenths, log_loss, brier, gap }) {
  const title = "Are its probabilities right? Share of right answers, with 95 % interval, by probability of the answer";
  return figure(title, plane(shares("probability of the answer"), shares("answer is right"), title, (X, Y) => [path([[X(0), Y(0)], [X(1), Y(1)]], "line"),
    ...tenths.flatMap(([, , mean, right, low, high]) => [path([[X(mean), Y(low)], [X(mean), Y(high)]], "ink"), svg("circle", { class: "now", cx: X(mean), cy: Y(right), r: 4 })])]),
  el("p", { class: "quiet" }, `Log loss ${log_loss === null ? "∞" : numeral(log_loss)} nats, Brier score ${numeral(brier)} (0 is perfect), mean gap between probability and share of right answers ${percent(gap)}.`));
}

const tenthsTable = ({ tenths }) => figures("Calibration", "Rows by the probability of the answer", "probability", ["rows", "mean probability", "answer is right", "95 % interval"],
  tenths.map(([from, rows, mean, right, low, high]) => [`${Math.round(100 * from)} to ${Math.round(100 * from) + 10} %`, [count(rows), percent(mean), percent(right), `${percent(low)} to ${percent(high)}`]]));

function byClass({ classes }) {
  const mistaken = (/** @type {[string, number] | null} */ one) => (one ? el("bdi", {}, `${one[0]} (${count(one[1])})`) : "");
  return figures("By class", "Recall: share of the rows of a class that get it. Precision: share of the answers that are right", "class", ["rows", "recall", "precision", "most often mistaken for"],
    classes.map((one) => [one.label, [count(one.rows), orDash(one.recall), orDash(one.precision), mistaken(one.mistaken)]]));
}

/** Errors of a predicted number. */
function ofTarget(one, several) {
  const title = "Test rows: truth less prediction, by the prediction; on the line there is no error";
  const [x, y] = [one.points.map((/** @type {number[]} */ p) => p[0]), one.points.map((/** @type {number[]} */ p) => p[1] - p[0])];
  const ends = (/** @type {number[]} */ of) => [Math.min(...of), Math.max(...of)];
  const facts = [["Typical error (root mean square)", numeral(one.rmse)], ["… of always answering the mean", numeral(one.baseline)], ["R²", `${one.explained} (1 is perfect, 0 no better than the mean)`],
    ["Mean size of an error", numeral(one.mae)], ["Truth less prediction, mean", numeral(one.bias)]];
  return [...(several ? [el("h3", {}, el("bdi", {}, one.target))] : []), el("div", { class: "charts" }, el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    ...(several ? [truthByAnswer(one)] : []), figure(title, plane({ ends: ends(x), name: `predicted ${one.target.slice(0, 30)}` }, { ends: ends([0, ...y]), name: "truth less prediction" }, title, (X, Y) => [
      path([[X(ends(x)[0]), Y(0)], [X(ends(x)[1]), Y(0)]], "line"), ...x.map((v, i) => svg("circle", { cx: X(v).toFixed(1), cy: Y(y[i]).toFixed(1), r: 2 }))])))];
}

/** Fill the place of the evaluation. */
export function showGood(model, place) {
  const good = model.tested;
  if (good.targets) { place.append(...good.targets.flatMap((one) => ofTarget(one, good.targets.length > 1))); return; }
  const two = good.curve && good.labels.every((label, c) => label === model.outputs[c]) && model.outputs.length === 2;
  if (two) place.append(threshold(model, good, [calibration(good)]));
  else if (good.labels.length && good.labels.length <= MOST_CELLS) place.append(el("div", { class: good.labels.length > MOST_BESIDE ? undefined : "pairs" }, confusionTable(model, good.labels, good.confusion), calibration(good)));
  else place.append(calibration(good));
  place.append(el("details", { open: !two && good.labels.length > 3 }, el("summary", {}, "Recall, precision and calibration as numbers"), el("div", { class: "pairs" }, byClass(good), tenthsTable(good))));
}
