// The answers of the model: log joints of classes, or predictions, as Python computes them.

/**
 * @typedef {{at: number[], refuse?: boolean, by?: any[], values?: any[], starts?: number[], table?: any[][], rest?: any, mean?: number[][],
 *   low?: number[][] | null, covariance?: number[][], weights?: number[][], places?: number[], levels?: any[],
 *   known?: Record<number, any[]>, weight?: number, words?: string[], left_out?: number}} Term
 * @typedef {{task: string, outputs: string[], start: any[], prior: number[], fallback: number, columns: any[], terms: Term[]}} Model
 * @typedef {any[]} Cells  A cell for every column; null is missing.
 */

export const LARGEST = 1e150; // Python refuses larger numbers
const LEAST_PIVOT = 2 ** -44; // a column that others determine says nothing
const LOG_2PI = Math.log(2 * Math.PI);

export const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);

/** Whether the cells of a column are numbers. */
export const isNumeric = (column) => ["number", "count", "whole"].includes(column.kind);

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
    case "above": return finite(x[tree.cell] > of ? tree.then : tree.otherwise);
    case "steps": return finite(tree.values[binOf(tree.starts, x[of])]);
    case "choice": {
      const found = tree.cases.find((/** @type {any[]} */ one) => keyOf(one[0]) === keyOf(x[of]));
      return finite(found ? found[1] : tree.otherwise);
    }
    default: throw new Error(`no operation ${name}`);
  }
}

/** Why a cell cannot be read, or "". @param {{kind: string, name: string}} column */
export function illegal(column, cell) {
  if (isMissing(cell) || !isNumeric(column)) return "";
  if (typeof cell !== "number" || !(Math.abs(cell) <= LARGEST)) return "not a number";
  if (column.kind !== "number" && cell < 0) return "a count is not negative";
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
  const found = row === undefined ? term.rest : /** @type {any[][]} */ (term.table)[row];
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
    let rest = z0[i] - /** @type {number[][]} */ (term.mean)[c][i] - (term.low ? term.low[c][i] : 0);
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

/** A number of a Gaussian: a cell, or whether it has the value of an indicator; null where unknown. */
export function valueOfTerm(term, i, cell, j) {
  const known = term.known?.[j];
  if (!known) return cell;
  const has = (value) => keyOf(value) === keyOf(cell);
  return isMissing(cell) || !known.some(has) ? null : Number(has(term.levels?.[i]));
}

/** The numbers of the columns of a Gaussian, and which of them are known. @param {Term} term @param {Cells} x */
export function observed(term, x) {
  const values = (term.places ?? term.at).map((j, i) => valueOfTerm(term, i, x[j], j));
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
    if (term.at.some((j) => illegal(model.columns[j], x[j]))) return null;
    const at = term.places ?? term.at;
    const { values, seen } = observed(term, x);
    const byClass = Array.from({ length: k }, (_, c) => whitened(term, c, values, seen));
    return seen.map((i, n) => [at[i], byClass.map((terms) => chained(terms[n]))]);
  }
  if (term.at.some((j) => isMissing(x[j]))) return term.refuse ? null : [];
  if (term.at.some((j) => illegal(model.columns[j], x[j]))) return null;
  const place = term.at.length ? term.at[0] : -1; // −1: of no column
  if (term.words) return [[place, sumOfWords(model, term, x[place])]];
  if (term.values || term.starts) {
    const found = lookedUp(term, x[place]);
    return found === null ? null : [[place, found]];
  }
  const by = /** @type {any[]} */ (term.by).map((tree) => valueOf(tree, x));
  return by.some(Number.isNaN) ? null : [[place, by]];
}

/** What every column adds to every output, and where the sums start; null without an answer. @param {Model} model @param {Cells} x
 * @returns {{start: number[], columns: Map<number, number[]>, scores: number[]} | null} */
export function ledger(model, x) {
  const start = model.start.map(finite);
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
