// Numbers as people read them.

const THIN = "\u2009";

/** Thin spaces between thousands, of five digits or more: four may be a year. @param {string} digits */
const grouped = (digits) => digits.replace(/^-?\d{5,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, THIN));

/** A number with so many decimal places, or with four significant digits. */
export function numeral(value, places) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let text;
  if (size >= 1e15 || (places === undefined && size !== 0 && (size >= 1e9 || size < 1e-4))) {
    text = value.toExponential(3).replace(/e\+?(.*)/, (_, power) => ` · 10${power.replace("-", "⁻").replace(/\d/g, (/** @type {string} */ d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(d)])}`);
  } else if (places !== undefined) text = grouped(value.toFixed(Math.min(places, 20)));
  else text = grouped(String(Number(value.toPrecision(4))));
  return text.replace(/^-(?=[0.]*$)/, "").replaceAll("-", "−");
}

/** A probability: two significant digits, and no certainty. @param {number} p */
export function percent(p) {
  if (p > 0.999) return "> 99.9 %";
  if (p < 0.001) return "< 0.1 %";
  if (p >= 0.99 || (p >= 0.01 && p < 0.1)) return `${(100 * p).toFixed(1)} %`;
  return p < 0.01 ? `${(100 * p).toFixed(2)} %` : `${(100 * p).toFixed(0)} %`;
}

/** A share with its sign. @param {number} value @param {number} places */
export function signed(value, places) {
  const text = numeral(value, places);
  return value > 0 && Number(value.toFixed(places)) > 0 ? `+${text}` : text;
}

/** A name of at most so many letters. @param {string} name @param {number} [most] */
export const brief = (name, most = 48) => {
  const letters = [...name.trim()];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : name;
};
