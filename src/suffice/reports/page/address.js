// The row in the address of the page, so that a link brings it back.
import { isMissing, isNumeric } from "./score.js";

/** The row that the page starts with. @returns {any[]} */
export const startOf = (model) => model.columns.map((column) => column.start ?? null);

/** The row that the address holds. */
export function readAddress(model) {
  const cells = startOf(model);
  const [, query] = location.hash.split("?", 2);
  for (const [name, text] of new URLSearchParams(query ?? "")) {
    const j = model.columns.findIndex((one) => one.name === name);
    if (j < 0) continue;
    const column = model.columns[j];
    if (column.kind === "text") cells[j] = text;
    else if (isNumeric(column)) cells[j] = text === "" || Number.isNaN(Number(text)) ? cells[j] : Number(text);
    else cells[j] = column.values?.find((value) => String(value) === text) ?? cells[j];
  }
  return cells;
}

export function writeAddress(model, x) {
  const query = new URLSearchParams();
  const begin = startOf(model);
  x.forEach((cell, j) => { if (!isMissing(cell) && cell !== begin[j]) query.append(model.columns[j].name, String(cell)); });
  const [spot] = location.hash.split("?", 1);
  history.replaceState(null, "", `${spot || "#ask"}${query.size ? `?${query}` : ""}`);
}
