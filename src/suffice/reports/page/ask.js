// The questions: one row for every column, its control over the classes' densities.
import { isMissing, isNumeric, weightOf } from "./score.js";
import { numeral } from "./format.js";
import { colour, el, named, svg } from "./dom.js";
import { DRAWN_CLASSES, likelihoods, termOf, valuesOf } from "./densities.js";

/** Densities of a column in every class, faint. @param {number} j */
function picture(model, j) {
  const nothing = new Array(model.columns.length).fill(null);
  const by = model.columns[j].unknown ? likelihoods(model, j, nothing) : null;
  if (by === null || !isNumeric(model.columns[j])) return null;
  const values = valuesOf(model, j);
  const most = Math.max(...by.slice(0, DRAWN_CLASSES).map((row) => Math.max(...row)));
  const [low, high] = [values[0], values[values.length - 1]];
  const line = svg("line", { class: "here", y1: 0, y2: 40, visibility: "hidden", "vector-effect": "non-scaling-stroke" });
  const curves = by.slice(0, DRAWN_CLASSES).map((row, c) => {
    const points = row.map((v, m) => `${((100 * m) / (row.length - 1 || 1)).toFixed(2)},${(40 - (38 * v) / (most || 1)).toFixed(2)}`);
    return svg("path", { class: `curve ${colour(c)}`, "vector-effect": "non-scaling-stroke", d: `M0,40L${points.join("L")}L100,40` });
  });
  return {
    made: svg("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" }, ...curves, line),
    move(cell) {
      line.setAttribute("visibility", isMissing(cell) ? "hidden" : "visible");
      const at = (100 * (Math.max(low, Math.min(high, cell ?? low)) - low)) / (high - low || 1);
      line.setAttribute("x1", at);
      line.setAttribute("x2", at);
    },
  };
}

/** The number that was typed; null of nothing, NaN of no number. @param {string} text */
export function typedNumber(text) {
  const bare = text.replace(/[\s\u2009]/g, "").replace("−", "-");
  if (/^-?\d{1,3}(,\d{3})+$/.test(bare)) return NaN; // 1,000 is a thousand to some, and 1 to others
  const plain = bare.replace(/,(?=\d+$)/, ".");
  return plain === "" ? null : Number(plain);
}

/** What a reader has to know of a column before asking, or "". @param {number} j */
export function remark(model, j) {
  const term = termOf(model, j);
  if (!term) return "";
  if (weightOf(term) === 0) return "not counted: the other columns tell what it tells";
  return term.left_out ? `${numeral(term.left_out)} words that tell little are left out of this page` : "";
}

/** One question. @param {number} j @param {(j: number, cell: any) => void} told */
export function question(model, j, told) {
  const column = model.columns[j];
  const id = `cell-${j}`;
  const said = remark(model, j);
  const label = el("label", { for: id }, named(column.name), ...(said ? [el("small", {}, said)] : []));
  const unknown = column.unknown || column.lacking ? el("button", { type: "button", "aria-pressed": "true", onclick: () => told(j, null) }, "unknown") : "";
  if (unknown) unknown.setAttribute("aria-label", `${column.name.slice(0, 80)}: unknown`);
  if (isNumeric(column)) {
    const drawn = picture(model, j);
    const bad = el("p", { class: "bad", role: "alert", hidden: true }, "Not a number: the cell counts as unknown. Write thousands without a comma.");
    const box = el("input", { type: "text", id, inputmode: "decimal", autocomplete: "off" });
    box.addEventListener("input", () => {
      const number = typedNumber(box.value);
      bad.hidden = !Number.isNaN(number);
      told(j, Number.isNaN(number) ? null : number);
    });
    const scale = column.low === undefined ? "" : el("input", {
      type: "range", min: column.low, max: column.high, step: column.kind === "number" ? column.step : 1,
      value: column.typical, "aria-label": `${column.name.slice(0, 80)}, from ${numeral(column.low)} to ${numeral(column.high)}`,
      oninput: (event) => told(j, Number(event.target.value)),
    });
    const made = el("div", { class: "question" }, label, el("div", { class: "control" }, ...(drawn ? [drawn.made] : []), scale),
      el("div", { class: "side" }, box, unknown), bad);
    return {
      made,
      show(cell) {
        drawn?.move(cell);
        if (document.activeElement !== box) box.value = isMissing(cell) ? "" : String(cell);
        if (scale && !isMissing(cell)) scale.value = String(cell);
        if (unknown) unknown.setAttribute("aria-pressed", String(isMissing(cell)));
      },
    };
  }
  if (column.kind === "text") {
    const box = el("textarea", { id, rows: 3, oninput: () => told(j, box.value === "" ? null : box.value) });
    return {
      made: el("div", { class: "question wide" }, label, el("div", { class: "control" }, box)),
      show(cell) { if (document.activeElement !== box) box.value = cell ?? ""; },
    };
  }
  const values = column.values ?? [];
  const choice = el("select", { id, onchange: () => told(j, choice.value === "" ? null : values[Number(choice.value)]) },
    ...(column.unknown || column.lacking ? [el("option", { value: "" }, "unknown")] : []),
    ...values.map((value, i) => el("option", { value: String(i) }, String(value).slice(0, 200))));
  return {
    made: el("div", { class: "question wide" }, label, el("div", { class: "control" }, choice)),
    show(cell) { choice.value = isMissing(cell) ? "" : String(values.indexOf(cell)); },
  };
}
