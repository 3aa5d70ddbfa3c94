// A picture with two axes: ticks, their names, and what they measure.
import { numeral, roundNumbers } from "./format.js";
import { el, key, named, svg } from "./dom.js";

const [WIDE, HIGH, BESIDE, AFTER, ABOVE, BELOW] = [360, 232, 58, 20, 10, 42]; // units: the picture, and what is around its plane

/** An axis. @typedef {{ends: number[], name: string, ticks?: [number, string][], places?: (v: number) => string}} Axis */

/** Round numbers between the ends of an axis, and as they are read. @param {Axis} axis @param {number} most @returns {[number, string][]} */
const marksOn = (axis, most) => axis.ticks ?? roundNumbers(axis.ends[0], axis.ends[1], most, false).map((v) => [v, (axis.places ?? numeral)(v)]);

/** A picture of marks, which are placed by X and Y. @param {Axis} across @param {Axis} up @param {string} text what it shows
 * @param {(X: (v: number) => number, Y: (v: number) => number) => any[]} marks */
export function plane(across, up, text, marks) {
  const on = (/** @type {number[]} */ [low, high], /** @type {number} */ v) => (Math.max(low, Math.min(high, v)) - low) / (high - low || 1);
  const X = (/** @type {number} */ v) => BESIDE + (WIDE - BESIDE - AFTER) * on(across.ends, v);
  const Y = (/** @type {number} */ v) => HIGH - BELOW - (HIGH - ABOVE - BELOW) * on(up.ends, v);
  const [foot, middle] = [HIGH - BELOW, (ABOVE + HIGH - BELOW) / 2];
  return svg("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": text },
    ...marksOn(up, 5).flatMap(([v, name]) => [svg("line", { class: "grid", x1: BESIDE, x2: WIDE - AFTER, y1: Y(v), y2: Y(v) }),
      svg("text", { x: BESIDE - 6, y: Y(v) + 4, "text-anchor": "end" }, name)]),
    ...marksOn(across, 5).flatMap(([v, name]) => [svg("line", { class: "axis", x1: X(v), x2: X(v), y1: foot, y2: foot + 4 }),
      svg("text", { x: X(v), y: foot + 17, "text-anchor": "middle" }, name)]),
    svg("line", { class: "axis", x1: BESIDE, x2: WIDE - AFTER, y1: foot, y2: foot }),
    svg("text", { x: (BESIDE + WIDE - AFTER) / 2, y: HIGH - 6, "text-anchor": "middle" }, across.name),
    svg("text", { x: -middle, y: 12, transform: "rotate(-90)", "text-anchor": "middle" }, up.name),
    ...marks(X, Y));
}

/** A line through points. @param {[number, number][]} points @param {string} kind */
export const path = (points, kind) => svg("path", { class: `plain ${kind}`, d: `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}` });

/** A picture below its title. @param {string} title @param {...any} drawn */
export const figure = (title, ...drawn) => el("figure", {}, el("figcaption", {}, title), ...drawn);

/** The colours of classes. @param {string[]} names @param {number[]} [which] */
export const legend = (names, which = names.map((_, c) => c)) => el("p", { class: "legend" }, ...which.map((c) => el("span", {}, key(c), named(names[c]))));

/** An axis of shares, from 0 to 1. @param {string} name @returns {Axis} */
export const shares = (name) => ({ ends: [0, 1], name, places: (v) => `${Math.round(100 * v)} %` });
