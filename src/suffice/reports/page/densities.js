// How the values of one column are distributed in every class, as the model has it.
import { isCount, isNumeric, isTime, once, said } from "./score.js";
import { cellText, roundNumbers, roundTimes } from "./format.js";

const [POINTS, MOST_TIMES] = [96, 4];
export const DRAWN_CLASSES = 8;

/** Whether the numbers of a column are whole. */
export const isWhole = (column) => isCount(column) || Boolean(column.whole);

/** Where the numbers of a column stand: by their size, or one step from a value to the next on a scale of ranks. */
export const endsOf = (column) => (column.at ? [0, column.at.length - 1] : [column.low, column.high]);

/** The place of a number on its scale. @param {number} value */
export function placeOf(column, value) {
  if (!column.at) return value;
  const next = column.at.findIndex((/** @type {number} */ one) => one >= value);
  if (next < 1) return next < 0 ? column.at.length - 1 : 0;
  return next - (column.at[next] - value) / (column.at[next] - column.at[next - 1]);
}

/** Places on a scale, and the numbers there. @param {number} most @returns {[number, string][]} */
export function ticksOf(column, most) {
  if (isTime(column)) most = Math.min(most, MOST_TIMES);
  if (!column.at && isTime(column)) return roundTimes(column, column.low, column.high, most);
  if (!column.at) return roundNumbers(column.low, column.high, most, isWhole(column)).map((v) => [v, cellText(column, v)]);
  const last = column.at.length - 1;
  const places = Array.from({ length: Math.min(most, last + 1) }, (_, i) => Math.round((i * last) / Math.max(1, Math.min(most, last + 1) - 1)));
  return places.map((place) => [place, cellText(column, column.at[place])]);
}

/** Likelihoods of values as they are drawn, from 0 to 1. On a scale of ranks they are shares of rows between two values, and roots of these: a spike would
 * hide the rest. @param {number[]} values @param {number[][]} by @returns {number[][]} */
export function heights(column, values, by) {
  const gap = (/** @type {number} */ m) => values[Math.min(m + 1, values.length - 1)] - values[Math.max(m - 1, 0)];
  const drawn = by.map((row) => row.map((v, m) => (column.at ? Math.sqrt(v * gap(m)) : v)));
  const most = Math.max(...drawn.flat()) || 1;
  return drawn.map((row) => row.map((v) => v / most));
}

/** The values of a column at which it is drawn: its categories, or numbers along its line. @param {number} j @returns {any[]} */
export function valuesOf(model, j) {
  const column = model.columns[j];
  if (!isNumeric(column)) return column.values ?? [];
  if (column.low === undefined) return [];
  if (column.two) return [0, 1];
  if (column.at) return column.at;
  if (isWhole(column)) {
    const [low, high] = [isCount(column) ? Math.max(0, column.low) : column.low, column.high];
    const unit = column.days ? column.step : 1;
    const step = unit * Math.max(1, Math.ceil((high - low) / (200 * unit)));
    return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => low + i * step);
  }
  const step = (column.high - column.low) / (POINTS - 1);
  return Array.from({ length: POINTS }, (_, i) => column.low + i * step);
}

/** log x! @param {number} x */
function logFactorial(x) {
  if (x < 16) { let sum = 0; for (let i = 2; i <= x; i++) sum += Math.log(i); return sum; }
  return (x + 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x);
}

const termsOf = new WeakMap();

/** The first term that a column is in. @param {number} j */
export const termOf = (model, j) => once(termsOf, model, () => new Map(model.terms.flatMap((one) => one.columns.map((i) => [i, one])).reverse())).get(j);

const separate = new WeakMap();

/** Likelihoods of the values, given the other cells: one row for each class, adding up to 1. Null where the column shares its
 * distribution with others, or has no values to draw. @param {number} j @returns {number[][] | null} */
export function likelihoods(model, j, x) {
  const term = termOf(model, j);
  const values = valuesOf(model, j);
  if (!term || !values.length || model.columns[j].kind === "count" || term.known?.[j]) return null;
  if (term.columns.length > 1) return likelihoodsOf(model, j, term, values, x);
  return once(separate, term, () => likelihoodsOf(model, j, term, values, x)); // whatever the other cells are
}

function likelihoodsOf(model, j, term, values, x) {
  const known = x.map((cell, i) => (i === j ? null : cell));
  const sum = (/** @type {any[]} */ row) => {
    const total = new Array(model.outputs.length).fill(0);
    for (const [, by] of said(model, term, row) ?? []) by.forEach((v, c) => { total[c] += v; });
    return total;
  };
  const before = sum(known);
  const logs = values.map((value) => {
    known[j] = value;
    const shared = model.columns[j].kind === "whole" ? logFactorial(value) : 0;
    return sum(known).map((v, c) => v - before[c] - shared);
  });
  return before.map((_, c) => {
    const weights = logs.map((row) => Math.exp(row[c]));
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => (total > 0 ? weight / total : 0));
  });
}
