// The questions: one for every column, its control below the classes' densities.
import { isMissing, isNumeric, isTime, weightOf } from "./score.js";
import { cellText, numeral } from "./format.js";
import { colour, el, named, svg } from "./dom.js";
import { DRAWN_CLASSES, endsOf, heights, isWhole, likelihoods, placeOf, termOf, ticksOf, valuesOf } from "./densities.js";

const [TALL, TICKS] = [36, 6];
const [MOST_BUTTONS, MOST_LETTERS] = [5, 32]; // of values that are buttons; of more there is a list

/** Densities of a column in every class, small: curves over numbers, and bars over categories. @param {number} j */
export function densities(model, j) {
  const column = model.columns[j];
  const by = column.unknown ? likelihoods(model, j, new Array(model.columns.length).fill(null)) : null;
  if (by === null || column.two) return null;
  const values = valuesOf(model, j);
  const line = isNumeric(column);
  const [low, high] = line ? endsOf(column) : [0, values.length];
  const placed = (value) => (line ? placeOf(column, value) : values.indexOf(value) + 0.5);
  const at = (/** @type {number} */ place) => (100 * (Math.max(low, Math.min(high, place)) - low)) / (high - low || 1);
  const shown = heights(column, values, by.slice(0, DRAWN_CLASSES));
  const up = (/** @type {number} */ v) => (TALL - (TALL - 2) * v).toFixed(2);
  const bars = (/** @type {number[]} */ row, /** @type {number} */ c) => row.map((v, m) =>
    `M${at(m + 0.1 + (0.8 * c) / shown.length).toFixed(2)},${TALL}V${up(v)}H${at(m + 0.1 + (0.8 * (c + 1)) / shown.length).toFixed(2)}V${TALL}`).join("");
  const curve = (/** @type {number[]} */ row) => `M0,${TALL}L${row.map((v, m) => `${at(placed(values[m])).toFixed(2)},${up(v)}`).join("L")}L100,${TALL}`;
  const curves = shown.map((row, c) => svg("path", { class: `curve ${colour(c)}`, "vector-effect": "non-scaling-stroke", d: line ? curve(row) : bars(row, c) }));
  const here = svg("line", { class: "here", y1: 0, y2: TALL, visibility: "hidden", "vector-effect": "non-scaling-stroke" });
  return {
    made: svg("svg", { class: "densities", viewBox: `0 0 100 ${TALL}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...curves, here),
    move(cell) {
      here.setAttribute("visibility", isMissing(cell) ? "hidden" : "visible");
      if (!isMissing(cell)) for (const end of ["x1", "x2"]) here.setAttribute(end, at(placed(cell)));
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

/** A box for a number, a date or a time of day, and what is in it. @param {(text: any) => void} told */
function boxOf(column, told, id) {
  const attributes = { id, autocomplete: "off" };
  if (isTime(column)) {
    const type = column.kind === "time" ? "time" : column.days ? "date" : "datetime-local";
    const box = el("input", { ...attributes, type, step: column.days ? undefined : "any" });
    box.addEventListener("input", () => told(Number.isNaN(box.valueAsNumber) ? null : box.valueAsNumber / 1000));
    return { box, write(cell) { if (isMissing(cell)) box.value = ""; else box.valueAsNumber = Math.round(1000 * cell); } };
  }
  const box = el("input", { ...attributes, type: "text", inputmode: "decimal", placeholder: column.unknown || column.lacking ? "?" : undefined });
  box.addEventListener("input", () => told(typedNumber(box.value)));
  return { box, write(cell) { box.value = isMissing(cell) ? "" : String(cell); } };
}

/** A line with a slider, and a box for what is no place on it. @param {number} j @param {(cell: any) => void} told */
function numberControl(model, j, told, id) {
  const column = model.columns[j];
  const name = column.name.slice(0, 80);
  const bad = el("p", { class: "bad", role: "alert", hidden: true }, "Not a number: the cell counts as unknown. Write thousands without a comma.");
  const { box, write } = boxOf(column, (/** @type {any} */ number) => {
    bad.hidden = !Number.isNaN(number);
    told(Number.isNaN(number) ? null : number);
  }, id);
  if (column.low === undefined) return { box, below: [bad], show(cell) { if (document.activeElement !== box) write(cell); } };
  const drawn = densities(model, j);
  const [low, high] = endsOf(column);
  const scale = el("input", {
    type: "range", min: low, max: high, step: column.at || (isWhole(column) && !column.days) ? 1 : column.step, value: placeOf(column, column.typical),
    "aria-label": `${name}, from ${cellText(column, column.low)} to ${cellText(column, column.high)}`,
    oninput: () => told(column.at ? column.at[Number(scale.value)] : Number(scale.value)),
  });
  const ticks = el("p", { class: "ticks", "aria-hidden": "true" }, ...ticksOf(column, TICKS).map(([place, text]) => {
    const tick = el("span", {}, text);
    const half = `${text.length / 2}ch`; // no name is cut at an end
    tick.style.left = `clamp(${half}, ${(100 * (place - low)) / (high - low || 1)}%, calc(100% - ${half}))`;
    return tick;
  }));
  return {
    box, below: [el("div", { class: "scale" }, ...(drawn ? [drawn.made] : []), scale, ticks), bad],
    show(cell) {
      drawn?.move(cell);
      if (document.activeElement !== box) write(cell);
      if (!isMissing(cell)) {
        scale.value = String(placeOf(column, cell));
        scale.setAttribute("aria-valuetext", cellText(column, cell));
      } else scale.setAttribute("aria-valuetext", "unknown");
    },
  };
}

/** Values as buttons, or as a list where they are many. @param {any[]} values @param {boolean} open whether unknown is one of them */
function choiceControl(values, open, told, id, name) {
  const options = [...(open ? [["", "unknown"]] : []), ...values.map((value, i) => [String(i), String(value).slice(0, 200)])];
  const cellOf = (/** @type {string} */ option) => (option === "" ? null : values[Number(option)]);
  const optionOf = (cell) => (isMissing(cell) ? "" : String(values.findIndex((value) => value === cell || Number(value) === Number(cell))));
  if (values.length <= MOST_BUTTONS && options.reduce((sum, [, text]) => sum + text.length, 0) <= MOST_LETTERS) {
    const inputs = options.map(([option]) => el("input", { type: "radio", name: id, value: option, onchange: () => told(cellOf(option)) }));
    const group = el("div", { class: "options", role: "radiogroup", "aria-label": name },
      ...options.map(([option, text], i) => el("label", { class: option === "" ? "none" : undefined }, inputs[i], el("span", {}, text))));
    return { group, show(cell) { for (const one of inputs) one.checked = one.value === optionOf(cell); } };
  }
  const list = el("select", { id, onchange: () => told(cellOf(list.value)) }, ...options.map(([option, text]) => el("option", { value: option }, text)));
  return { list, show(cell) { list.value = optionOf(cell); } };
}

/** One question. @param {number} j @param {(j: number, cell: any) => void} told */
export function question(model, j, told) {
  const column = model.columns[j];
  const id = `cell-${j}`;
  const said = remark(model, j);
  const note = said ? [el("small", {}, said)] : [];
  const open = Boolean(column.unknown || column.lacking);
  const label = el("label", { for: id }, named(column.name), ...note);
  const tell = (cell) => told(j, cell);
  let [made, show] = [/** @type {any} */ (null), /** @type {any} */ (null)];
  if (isNumeric(column) && !column.two) {
    const control = numberControl(model, j, tell, id);
    const unknown = open ? [el("button", { type: "button", "aria-label": `${column.name.slice(0, 80)}: unknown`, onclick: () => { control.box.value = ""; tell(null); } }, "unknown")] : [];
    made = el("div", { class: "question" }, el("div", { class: "head" }, label, control.box, ...unknown), ...control.below);
    show = (cell) => { control.show(cell); unknown[0]?.setAttribute("aria-pressed", String(isMissing(cell))); };
  } else if (column.kind === "text") {
    const box = el("textarea", { id, rows: 5, oninput: () => tell(box.value === "" ? null : box.value) });
    made = el("div", { class: "question text" }, label, box);
    show = (cell) => { if (document.activeElement !== box) box.value = cell ?? ""; };
  } else {
    const control = choiceControl(column.two ? [0, 1] : column.values ?? [], open, tell, id, column.name);
    const drawn = densities(model, j);
    made = el("div", { class: "question" }, control.group ? el("div", { class: "label", "aria-hidden": "true" }, named(column.name), ...note) : label,
      ...(drawn ? [drawn.made] : []), control.group ?? control.list);
    show = (cell) => { control.show(cell); drawn?.move(cell); };
  }
  return { made, show(cell) { made.classList.toggle("unknown", isMissing(cell)); show(cell); } };
}
