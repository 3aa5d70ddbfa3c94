// Numbers as people read them.

const [THIN, SPACE] = ["\u2009", "\u00a0"]; // the second one breaks no line

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

const [MINUTE, HOUR, DAY, MONTH] = [60, 3600, 86400, 30.4 * 86400]; // seconds
const STEPS = [1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR / 2, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY];
const MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

/** A date and a time of day of seconds since 1970. @param {number} seconds @returns {[string, string]} */
function datedOf(seconds) {
  const date = new Date(Math.round(1000 * seconds));
  if (Number.isNaN(date.getTime())) return [numeral(seconds), "s"];
  const [day, clock] = date.toISOString().split("T");
  return [day, clock.replace(/(:00)?\.000Z$|Z$/, "")];
}

/** A cell of a column of numbers, as it is read. @param {{kind: string, days?: boolean}} column @param {number} value */
export function cellText(column, value) {
  if (column.kind !== "date" && column.kind !== "time") return numeral(value);
  const [day, clock] = datedOf(value);
  return column.kind === "time" ? clock : column.days ? day : `${day} ${clock}`;
}

/** Round dates or times of day between two, at most so many, and their names. @param {{kind: string}} column @returns {[number, string][]} */
export function roundTimes(column, low, high, most) {
  const step = STEPS.find((one) => (high - low) / one <= most);
  const found = /** @type {[number, string][]} */ ([]);
  if (step || column.kind === "time") {
    const by = step ?? 12 * HOUR;
    for (let t = Math.ceil(low / by) * by; t <= high; t += by) found.push([t, column.kind === "date" && t % DAY === 0 ? datedOf(t)[0] : datedOf(t)[1]]);
    return found;
  }
  const months = MONTHS.find((one) => (high - low) / (one * MONTH) <= most) ?? 12 * 10 ** Math.ceil(Math.log10((high - low) / (12 * MONTH * most)));
  const first = new Date(1000 * low);
  for (let m = Math.ceil((12 * first.getUTCFullYear() + first.getUTCMonth()) / months) * months; ; m += months) {
    const t = Date.UTC(1970, m - 12 * 1970) / 1000;
    if (!(t <= high)) return found;
    if (t >= low) found.push([t, datedOf(t)[0].replace(months % 12 ? /-\d\d$/ : /-\d\d-\d\d$/, "")]);
  }
}

/** A probability: two significant digits, and no certainty. @param {number} p */
export function percent(p) {
  if (p > 0.999) return p === 1 ? `100${SPACE}%` : `>${SPACE}99.9${SPACE}%`;
  if (p < 0.001) return p === 0 ? `0${SPACE}%` : `<${SPACE}0.1${SPACE}%`;
  const places = p < 0.01 ? 2 : p < 0.1 || p >= 0.99 ? 1 : 0;
  return `${(100 * p).toFixed(places)}${SPACE}%`;
}

/** A share with its sign. @param {number} value @param {number} places */
export function signed(value, places) {
  const text = numeral(value, places);
  return value > 0 && Number(value.toFixed(places)) > 0 ? `+${text}` : text;
}

/** Log-odds as odds. @param {number} nats */
export function odds(nats) {
  const size = Math.exp(Math.abs(nats));
  return size < 1.005 ? "even" : `${numeral(Number(size.toPrecision(3)))} to 1 ${nats > 0 ? "for" : "against"}`;
}

/** A name of at most so many letters. @param {string} name @param {number} [most] */
export const brief = (name, most = 48) => {
  const letters = [...name.trim()];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : name;
};

/** Round numbers between two, at most so many. @param {number} low @param {number} high @param {number} most @param {boolean} whole */
export function roundNumbers(low, high, most, whole) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(whole ? 1 : 0, power * ([1, 2, 5].find((one) => one * power >= rough) ?? 10));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

/** A number of rows, which may be a sum of weights. @param {number} n */
export const count = (n) => (Number.isInteger(n) ? grouped(String(n)) : numeral(n));
