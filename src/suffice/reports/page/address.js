// The row in the address of the page, so that a link brings it back.
import { isMissing, isNumeric } from "./score.js";

/** The row that the page starts with. @param {any} model @returns {any[]} */
export function startOf(model) {
  return model.columns.map((/** @type {any} */ column) => {
    if (column.unknown) return null;
    if (isNumeric(column)) return column.typical;
    return column.values[column.typical.indexOf(Math.max(...column.typical))];
  });
}

/** The row that the address holds. @param {any} model */
export function readAddress(model) {
  const cells = startOf(model);
  const [, query] = location.hash.split("?", 2);
  for (const [name, text] of new URLSearchParams(query ?? "")) {
    const j = model.columns.findIndex((/** @type {any} */ one) => one.name === name);
    if (j < 0) continue;
    const column = model.columns[j];
    if (column.kind === "text") cells[j] = text;
    else if (isNumeric(column)) cells[j] = text === "" || Number.isNaN(Number(text)) ? cells[j] : Number(text);
    else cells[j] = column.values?.find((/** @type {any} */ value) => String(value) === text) ?? cells[j];
  }
  return cells;
}

/** @param {any} model @param {any[]} x */
export function writeAddress(model, x) {
  const query = new URLSearchParams();
  const begin = startOf(model);
  x.forEach((cell, j) => {
    if (!isMissing(cell) && cell !== begin[j]) query.append(model.columns[j].name, String(cell));
  });
  const [spot] = location.hash.split("?", 1);
  const text = query.toString();
  const hash = `${spot || "#ask"}${text ? `?${text}` : ""}`;
  history.replaceState(null, "", hash);
}
