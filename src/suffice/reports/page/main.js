// Starts the page: reads the model, draws the places, and keeps them in step with the row asked about.
import { readAddress, startOf, writeAddress } from "./address.js";
import { averages, showAnswer } from "./answer.js";
import { question } from "./ask.js";
import { showColumns } from "./columns.js";
import { showGood, showVerdict } from "./good.js";
import { showNomogram } from "./nomogram.js";
import { showRows } from "./rows.js";
import { DRAWN_CLASSES } from "./densities.js";
import { legend } from "./chart.js";
import { el } from "./dom.js";

const OPEN_QUESTIONS = 12;

const place = (id) => /** @type {any} */ (document.getElementById(id));
const tells = (column) => column.bits ?? column.moves ?? -1;

function start() {
  const model = JSON.parse(place("model").textContent);
  model.terms ??= model.members[0].terms.filter((one) => !one.pairs && one.hidden === undefined).map((one) => ({ ...one, weight: 1 }));
  const order = model.columns.map((_, j) => j).sort((a, b) => tells(model.columns[b]) - tells(model.columns[a]));
  model.order = order;
  model.weighted = model.terms.some((one) => (one.weight ?? 1) !== 1);
  // What stays of the answer: a sentence, which is read out, and the places of the rest.
  const sentence = el("p", { class: "sentence", role: "status", "aria-live": "polite" });
  const view = { sentence, stack: el("div"), body: el("div"), average: averages(model) };
  place("answer").append(el("div", { class: "said" }, sentence, view.stack), view.body);
  const show = () => showAnswer(model, x, view);
  let x = readAddress(model);
  const questions = new Map();

  function told(j, cell) {
    x[j] = cell;
    questions.get(j)?.show(cell);
    show();
    writeAddress(model, x);
  }

  const draw = (j) => {
    const made = question(model, j, told);
    questions.set(j, made);
    made.show(x[j]);
    return made.made;
  };

  const form = place("questions");
  if (model.task === "classes") form.append(legend(model.outputs.slice(0, DRAWN_CLASSES)));
  form.append(...order.slice(0, OPEN_QUESTIONS).map(draw));
  const rest = order.slice(OPEN_QUESTIONS);
  if (rest.length) {
    const more = el("details", {}, el("summary", {}, `${rest.length} more column${rest.length > 1 ? "s" : ""}`));
    more.addEventListener("toggle", () => more.append(...rest.map(draw)), { once: true });
    form.append(more);
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  place("ask-how").append(model.columns.some((one) => one.unknown) ? "Say what is known of a row; what is unknown is left out of the answer. "
      : model.columns.some((one) => one.lacking) ? "It starts at the average row: change what you know. What is unknown counts as missing, as some cells of the fit were. "
      : "This model needs every cell. It starts at the average row: change what you know. ",
    el("button", { type: "button", onclick: () => restore(startOf(model)) }, "Start again"));

  /** @param {any[]} cells */
  function restore(cells) {
    x = [...cells];
    for (const [j, made] of questions) made.show(x[j]);
    show();
    writeAddress(model, x);
  }
  window.addEventListener("hashchange", () => (location.hash.includes("?") ? restore(readAddress(model)) : writeAddress(model, x)));
  show();
  showVerdict(model, place("verdict-picture"));
  showColumns(model, place("column-list"));
  if (model.tested) showGood(model, place("good-body"));
  if (model.rows?.length) showRows(model, place("row-list"), (row) => restore(row.cells));
  showNomogram(model, place("nomogram"));
}

start();
