// How the values of one column are distributed in every class, as the model has it.
import { isNumeric, once, said } from "./score.js";

const POINTS = 96;
export const DRAWN_CLASSES = 8;

/** The values of a column at which it is drawn: its categories, or numbers along its line. @param {number} j @returns {any[]} */
export function valuesOf(model, j) {
  const column = model.columns[j];
  if (!isNumeric(column)) return column.values ?? [];
  if (column.low === undefined) return [];
  if (column.two) return [0, 1];
  if (column.kind !== "number") {
    const [low, high] = [Math.max(0, column.low), column.high];
    const step = Math.max(1, Math.ceil((high - low) / 200));
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
export const termOf = (model, j) => once(termsOf, model, () => new Map(model.terms.flatMap((one) => one.at.map((i) => [i, one])).reverse())).get(j);

const separate = new WeakMap();

/** Likelihoods of the values, given the other cells: one row for each class, adding up to 1. Null where the column shares its
 * distribution with others, or has no values to draw. @param {number} j @returns {number[][] | null} */
export function likelihoods(model, j, x) {
  const term = termOf(model, j);
  const values = valuesOf(model, j);
  if (!term || !values.length || model.columns[j].kind === "count" || term.known?.[j]) return null;
  if (term.at.length > 1) return likelihoodsOf(model, j, term, values, x);
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
