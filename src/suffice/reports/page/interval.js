// How far probabilities may be off, as the model learnt from finitely many rows: moments of the scores
// under the posterior of its parameters, as suffice.families.posteriors has them, and 95 % intervals.
import { binOf, finite, isMissing, ledger, observed, rowOf, whitened, wordsOf } from "./score.js";
import { termOf } from "./densities.js";

const NORMAL = 1.959963984540054; // standard deviations to either side, for 95 %

/** @typedef {{mean: number[], variance: number[], covariance: number[][]}} Moments */

/** @param {any} number null stands for what is not finite */
const unbounded = (number) => (number === null ? Infinity : number);

/** Mean and variance of log p of one cell, in class c. @param {number} c @returns {[number, number]} */
function momentsOfCell(part, term, cell, c) {
  if (part.rate) {
    if (part.rate[c] === null) return [0, Infinity];
    const [log, rate, own, unit] = part.rate[c];
    return [cell * log - rate, Math.max(0, cell ** 2 * own + rate * unit - 2 * cell * unit)];
  }
  if (part.steps) {
    const [, , starts, logs] = term.by[c];
    const row = binOf(starts, cell);
    const variance = unbounded(part.steps[c][row]);
    return [variance === Infinity ? 0 : logs[row] - variance / 2, variance];
  }
  const row = part.above === undefined ? rowOf(term, cell) ?? -1 : Number(cell > part.above);
  const place = (part.index[row] ?? part.rest)?.[c];
  if (place === undefined) return [0, 0];
  const [mean, variance] = part.pairs[place];
  return [mean, unbounded(variance)];
}

/** Add the moments of a column of numbers that are normally distributed. @param {number} x @param {Moments} to */
function addNormal(part, x, kinds, to, /** @type {any} */ term) {
  const squares = part.normal.map((known, c) => {
    if (known === null) { to.variance[c] = Infinity; return 0; }
    const [inverseKappa, inverseA, digamma, trigamma] = kinds[known[2] ?? known];
    const [m, b, , low] = known[2] === undefined ? [term.student[c][0], 1 / (2 * term.student[c][1] * (1 + inverseKappa)), 0, term.student[c][3]] : known;
    const square = (x - m - (low ?? 0)) ** 2 / (b * inverseA);
    to.mean[c] -= (part.weight * (square + inverseKappa)) / 2;
    let variance = square * inverseKappa + inverseKappa ** 2 / 2;
    if (!part.shared) {
      to.mean[c] += (part.weight * (digamma - Math.log(b))) / 2;
      variance += Math.max(0, trigamma / 4 + (square ** 2 * inverseA) / 4 - (square * inverseA) / 2);
    }
    to.variance[c] += part.weight ** 2 * variance;
    return part.shared ? (part.weight * square * Math.sqrt(inverseA)) / 2 : 0;
  });
  if (part.shared) addProducts(to, (a, c) => squares[a] * squares[c]);
}

const addProducts = (to, of) => to.covariance.forEach((row, a) => row.forEach((_, c) => { row[c] += of(a, c); }));

/** Add those of events: counts of columns, or words of a text. @param {Moments} to */
function addEvents(model, part, x, to) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  const term = termOf(model, part.at[0]);
  if (!term.text) part.at.forEach((j, i) => { if (!isMissing(x[j])) counts.set(i, x[j]); });
  else if (!isMissing(x[part.at[0]])) {
    for (const row of wordsOf(x[part.at[0]]).map((word) => rowOf(term, word))) if (row !== undefined) counts.set(row, (counts.get(row) ?? 0) + 1);
  }
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  to.mean.forEach((_, c) => {
    let [mean, variance] = [-total * part.total[c][0], -(total ** 2) * part.total[c][1]];
    for (const [i, n] of counts) {
      const [log, own] = part.pairs[part.index[i][c]];
      mean += n * log;
      if (n > 0) variance += n ** 2 * unbounded(own);
    }
    to.mean[c] += part.weight * mean;
    to.variance[c] += part.weight ** 2 * Math.max(0, variance);
  });
}

/** Add those of columns that are normally distributed together. @param {Moments} to */
function addJoined(model, part, x, to) {
  const term = model.terms[part.term];
  const { values, seen } = observed(term, x);
  const shared = part.nu.length === 1 && to.mean.length > 1;
  let degrees = 0;
  const white = to.mean.map((_, c) => {
    const s = part.nu.length === 1 ? 0 : c;
    const found = /** @type {any[]} */ (whitened(term, c, values, seen)).filter((one, n) => one && part.used.includes(term.at[seen[n]]));
    const [p, inverseKappa, divisor] = [found.length, part.inverse_kappa[c], part.divisor[s]];
    const nu = part.nu[s] - (part.used.length - p);
    if (p === 0) return [];
    if (!(nu > p - 1) || inverseKappa === null) { to.variance[c] = Infinity; return found.map(() => 0); }
    degrees = nu;
    const z = found.map((one) => one.z / Math.sqrt(divisor));
    const square = z.reduce((sum, one) => sum + one ** 2, 0);
    let [mean, variance] = [-(nu * square + p * inverseKappa) / 2, nu * square * inverseKappa + (p * inverseKappa ** 2) / 2];
    if (!shared) {
      const logDeterminant = found.reduce((sum, one) => sum + 2 * Math.log(one.root), p * Math.log(divisor));
      mean += (part.digamma[s][p - 1] + p * Math.LN2 - logDeterminant) / 2;
      variance += Math.max(0, part.trigamma[s][p - 1] / 4 + (nu * square ** 2) / 2 - square);
    }
    to.mean[c] += part.weight * mean;
    to.variance[c] += part.weight ** 2 * variance;
    return z;
  });
  const product = (a, c) => white[a].reduce((sum, one, n) => sum + one * white[c][n], 0);
  if (shared) addProducts(to, (a, c) => (part.weight ** 2 * degrees * product(a, c) ** 2) / 2);
}

/** Of every class, or of a prediction, Rz of the row z of terms: the variance of a score is the sum of its squares. @returns {number[][]} */
function rooted(model, x) {
  const { root, columns, reach } = model.interval;
  const z = [1, ...columns.flatMap(({ mean, ranks, starts, ordered, missing }, j) => {
    const rank = isMissing(x[j]) ? -1 : starts ? binOf(starts, x[j]) : ranks?.[rowOf(termOf(model, j), x[j]) ?? -1] ?? -1;
    const lacks = (i) => missing && i === mean.length - 1;
    const valueOf = (i) => (lacks(i) ? Number(rank < 0) : ranks || starts ? Number(ordered ? rank > i : rank === i + 1) : x[j]);
    return mean.map((m, i) => valueOf(i) - m);
  })];
  const of = (first) => root.map((row, i) => row.reduce((sum, v, q) => sum + v * (z[q + i - first] ?? 0), 0));
  return reach ? [of(0)] : model.outputs.map((_, c) => (c ? of((c - 1) * z.length) : root.map(() => 0)));
}

const sumOfProducts = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);

/** 95 % intervals of a new row, and of the mean of such rows, of every target; null of a model without. @param {number[]} scores */
export function predictionIntervals(model, x, scores) {
  if (!model.interval.root) return null;
  const { constant, reach } = model.interval;
  const [white] = rooted(model, x);
  const size = (noise) => Math.sqrt(noise + constant + sumOfProducts(white, white));
  return scores.map((score, t) => [1, 0].map((noise) => [score - reach[t] * size(noise), score + reach[t] * size(noise)]));
}

/** log of a sum of exponentials of all but one. @param {number[]} scores @param {number} c */
function logOfRest(scores, c) {
  const most = Math.max(...scores.filter((_, e) => e !== c));
  if (most === -Infinity) return most;
  return most + Math.log(scores.reduce((sum, score, e) => (e === c ? sum : sum + Math.exp(score - most)), 0));
}

/** Intervals of the log-odds of every class against the rest: the middle, and how far they reach. @param {Moments} to moments of what is known before the row */
function logOddsIntervals(model, x, to) {
  if (model.interval.root) {
    const roots = rooted(model, x);
    addProducts(to, (a, c) => sumOfProducts(roots[a], roots[c]));
  }
  for (const part of model.interval.parts ?? []) {
    const [j] = part.at;
    if (part.inverse_kappa) addJoined(model, part, x, to);
    else if (part.total) addEvents(model, part, x, to);
    else if (isMissing(x[j])) continue;
    else if (part.normal) addNormal(part, x[j], model.interval.kinds, to, termOf(model, j));
    else {
      const term = termOf(model, j);
      to.mean.forEach((_, c) => {
        const [mean, variance] = momentsOfCell(part, term, x[j], c);
        to.mean[c] += part.weight * mean;
        to.variance[c] += part.weight ** 2 * variance;
      });
    }
  }
  if (to.variance.includes(Infinity)) return to.mean.map(() => [0, Infinity]);
  return to.mean.map((score, c) => {
    const rest = logOfRest(to.mean, c);
    const gradient = to.mean.map((one, e) => (e === c ? 1 : -Math.exp(one - rest) || 0));
    const variance = gradient.reduce((sum, g, a) => sum + g * g * to.variance[a] + g * gradient.reduce((inner, h, b) => inner + h * to.covariance[a][b], 0), 0);
    return [score - rest, NORMAL * Math.sqrt(Math.max(0, variance))];
  });
}

const before = (mean, variance) => ({ mean, variance, covariance: mean.map(() => new Array(mean.length).fill(0)) });

/** Ends of the 95 % interval of every probability; null of a model without. @param {number[]} scores */
export function intervalsOf(model, x, scores) {
  const { parts, root, mean, variance } = model.interval ?? {};
  if (!parts && !root) return null;
  const prior = root ? before([...scores], scores.map(() => 0)) : before([...mean], variance.map(unbounded));
  return logOddsIntervals(model, x, prior).map(([middle, reach]) => [middle - reach, middle + reach].map((t) => 1 / (1 + Math.exp(-t))));
}

/** The evidence of one cell for every class against the others, in nats, and the ends of its interval, the class prior taken as known. @returns {number[][]} */
export function evidenceOf(model, j, cell) {
  const x = model.columns.map((_, i) => (i === j ? cell : null));
  const prior = model.start.map(finite);
  const scores = ledger(model, x)?.scores ?? prior;
  const ends = model.interval?.parts ? logOddsIntervals(model, x, before([...prior], prior.map(() => 0))) : [];
  return scores.map((score, c) => {
    const less = prior[c] - logOfRest(prior, c);
    return [score - logOfRest(scores, c), ...(ends.length ? [ends[c][0] - ends[c][1], ends[c][0] + ends[c][1]] : [])].map((t) => t - less || 0);
  });
}
