import { element } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 100;

/** @param {string} tag @param {Record<string, string | number>} attributes */
function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

/**
 * A plot of one or two series over time. `add` appends their next values, null for none, and drops the
 * oldest beyond `capacity`.
 *
 * @param {{ title: string, names: string[], format: (value: number) => string, capacity: number }} options
 */
export function plot({ title, names, format, capacity }) {
  const series = names.map(() => /** @type {(number | null)[]} */ ([]));
  const classOf = (/** @type {number} */ index) => (index === 0 ? "" : "second");
  const svg = shape("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  svg.setAttribute("preserveAspectRatio", "none");
  const lines = names.map((_, index) => shape("polyline", { class: classOf(index), points: "" }));
  svg.append(shape("line", { x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }), ...lines);
  const legend = names.map((_, index) => element("span", { class: `legend ${classOf(index)}` }));
  const scale = element("span");
  const show = () => {
    const top = Math.max(...series.flat().map((value) => value ?? 0)) || 1;
    series.forEach((values, index) => {
      const latest = values.at(-1) ?? null;
      legend[index].textContent = `${names[index]} ${latest === null ? "none" : format(latest)} `;
      lines[index]?.setAttribute("points", pointsOf(values, capacity, top));
    });
    scale.textContent = `top of the plot: ${format(top)}`;
    svg.setAttribute("aria-label", `${title}: ${legend.map((e) => e.textContent).join("")}`);
  };
  show();
  return {
    node: element(
      "section",
      { class: "card" },
      element("h3", {}, title),
      element("p", { class: "muted" }, ...legend),
      svg,
      element("p", { class: "muted" }, scale),
    ),
    /** @param {(number | null)[]} values */
    add(values) {
      series.forEach((list, index) => {
        list.push(values[index] ?? null);
        if (list.length > capacity) list.shift();
      });
      show();
    },
  };
}

/** @param {(number | null)[]} values @param {number} capacity @param {number} top */
function pointsOf(values, capacity, top) {
  const step = WIDTH / (capacity - 1);
  const offset = capacity - values.length;
  const points = values.map((value, index) => {
    if (value === null) return null;
    const y = HEIGHT - (value / top) * (HEIGHT - 4);
    return `${((offset + index) * step).toFixed(1)},${y.toFixed(1)}`;
  });
  return points.filter((point) => point !== null).join(" ");
}
