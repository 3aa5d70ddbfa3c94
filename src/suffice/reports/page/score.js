// The answers of the model: log joints of classes, or predictions, as Python computes them.

/**
 * @typedef {{columns: number[], missing?: string, by_output?: any[], values?: any[], starts?: number[], table?: any[][], others?: any,
 *   mean?: number[][], origin?: number[], covariance?: number[][], linear?: number[][], places?: number[], levels?: any[],
 *   known?: Record<number, any[]>, weight?: number, words?: string[], left_out?: number, hidden?: number[] | null, pairs?: any}} Term
 * @typedef {{share: number, start: any[], prior: number[], terms: Term[]}} Member
 * @typedef {{task: string, outputs: string[], start: any[], prior: number[], fallback: number, columns: any[], terms: Term[], members?: Member[]}} Model
 * @typedef {any[]} Cells  A cell for every column; null is missing.
 */

export const LARGEST = 1e150; // Python refuses larger numbers
const LEAST_PIVOT = 2 ** -44; // a column that others determine says nothing
const LOG_2PI = Math.log(2 * Math.PI);

export const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);

/** Whether the cells of a column are numbers. */
export const isNumeric = (column) => ["number", "count", "whole", "date", "time"].includes(column.kind);

/** Whether the numbers of a column are seconds of dates, or of times of day. */
export const isTime = (column) => column.kind === "date" || column.kind === "time";

/** Whether the cells of a column are counts. */
export const isCount = (column) => column.kind === "count" || column.kind === "whole";

/** A number of the model: JSON has none for minus infinity. @param {any} number */
export const finite = (number) => (number === "impossible" ? -Infinity : Number(number));

const keyOf = (cell) => (typeof cell === "boolean" ? Number(cell) : cell);

/** The bin of a number, from where the bins after the first start. @param {number[]} starts @param {number} x */
export const binOf = (starts, x) => starts.filter((start) => start <= x).length;

/** The value of a tree; NaN of a cell that the model refuses. @param {any} tree @param {Cells} x @returns {number} */
function valueOf(tree, x) {
  if (typeof tree !== "object") return finite(tree);
  const [name] = Object.keys(tree);
  const of = tree[name];
  switch (name) {
    case "cell": return x[of];
    case "sum": return of.reduce((sum, one) => sum + valueOf(one, x), 0);
    case "product": return valueOf(of[0], x) * valueOf(of[1], x);
    case "quotient": return valueOf(of[0], x) / valueOf(of[1], x);
    case "square": return valueOf(of, x) ** 2;
    case "log": return Math.log(valueOf(of, x));
    case "log1p": return Math.log1p(valueOf(of, x));
    default: throw new Error(`no operation ${name}`);
  }
}

/** Why a cell cannot be read, or "". @param {{kind: string, name: string}} column */
export function illegal(column, cell) {
  if (isMissing(cell) || !isNumeric(column)) return "";
  if (typeof cell !== "number" || !(Math.abs(cell) <= LARGEST)) return "not a number";
  if (isCount(column) && cell < 0) return "a count is not negative";
  return column.kind === "whole" && !Number.isInteger(cell) ? "a count is a whole number" : "";
}

/** What is made once for a key, and kept. @param {{has: any, get: any, set: any}} kept */
export const once = (kept, key, make) => (kept.has(key) ? kept : kept.set(key, make())).get(key);

const places = new WeakMap(); // of the values of a term

/** Which of the values of a term a cell is, if any. @param {Term} term */
export function rowOf(term, cell) {
  const found = once(places, term, () => new Map(term.words ? term.words.flatMap((words, i) => words.split("\n").map((word) => [word, i]))
    : /** @type {any[]} */ (term.values).map((v, i) => [keyOf(v), i])));
  return found.get(keyOf(cell));
}

function lookedUp(term, cell) {
  const row = term.starts ? binOf(term.starts, cell) : rowOf(term, cell);
  const found = row === undefined ? term.others : /** @type {any[][]} */ (term.table)[row];
  return found === "refused" ? null : found.map(finite);
}

/** The words of a text: as Python's r"\\b\\w\\w+\\b" of lower case. @param {string} text */
export const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [];

/** What the words of a text add. @param {Model} model @param {Term} term @param {string} text */
export function sumOfWords(model, term, text) {
  const sum = new Array(model.outputs.length).fill(0);
  for (const word of wordsOf(text)) {
    /** @type {number[]} */ (lookedUp(term, word)).forEach((v, c) => { sum[c] += v; });
  }
  return sum;
}

/** The next row of the lower triangular factor of a matrix; null where earlier columns determine it. @param {number[]} packed the lower triangle of
 * the matrix @param {number} i @param {number[]} used columns of the earlier rows @param {number[][]} rows */
function factorRow(packed, i, used, rows) {
  const at = (j) => packed[(i * (i + 1)) / 2 + j];
  const row = /** @type {number[]} */ ([]);
  let pivot = at(i);
  used.forEach((j, n) => {
    let sum = at(j);
    for (let m = 0; m < n; m++) sum -= row[m] * rows[n][m];
    row.push(sum / rows[n][n]);
    pivot -= row[n] ** 2;
  });
  if (!(pivot > LEAST_PIVOT * at(i))) return null;
  row.push(Math.sqrt(pivot));
  return row;
}

/** Numbers of one Gaussian made independent: for every observed column what the earlier ones leave of it, z, in units of its own deviation, root;
 * null where they determine it. The factor of the covariance is lower triangular, in the order of the columns. @param {Term} term @param {number} c
 * @param {any[]} z0 values of its columns @param {number[]} seen */
export function whitened(term, c, z0, seen) {
  const matrices = /** @type {number[][]} */ (term.covariance);
  const [rows, z, used] = [/** @type {number[][]} */ ([]), /** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  return seen.map((i) => {
    const row = factorRow(matrices[matrices.length === 1 ? 0 : c], i, used, rows);
    if (row === null) return null;
    let rest = z0[i] - /** @type {number[][]} */ (term.mean)[c][i];
    z.forEach((value, n) => { rest -= row[n] * value; });
    const root = row[row.length - 1];
    rows.push(row);
    used.push(i);
    z.push(rest / root);
    return { z: rest / root, root };
  });
}

/** What every observed column adds to a log density, by the chain rule. @param {{z: number, root: number} | null} one */
const chained = (one) => (one === null ? 0 : -0.5 * one.z ** 2 - LOG_2PI / 2 - Math.log(one.root));

/** A number of a Gaussian from its origin: a cell, or whether it has the value of an indicator; null where unknown. */
export function valueOfTerm(term, i, cell, j) {
  const known = term.known[j];
  const has = (value) => keyOf(value) === keyOf(cell);
  if (isMissing(cell) || (known && !known.some(has))) return null;
  return (known ? Number(has(term.levels[i])) : cell) - term.origin[i];
}

/** The numbers of the columns of a Gaussian, and which of them are known. @param {Term} term @param {Cells} x */
export function observed(term, x) {
  const values = /** @type {number[]} */ (term.places).map((j, i) => valueOfTerm(term, i, x[j], j));
  return { values, seen: values.map((_, i) => i).filter((i) => !isMissing(values[i])) };
}

/** How often what a term says is counted. @param {Term} term */
export const weightOf = (term) => term.weight ?? 1;

/** What one term adds, by column and output; null where the row gets no answer. @returns {[number, number[]][] | null} */
export function added(model, term, x) {
  const found = said(model, term, x);
  const weight = weightOf(term);
  if (found === null || weight === 1) return found;
  return weight === 0 ? [] : found.map(([j, by]) => [j, by.map((value) => weight * value)]);
}

/** What one term says, before it is weighed: log densities by column and output. @returns {[number, number[]][] | null} */
export function said(model, term, x) {
  const k = model.outputs.length;
  if (term.covariance) {
    if (term.columns.some((j) => illegal(model.columns[j], x[j]))) return null;
    const at = /** @type {number[]} */ (term.places);
    const { values, seen } = observed(term, x);
    const byClass = Array.from({ length: k }, (_, c) => whitened(term, c, values, seen));
    return seen.map((i, n) => [at[i], byClass.map((terms) => chained(terms[n]))]);
  }
  if (term.columns.some((j) => isMissing(x[j]))) return term.missing === "refused" ? null : [];
  if (term.columns.some((j) => illegal(model.columns[j], x[j]))) return null;
  const place = term.columns.length ? term.columns[0] : -1; // −1: of no column
  if (term.words) return [[place, sumOfWords(model, term, x[place])]];
  if (term.values || term.starts) {
    const found = lookedUp(term, x[place]);
    return found === null ? null : [[place, found]];
  }
  const by = /** @type {any[]} */ (term.by_output).map((tree) => valueOf(tree, x));
  return by.some(Number.isNaN) ? null : [[place, by]];
}

const tables = new WeakMap(); // of the pairs of a term

/** log P(b | c, parent v), and on the diagonal log P(c, v), by class and pair of bins; and which bins are parents. */
function tableOf({ sizes, rows, counts }) {
  const column = sizes.flatMap((size, j) => new Array(size).fill(j));
  const [k, m] = [rows.length, column.length];
  const at = (v, w) => (v < w ? (w * (w + 1)) / 2 + v : (v * (v + 1)) / 2 + w);
  const shown = new Array(sizes.length).fill(0); // rows that show a column
  const parent = column.map((j, v) => {
    const alone = counts.reduce((sum, one) => sum + one[at(v, v)], 0);
    shown[j] += alone;
    return alone >= 1;
  });
  const logs = counts.map((one) => column.map((j, v) => {
    const both = new Array(sizes.length).fill(1);
    column.forEach((i, w) => { both[i] += i === j ? (w === v ? one[at(v, v)] : 0) : one[at(v, w)]; });
    return column.map((i, w) => (w === v ? Math.log((one[at(v, v)] + 1 / (k * sizes[j])) / (shown[j] + 1)) : Math.log((one[at(v, w)] + 1 / sizes[i]) / both[i])));
  }));
  return { logs, parent, m };
}

/** What one-dependence estimators say of a row, by class. @param {Term} term @param {Cells} x */
function sumOfPairs(term, x) {
  const { bins, sizes, rows } = term.pairs;
  const { logs, parent } = once(tables, term, () => tableOf(term.pairs));
  let start = 0;
  const shown = /** @type {number[]} */ ([]);
  term.columns.forEach((j, i) => {
    const { starts, values } = bins[i];
    if (!isMissing(x[j])) {
      const b = starts ? binOf(starts, x[j]) : values.find((one) => keyOf(one[0]) === keyOf(x[j]))?.[1];
      if (b !== undefined) shown.push(start + b);
    }
    start += sizes[i];
  });
  const parents = shown.filter((v) => parent[v]);
  const all = rows.reduce((a, b) => a + b, 0);
  return rows.map((of, c) => {
    if (!parents.length) return 0;
    const sums = parents.map((v) => shown.reduce((sum, w) => sum + logs[c][v][w], 0));
    return weightOf(term) * (logOfSum(sums) - Math.log(sums.length) - (of > 0 ? Math.log(of / all) : 0));
  });
}

/** log of a sum of exponentials. @param {number[]} logs */
function logOfSum(logs) {
  const most = Math.max(...logs);
  return most === -Infinity ? most : most + Math.log(logs.reduce((sum, one) => sum + Math.exp(one - most), 0));
}

/** The log joint of a member, as if the cells of some columns were not known; null without an answer. @param {Set<number>} hidden */
function memberScores(model, member, x, hidden) {
  const scores = member.start.map(finite);
  const known = x.map((cell, j) => (hidden.has(j) ? null : cell));
  for (const term of member.terms) {
    const made = term.pairs ? [[-1, sumOfPairs(term, known)]] : term.hidden && hidden.has(term.columns[0]) ? [[-1, term.hidden]] : added(model, term, known);
    if (made === null) return null;
    for (const [, by] of made) by.forEach((value, c) => { scores[c] += value; });
  }
  return scores;
}

/** What a model says: log joints of the classes, or log probabilities of an average; predictions. @param {Model} model @param {Cells} x
 * @param {Set<number>} hidden columns that are not known @returns {number[] | null} */
export function scoresOf(model, x, hidden = new Set()) {
  if (!model.members) return memberScores(model, model, x, hidden);
  const shares = new Array(model.outputs.length).fill(0);
  for (const member of model.members) {
    const scores = memberScores(model, member, x, hidden);
    if (scores === null) return null;
    probabilities(member, scores).forEach((p, c) => { shares[c] += member.share * p; });
  }
  return shares.map(Math.log);
}

/** What an average says as each column is revealed: the mean of the order of the table, and the reverse. */
function revealed(model, x) {
  const order = x.map((_, j) => j);
  const start = /** @type {number[]} */ (scoresOf(model, x, new Set(order)));
  const columns = new Map(order.map((j) => [j, start.map(() => 0)]));
  for (const places of [order, [...order].reverse()]) {
    const hidden = new Set(order);
    let before = start;
    for (const j of places) {
      hidden.delete(j);
      const after = isMissing(x[j]) && !model.reveals.has(j) ? before : /** @type {number[]} */ (scoresOf(model, x, hidden));
      const sums = columns.get(j);
      after.forEach((value, c) => { sums[c] += (value - before[c]) / 2; });
      before = after;
    }
  }
  for (const j of order) if (isMissing(x[j]) && !model.reveals.has(j)) columns.delete(j);
  return { start, columns };
}

/** What every column adds to every output, and where the sums start; null without an answer. @param {Model} model @param {Cells} x
 * @returns {{start: number[], columns: Map<number, number[]>, scores: number[]} | null} */
export function ledger(model, x) {
  const start = model.start.map(finite);
  if (model.members) {
    const scores = scoresOf(model, x);
    if (scores === null) return null;
    model.reveals ??= new Set(model.members.flatMap((one) => one.terms.filter((term) => term.hidden).map((term) => term.columns[0])));
    return { ...revealed(model, x), scores };
  }
  const scores = [...start];
  const columns = new Map();
  for (const term of model.terms) {
    const made = added(model, term, x);
    if (made === null) return null;
    for (const [j, by] of made) {
      by.forEach((value, c) => { scores[c] += value; });
      if (j < 0) by.forEach((value, c) => { start[c] += value; });
      else columns.set(j, by.map((value, c) => value + (columns.get(j)?.[c] ?? 0)));
    }
  }
  return { start, columns, scores };
}

/** Probabilities from log joints; the prior where every class is impossible. @param {Model} model @param {number[]} scores */
export function probabilities(model, scores) {
  const most = Math.max(...scores);
  if (most === -Infinity) return [...model.prior];
  const weights = scores.map((score) => Math.exp(score - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** The place of the answer. @param {Model} model @param {number[]} scores */
export function best(model, scores) {
  const most = Math.max(...scores);
  return most === -Infinity ? model.fallback : scores.indexOf(most);
}
