// Elements. Names from the data are set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** @param {Element} made @param {Record<string, any>} attributes @param {(Node | string)[]} children */
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** An element of the page. @param {string} name @param {Record<string, any>} [attributes] @param {...(Node | string)} children @returns {any} */
export const el = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);

/** An element of a picture. @param {string} name @param {Record<string, any>} [attributes] @param {...(Node | string)} children @returns {any} */
export const svg = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

/** The class of the colour of a class of the model. @param {number} c */
export const colour = (c) => (c < 0 ? "rest" : `k${c % 7}${c % 14 > 6 ? " again" : ""}`);

/** A small square in the colour of a class. @param {number} c */
export const key = (c) => svg("svg", { class: "key", viewBox: "0 0 12 12", "aria-hidden": "true" }, svg("rect", { class: colour(c), width: 12, height: 12 }));

/** A name, at most two lines of it, which rather ends after an underscore; the whole name is its title. @param {string} name */
export const named = (name) => el("bdi", { class: "shortened", title: name }, ...name.split(/(?<=_)/).flatMap((part, i) => (i ? [el("wbr"), part] : [part])));

/** A table that scrolls where it is wider than the page. @param {string} label @param {...(Node | string)} children */
export const wideTable = (label, ...children) =>
  el("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": label }, el("table", {}, ...children));

/** A table of figures. @param {string} first head of the first column @param {string[]} names of the others @param {[any, any[]][]} rows */
export const figures = (label, caption, first, names, rows) => wideTable(label, el("caption", {}, ...[caption].flat()),
  el("thead", {}, el("tr", {}, el("th", { scope: "col" }, first), ...names.map((name) => el("th", { scope: "col", class: "number" }, named(name))))),
  el("tbody", {}, ...rows.map(([head, cells]) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, head)), ...cells.map((cell) => el("td", { class: "number" }, ...[cell].flat()))))));
