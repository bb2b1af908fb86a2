// Attention maps to look into: one module for HTML files and notebooks, with no dependency and no build step.
//
//   show(element, data)      draws into an element of any page
//   default.render           is what anywidget calls, with data in the model
//
// data = { panels: [{ title, maps: [MAP, ...], tree: [NODE, ...], surprise: TEXT, heads: [HEAD, ...] }] }, with null for
// what is not there, and
//   MAP = { kind, rows, columns, shape, weights, grid }: 32-bit floats [layers, heads, rows, columns] as base64;
//     grid = { height, width, image } where the columns are the regions of an image, row by row, or null
//   NODE = { parent, piece, log_prob, score }: as a beam search left them
//   TEXT = { tokens, bits, levels, names, mean }: bits as base64, the number of each token's colour, and their names
//   HEAD = { measure, tokens, layer, head, share, chance, ratio }: of the first map, the best head for each measure
// Words are data: they only ever become text nodes, never markup.

const STYLE = `
.saccade { --paper: #ffffff; --ink: #1b1f24; --faint: #59636e; --line: #d0d7de; --mark: #b35900;
  --level-1: #fde8bd; --level-2: #fab266; --level-3: #c2501c; --level-4: #780a3c; --ink-3: #ffffff; --ink-4: #ffffff; }
@media (prefers-color-scheme: dark) {
  .saccade { --paper: #0f1318; --ink: #e6edf3; --faint: #9aa4af; --line: #3d444d; --mark: #ffb454;
    --level-1: #3c2c10; --level-2: #73480f; --level-3: #d9822b; --level-4: #ffd9a0; --ink-3: #14100a; --ink-4: #14100a; }
}
.saccade { color: var(--ink); background: var(--paper); font: 14px/1.4 system-ui, sans-serif; display: grid; gap: 24px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); padding: 12px; }
.panel { min-width: 0; }
h2 { font-size: 16px; margin: 0 0 8px; overflow-wrap: anywhere; }
.controls { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; margin-bottom: 8px; }
label { color: var(--faint); }
select, button.page { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line);
  border-radius: 4px; padding: 2px 6px; }
.legend { display: inline-flex; align-items: center; gap: 6px; color: var(--faint); }
.legend canvas { width: 80px; height: 10px; border: 1px solid var(--line); }
output { display: block; min-height: 2.9em; padding: 4px 0; overflow-wrap: anywhere; }
.view { overflow: auto; max-height: 85vh; position: relative; }
.matrix { position: relative; width: max-content; }
.matrix canvas { position: absolute; image-rendering: pixelated; outline: 1px solid var(--line); cursor: crosshair;
  touch-action: none; }
.matrix .cell { position: absolute; pointer-events: none; border: 2px solid var(--mark); box-sizing: border-box; }
.matrix .band { position: absolute; pointer-events: none; outline: 1px solid var(--mark); }
.word { position: absolute; font: inherit; font-size: 13px; line-height: 1; color: inherit; background: none; border: 0;
  padding: 0; margin: 0; white-space: pre; cursor: default; border-radius: 3px; }
.word.across { transform-origin: 0 0; transform: rotate(-60deg); }
.word.lit { color: var(--mark); font-weight: 600; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 1px; }
.ribbons { position: relative; }
.ribbons canvas { position: absolute; left: 0; top: 0; pointer-events: none; }
.ribbons .side { position: absolute; color: var(--faint); top: 0; }
.caption { display: flex; flex-wrap: wrap; gap: 4px 10px; margin-bottom: 10px; }
.caption .word { position: static; font-size: 16px; line-height: 1.4; padding: 1px 4px; }
.stage { position: relative; width: max-content; min-width: min(320px, 100%); max-width: 100%; background: #808080; }
.stage img { display: block; width: 100%; }
.stage canvas { position: absolute; inset: 0; width: 100%; height: 100%; cursor: crosshair; touch-action: none; }
.stage canvas.grid { image-rendering: pixelated; }
.stage .cell { position: absolute; pointer-events: none; border: 2px solid #ffb454; box-sizing: border-box; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 12px; }
th, td { border: 1px solid var(--line); padding: 2px 5px; text-align: right; white-space: pre; }
th { font-weight: 600; }
svg { display: block; }
svg .edge { stroke: var(--line); fill: none; stroke-width: 1.5; }
svg .best.edge { stroke: var(--mark); stroke-width: 3; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .score { fill: var(--faint); font-size: 10px; }
svg .best text.piece { fill: var(--mark); font-weight: 600; }
svg .node:focus { outline: none; }
svg .node:focus-visible rect, svg .node:hover rect { stroke: var(--mark); stroke-width: 2; }
svg rect { fill: var(--paper); stroke: var(--line); }
svg .ended rect { stroke-dasharray: 4 2; stroke: var(--faint); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; font: 15px/1.75 ui-monospace, monospace; max-height: 45vh;
  overflow: auto; border: 1px solid var(--line); border-radius: 4px; padding: 6px 10px; margin-bottom: 6px; }
.text span { cursor: default; }
.text span:hover { outline: 1px solid var(--mark); }
.text span, .legend i { padding: 2px 0; font-style: normal; }
.legend i { padding: 2px 6px; border: 1px solid var(--line); border-radius: 3px; color: var(--ink); }
.legend.levels { flex-wrap: wrap; margin-bottom: 8px; }
.saccade .level-1 { background: var(--level-1); }
.saccade .level-2 { background: var(--level-2); }
.saccade .level-3 { background: var(--level-3); color: var(--ink-3); }
.saccade .level-4 { background: var(--level-4); color: var(--ink-4); }
ol.found { margin: 8px 0 0; padding-left: 2.2em; }
`;

const KINDS = { cross: "cross: target looks at source", encoder: "encoder: source looks at itself",
  decoder: "decoder: target looks back", memory: "memory" };
// One hue, ever darker (or, on dark paper, ever brighter): readable without telling colours apart.
const LIGHT = [[255, 255, 255], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 48, 107]];
const DARK = [[15, 19, 24], [23, 55, 96], [52, 118, 186], [147, 196, 240], [244, 250, 255]];
const HINTS = {
  image: "Point at a word or a letter to see where it looked, and at the image to see how much.",
  matrix: "Point at a cell or a word; or go from cell to cell with Tab and the arrow keys.",
  ribbons: "Point at a word, or go from word to word with Tab and the arrow keys.",
  table: "", search: "Point at a hypothesis to read it from its beginning.",
  heads: "Of all heads, the one that looks at such places farthest above chance, as a share of its attention.",
  text: "Point at a letter or a word to see its bits; or go from one to the next with Tab and the arrow keys.",
};
const MEAN = -1;
const GAP = 220; // between the two columns of words of the ribbons
const LINE = 20; // height of a word in the ribbons
const WINDOW = 50; // words at a time in the table of a large map
const PART = 4000; // tokens of a text at a time

const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in element && key !== "list") element[key] = value; else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function makeSvg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Sizes and positions in pixels. */
function put(element, sizes) {
  for (const [name, pixels] of Object.entries(sizes)) element.style[name] = `${pixels}px`;
}

/** 256 colours from no weight to the most, as [red, green, blue]. */
function ramp() {
  const stops = dark() ? DARK : LIGHT;
  return Array.from({ length: 256 }, (_, n) => {
    const position = n / 255 * (stops.length - 1), low = Math.min(Math.floor(position), stops.length - 2);
    return stops[low].map((value, part) => value + (stops[low + 1][part] - value) * (position - low));
  });
}

/** 32-bit floats that were written as base64. */
function readFloats(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let n = 0; n < bytes.length; n++) bytes[n] = letters.charCodeAt(n);
  return new Float32Array(bytes.buffer);
}

class AttentionMap {
  constructor({ kind, rows, columns, shape, weights, grid }) {
    Object.assign(this, { kind, rows, columns, grid });
    [this.layers, this.heads] = shape;
    this.weights = readFloats(weights);
  }

  /** One weight for each row and column: of a layer and head, or the mean over all of them. */
  matrix(layer, head) {
    const size = this.rows.length * this.columns.length;
    const layers = layer === MEAN ? [...Array(this.layers).keys()] : [layer];
    const heads = head === MEAN ? [...Array(this.heads).keys()] : [head];
    if (layers.length * heads.length === 1) {
      const start = (layers[0] * this.heads + heads[0]) * size;
      return this.weights.subarray(start, start + size);
    }
    const sum = new Float64Array(size);
    for (const l of layers) for (const h of heads) {
      const start = (l * this.heads + h) * size;
      for (let n = 0; n < size; n++) sum[n] += this.weights[start + n];
    }
    return sum.map((value) => value / (layers.length * heads.length));
  }
}

/** One model's maps of one sentence, with what is chosen of them. */
class Panel {
  constructor(data, peers) {
    this.maps = data.maps.map((map) => new AttentionMap(map));
    this.tree = data.tree ?? null;
    this.peers = peers;
    this.heads = data.heads ?? null;
    const first = this.maps[0] ? (this.maps[0].grid ? "image" : "matrix") : this.tree ? "search" : "text";
    const { map = 0, layer, head } = data.first ?? {};
    this.chosen = { map, layer: layer ?? MEAN, head: head ?? MEAN, view: first, scale: "", overlay: "smooth" };
    this.current = [0, 0]; // row and column of the cell that the keyboard is on
    this.start = [0, 0]; // of the table's window
    this.controls = make("div", { className: "controls" });
    this.readout = make("output", { role: "status" });
    this.readout.setAttribute("aria-live", "polite");
    this.view = make("div", { className: "view" });
    this.element = make("section", { className: "panel" });
    if (data.title) this.element.append(make("h2", { textContent: data.title }));
    this.element.setAttribute("aria-label", data.title || "attention");
    if (data.surprise) this.element.append(...drawText(this, data.surprise));
    this.element.append(this.controls, this.readout, this.view);
  }

  get map() { return this.maps[this.chosen.map]; }

  draw() {
    this.drawControls();
    if (this.map) {
      this.weights = this.map.matrix(this.chosen.layer, this.chosen.head);
      const scale = this.chosen.scale || (this.map.columns.length > 64 ? "largest" : "one");
      this.most = scale === "one" ? 1 : this.weights.reduce((a, b) => Math.max(a, b), 1e-9);
      const last = [this.map.rows.length - 1, this.map.columns.length - 1];
      this.current = this.current.map((index, axis) => Math.min(index, last[axis]));
    }
    this.view.replaceChildren();
    this.say(HINTS[this.chosen.view]);
    this.lightRow = this.dimRow = null;
    const views = { image: drawImage, matrix: drawMatrix, ribbons: drawRibbons, table: drawTable, search: drawTree, heads: drawHeads };
    views[this.chosen.view]?.(this); // a text by itself has no view
    if (this.map && !["search", "image", "heads"].includes(this.chosen.view)) this.controls.append(legend(this.most));
  }

  drawControls() {
    const choose = (name, options) => {
      const select = make("select", { name });
      for (const [value, text] of options) {
        const selected = String(this.chosen[name]) === String(value);
        select.append(make("option", { value, textContent: text, selected }));
      }
      select.addEventListener("change", () => {
        this.chosen[name] = ["view", "scale", "overlay"].includes(name) ? select.value : Number(select.value);
        if (name === "map") this.chosen.layer = this.chosen.head = MEAN;
        const together = name === "view" ? this.peers : [this]; // what stands side by side is seen alike
        for (const panel of together) if (panel.has(this.chosen.view)) { panel.chosen.view = this.chosen.view; panel.draw(); }
        this.controls.querySelector(`[name=${name}]`).focus();
      });
      this.controls.append(make("label", {}, `${name} `, select));
    };
    this.controls.replaceChildren();
    const views = this.map ? [["matrix", "matrix"], ["ribbons", "ribbons"], ["table", "table"]] : [];
    if (this.map?.grid) views.unshift(["image", "image"]);
    if (this.tree) views.push(["search", "beam search"]);
    if (this.heads) views.push(["heads", "heads"]);
    if (views.length) choose("view", views);
    if (!this.map || ["search", "heads"].includes(this.chosen.view)) return;
    const count = (many) => [[MEAN, `mean of ${many}`], ...Array.from({ length: many }, (_, n) => [n, n + 1])];
    if (this.maps.length > 1) choose("map", this.maps.map((map, n) => [n, KINDS[map.kind]]));
    if (this.map.layers > 1) choose("layer", count(this.map.layers));
    if (this.map.heads > 1) choose("head", count(this.map.heads));
    if (this.chosen.view === "image") choose("overlay", [["smooth", "smooth"], ["grid", "as the grid"]]);
    else choose("scale", [["", this.map.columns.length > 64 ? "usual: to the largest" : "usual: 0 to 1"], ["one", "0 to 1"], ["largest", "to the largest"]]);
  }

  /** Whether there is anything to see in a view. */
  has(view) {
    if (view === "search") return this.tree !== null;
    if (view === "heads") return this.heads !== null;
    return this.map !== undefined && (view !== "image" || Boolean(this.map.grid));
  }

  weight(row, column) { return this.weights[row * this.map.columns.length + column]; }

  say(text, facts = {}) {
    this.readout.textContent = text;
    for (const name of ["row", "column", "weight", "token", "bits"]) delete this.readout.dataset[name];
    Object.assign(this.readout.dataset, facts);
  }

  sayCell(row, column) {
    const { rows, columns } = this.map, weight = this.weight(row, column);
    this.say(`${shown(rows[row])} → ${shown(columns[column])}: ${weight.toFixed(4)}`, { row, column, weight });
  }

  /** The five strongest partners of a word. */
  sayWord(axis, index) {
    const { rows, columns } = this.map, ofRow = axis === "row";
    const weight = (other) => (ofRow ? this.weight(index, other) : this.weight(other, index));
    const others = (ofRow ? columns : rows).map((word, n) => [weight(n), word]);
    others.sort((a, b) => b[0] - a[0]);
    const list = others.slice(0, 5).map(([weight, word]) => `${shown(word)} ${weight.toFixed(3)}`).join(", ");
    const what = ofRow ? `${shown(rows[index])} looked at` : `${shown(columns[index])} was looked at by`;
    this.say(`${what}: ${list}`, { [axis]: index });
  }

  /** A token of the text above the map, with what it looked at, if the map has it: its rows are the last tokens. */
  sayToken(scored, index) {
    const bits = scored.bits[index], row = this.map ? index - scored.tokens.length + this.map.rows.length : -1;
    const own = `${shown(scored.tokens[index])}: ${bits.toFixed(2)} bits, probability ${(2 ** -bits).toPrecision(2)}`;
    if (row < 0 || this.map.kind !== "decoder" || !this.lightRow) this.say(own, { token: index, bits });
    else {
      this.lightRow(row);
      this.sayWord("row", row);
      this.say(`${own}. ${this.readout.textContent}`, { token: index, bits, row });
    }
  }

  /** The other panels of the page show the same source word. */
  tellPeers(column) {
    for (const peer of this.peers) {
      const same = peer.map?.columns[column] === this.map.columns[column];
      if (peer !== this && same) peer.lightColumn?.(column);
    }
  }
}

function legend(most) {
  const strip = make("canvas", { width: 256, height: 1 }), pen = strip.getContext("2d");
  ramp().forEach((colour, n) => { pen.fillStyle = `rgb(${colour})`; pen.fillRect(n, 0, 1, 1); });
  return make("span", { className: "legend" }, "0", strip, most === 1 ? "1" : most.toPrecision(3));
}

/** A word that can be pointed at and focused; the arrows go from one to the next. */
function wordButton(words, index, { className, text, description, light, dim, step }) {
  const button = make("button", { type: "button", className, textContent: text, tabIndex: index === 0 ? 0 : -1 });
  button.setAttribute("aria-label", description);
  button.addEventListener("pointerenter", light);
  button.addEventListener("pointerleave", dim);
  button.addEventListener("focus", light);
  button.addEventListener("blur", dim);
  button.addEventListener("keydown", (event) => {
    const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? words.length - 1 : index + (move ?? NaN);
    if (words[to]) {
      event.preventDefault();
      words.forEach((word, n) => { word.tabIndex = n === to ? 0 : -1; });
      words[to].focus();
      step?.(to);
    }
  });
  return button;
}

/** A word as it is shown: a space can be seen, and a long word is cut. */
function shown(word, most = 24) {
  const seen = word.replaceAll("\n", "⏎"), letters = [...(seen.trim() ? seen : "␣")];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}

function drawMatrix(panel) {
  const { rows, columns, kind } = panel.map;
  const room = Math.max(320, (panel.view.clientWidth || 720) - 24);
  const labelled = Math.max(rows.length, columns.length) <= 100;
  const longest = (words) => Math.min(24, Math.max(...words.map((word) => [...word].length)));
  const left = labelled ? 12 + longest(rows) * 8 : 0, top = labelled ? 12 + longest(columns) * 8 : 0;
  const fitting = Math.floor((room - left - (labelled ? 40 : 0)) / columns.length);
  const cell = Math.max(labelled ? 16 : 1, Math.min(36, fitting));
  const width = cell * columns.length, height = cell * rows.length;
  const canvas = make("canvas", { width: columns.length, height: rows.length, tabIndex: 0 });
  canvas.setAttribute("role", "application");
  const size = `${rows.length} rows, ${columns.length} columns`;
  canvas.setAttribute("aria-label", `${KINDS[kind]}; ${size}; arrows go from cell to cell`);
  put(canvas, { left, top, width, height });
  const pen = canvas.getContext("2d"), image = pen.createImageData(columns.length, rows.length), colours = ramp();
  for (let n = 0; n < panel.weights.length; n++) {
    const [red, green, blue] = colours[Math.min(255, Math.round(panel.weights[n] / panel.most * 255))];
    image.data[4 * n] = red;
    image.data[4 * n + 1] = green;
    image.data[4 * n + 2] = blue;
    image.data[4 * n + 3] = 255;
  }
  pen.putImageData(image, 0, 0);

  const frame = make("div", { className: "cell", hidden: true });
  const bands = ["row", "column"].map(() => make("div", { className: "band", hidden: true }));
  const box = make("div", { className: "matrix" }, canvas, ...bands, frame);
  const whole = left + width + (labelled ? top / 2 + 8 : 8);
  put(box, { width: whole, height: top + height + 4 });
  const putBand = (row, column) => {
    bands[0].hidden = row === null;
    bands[1].hidden = column === null;
    if (row !== null) put(bands[0], { left, top: top + row * cell, width, height: cell });
    if (column !== null) put(bands[1], { left: left + column * cell, top, width: cell, height });
  };
  const hide = () => { frame.hidden = true; putBand(null, null); };
  const goTo = (row, column) => {
    panel.current = [row, column];
    frame.hidden = false;
    put(frame, { left: left + column * cell - 1, top: top + row * cell - 1, width: cell + 2, height: cell + 2 });
    putBand(row, column);
    panel.sayCell(row, column);
    panel.tellPeers(column);
  };
  panel.lightColumn = (column) => { frame.hidden = true; putBand(null, column); panel.sayWord("column", column); };
  panel.lightRow = (row) => { frame.hidden = true; putBand(row, null); };
  panel.dimRow = hide;
  canvas.addEventListener("pointermove", (event) => {
    const at = [Math.floor(event.offsetY / cell), Math.floor(event.offsetX / cell)];
    if (at[0] >= 0 && at[1] >= 0 && at[0] < rows.length && at[1] < columns.length) goTo(...at);
  });
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) goTo(...panel.current); });
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("keydown", (event) => {
    let [row, column] = panel.current;
    const last = [rows.length - 1, columns.length - 1];
    if (event.key === "ArrowUp") row = Math.max(0, row - 1);
    else if (event.key === "ArrowDown") row = Math.min(last[0], row + 1);
    else if (event.key === "ArrowLeft") column = Math.max(0, column - 1);
    else if (event.key === "ArrowRight") column = Math.min(last[1], column + 1);
    else if (event.key === "Home") column = 0;
    else if (event.key === "End") column = last[1];
    else return;
    event.preventDefault();
    goTo(row, column);
  });
  if (!labelled) panel.say(`${HINTS.matrix} There are too many words to stand beside the cells.`);
  if (labelled) {
    for (const axis of ["row", "column"]) {
      const words = [];
      (axis === "row" ? rows : columns).forEach((word, index) => {
        const button = wordButton(words, index, {
          className: axis === "row" ? "word" : "word across",
          text: shown(word),
          description: axis === "row" ? `${word}, row ${index + 1}` : `${word}, column ${index + 1}`,
          light: () => {
            if (axis === "row") putBand(index, null); else { putBand(null, index); panel.tellPeers(index); }
            panel.sayWord(axis, index);
          },
          dim: hide,
        });
        const middle = index * cell + cell / 2;
        if (axis === "row") put(button, { right: whole - left + 6, top: top + middle - 6 });
        else put(button, { left: left + middle - 5, top: top - 8 });
        words.push(button);
      });
      box.append(...words);
    }
  }
  panel.view.append(box);
}

/** The image that was looked at, bright where the chosen word looked; the words stand above it. */
function drawImage(panel) {
  const { rows, grid } = panel.map;
  const overlay = make("canvas", { width: grid.width, height: grid.height, className: panel.chosen.overlay });
  overlay.setAttribute("role", "img");
  const frame = make("div", { className: "cell", hidden: true });
  const stage = make("div", { className: "stage" });
  if (grid.image) stage.append(make("img", { src: grid.image, alt: "the image that was looked at" }));
  else put(stage, { width: 360, height: 360 * grid.height / grid.width });
  stage.append(overlay, frame);
  const words = [];
  const light = (row) => {
    panel.current[0] = row;
    words.forEach((word, n) => word.classList.toggle("lit", n === row));
    const pen = overlay.getContext("2d"), image = pen.createImageData(grid.width, grid.height);
    const size = grid.width * grid.height, looked = panel.weights.subarray(row * size, (row + 1) * size);
    const most = looked.reduce((a, b) => Math.max(a, b), 1e-9);
    looked.forEach((weight, index) => { image.data[4 * index + 3] = Math.round(190 * (1 - weight / most)); });
    pen.putImageData(image, 0, 0);
    overlay.setAttribute("aria-label", `where ${rows[row]} looked`);
  };
  const box = make("div", { className: "caption" });
  rows.forEach((word, row) => {
    words.push(wordButton(words, row, {
      className: "word", text: shown(word), description: `${word}, word ${row + 1}`,
      light: () => { light(row); panel.sayWord("row", row); },
      dim: () => {},
    }));
  });
  box.append(...words);
  overlay.addEventListener("pointermove", (event) => {
    const wide = overlay.clientWidth / grid.width, high = overlay.clientHeight / grid.height;
    const x = Math.floor(event.offsetX / wide), y = Math.floor(event.offsetY / high);
    if (x < 0 || y < 0 || x >= grid.width || y >= grid.height) return;
    frame.hidden = false;
    put(frame, { left: x * wide, top: y * high, width: wide, height: high });
    panel.sayCell(panel.current[0], y * grid.width + x);
  });
  overlay.addEventListener("pointerleave", () => { frame.hidden = true; });
  panel.lightColumn = null;
  panel.view.append(box, stage);
  light(panel.current[0]);
}

function drawRibbons(panel) {
  const { rows, columns } = panel.map;
  const side = 8 + 8 * Math.min(24, Math.max(...columns.map((word) => [...word].length)));
  const height = (Math.max(rows.length, columns.length) + 2) * LINE, width = side + GAP;
  const scale = height > 4000 ? 1 : devicePixelRatio || 1;
  const canvas = make("canvas", { width: GAP * scale, height: height * scale });
  canvas.setAttribute("aria-hidden", "true");
  put(canvas, { left: side, width: GAP, height });
  const heads = ["looked at", "looks"].map((textContent) => make("span", { className: "side", textContent }));
  put(heads[1], { left: width + 6 });
  const box = make("div", { className: "ribbons" }, canvas, ...heads);
  put(box, { width: width + side + 200, height });
  const pen = canvas.getContext("2d");
  const middle = (index) => (index + 1.5) * LINE;
  const paint = (only = null) => {
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, GAP, height);
    pen.strokeStyle = getComputedStyle(box).getPropertyValue(only ? "--mark" : "--ink");
    const least = only ? 0.005 : 0.02; // fainter ones cannot be seen
    for (let row = 0; row < rows.length; row++) {
      if (only?.axis === "row" && only.index !== row) continue;
      for (let column = 0; column < columns.length; column++) {
        if (only?.axis === "column" && only.index !== column) continue;
        const share = panel.weight(row, column) / panel.most;
        if (share < least) continue;
        pen.globalAlpha = Math.min(1, 0.1 + 0.9 * share);
        pen.lineWidth = 0.5 + 6 * share;
        pen.beginPath();
        pen.moveTo(0, middle(column));
        pen.bezierCurveTo(GAP / 2, middle(column), GAP / 2, middle(row), GAP, middle(row));
        pen.stroke();
      }
    }
  };
  const sides = { row: [], column: [] };
  const light = (axis, index) => {
    paint({ axis, index });
    panel.sayWord(axis, index);
    const other = axis === "row" ? "column" : "row";
    sides[other].forEach((word, n) => {
      const weight = axis === "row" ? panel.weight(index, n) : panel.weight(n, index);
      word.classList.toggle("lit", weight / panel.most >= 0.2);
    });
    sides[axis].forEach((word, n) => word.classList.toggle("lit", n === index));
  };
  const dim = () => { paint(); for (const word of [...sides.row, ...sides.column]) word.classList.remove("lit"); };
  panel.lightColumn = (column) => light("column", column);
  panel.lightRow = (row) => light("row", row);
  panel.dimRow = dim;
  for (const [axis, words] of [["column", columns], ["row", rows]]) {
    words.forEach((word, index) => {
      const button = wordButton(sides[axis], index, {
        className: "word", text: shown(word),
        description: axis === "row" ? `${word}, row ${index + 1}` : `${word}, column ${index + 1}`,
        light: () => { light(axis, index); if (axis === "column") panel.tellPeers(index); },
        dim,
      });
      put(button, { top: middle(index) - 7 });
      if (axis === "row") put(button, { left: width + 6 }); else button.style.right = `calc(100% - ${side - 6}px)`;
      sides[axis].push(button);
    });
    box.append(...sides[axis]);
  }
  panel.view.append(box);
  paint();
}

function drawTable(panel) {
  const { rows, columns } = panel.map;
  const [firstRow, firstColumn] = panel.start;
  const parts = [["rows", rows, firstRow, 0], ["columns", columns, firstColumn, 1]];
  for (const [name, words, first, axis] of parts) {
    if (words.length <= WINDOW) continue;
    const turn = (text, to) => {
      const button = make("button", { type: "button", className: "page", textContent: text });
      button.disabled = to < 0 || to >= words.length;
      button.addEventListener("click", () => { panel.start[axis] = to; panel.draw(); });
      return button;
    };
    const part = `${name} ${first + 1} to ${Math.min(first + WINDOW, words.length)} of ${words.length} `;
    panel.view.append(make("p", {}, part, turn("earlier", first - WINDOW), " ", turn("later", first + WINDOW)));
  }
  const table = make("table"), head = make("tr", {}, make("td"));
  for (const word of columns.slice(firstColumn, firstColumn + WINDOW)) {
    head.append(make("th", { scope: "col", textContent: shown(word, Infinity) }));
  }
  table.append(make("thead", {}, head));
  const body = make("tbody");
  rows.slice(firstRow, firstRow + WINDOW).forEach((word, n) => {
    const line = make("tr", {}, make("th", { scope: "row", textContent: shown(word, Infinity) }));
    columns.slice(firstColumn, firstColumn + WINDOW).forEach((_, m) => {
      const weight = panel.weight(firstRow + n, firstColumn + m), cell = make("td", { textContent: weight.toFixed(3) });
      cell.dataset.weight = weight;
      line.append(cell);
    });
    body.append(line);
  });
  table.append(body);
  panel.lightColumn = null;
  panel.view.append(table);
}

/** The text with a colour behind each token, what the colours mean, and where it is long the ways to its other parts. */
function drawText(panel, { tokens, bits, levels, names, mean }) {
  const scored = { tokens, bits: readFloats(bits) };
  const text = make("div", { className: "text", role: "group" }), turns = make("p", { hidden: tokens.length <= PART });
  const spanOf = (target) => target.closest?.("[data-token]");
  const tell = (event) => { const span = spanOf(event.target); if (span) panel.sayToken(scored, Number(span.dataset.token)); };
  const dim = () => panel.dimRow?.();
  const paint = (first) => {
    const part = tokens.slice(first, first + PART);
    text.setAttribute("aria-label", `the text, tokens ${first + 1} to ${first + part.length}, each with its bits`);
    text.replaceChildren(...part.map((token, n) => {
      const label = `${shown(token)}: ${scored.bits[first + n].toFixed(2)} bits`;
      const span = make("span", { textContent: token.replaceAll("\n", "⏎\n"), title: label, role: "img", tabIndex: n ? -1 : 0 });
      span.setAttribute("aria-label", label);
      span.className = `level-${levels[first + n]}`;
      span.dataset.token = first + n;
      return span;
    }));
    const turn = (name, to) => {
      const button = make("button", { type: "button", className: "page", textContent: name });
      button.disabled = to < 0 || to >= tokens.length;
      button.addEventListener("click", () => paint(to));
      return button;
    };
    const where = `tokens ${first + 1} to ${first + part.length} of ${tokens.length} `;
    turns.replaceChildren(where, turn("earlier", first - PART), " ", turn("later", first + PART));
  };
  text.addEventListener("pointerover", tell);
  text.addEventListener("pointerleave", dim);
  text.addEventListener("focusin", tell);
  text.addEventListener("focusout", dim);
  text.addEventListener("keydown", (event) => {
    const span = spanOf(event.target);
    const to = { ArrowDown: span?.nextSibling, ArrowRight: span?.nextSibling, ArrowUp: span?.previousSibling,
      ArrowLeft: span?.previousSibling, Home: text.firstChild, End: text.lastChild }[event.key];
    if (!to) return;
    event.preventDefault();
    span.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  const legend = make("div", { className: "legend levels" }, "bits a token:");
  names.forEach((name, level) => legend.append(make("i", { className: `level-${level}`, textContent: name })));
  legend.append(`${mean.toFixed(2)} in the mean`);
  paint(0);
  return [text, turns, legend];
}

/** For each place that is looked back to, the best head, with its map a click away. */
function drawHeads(panel) {
  const names = ["layer", "head", "share", "chance", "ratio", "tokens"], head = make("tr", {}, make("td"));
  for (const name of names) head.append(make("th", { scope: "col", textContent: name }));
  const body = make("tbody");
  for (const found of panel.heads) {
    const line = make("tr", {}, make("th", { scope: "row", textContent: found.measure }));
    for (const name of names) {
      const digits = { share: 3, chance: 3, ratio: 2 }[name];
      line.append(make("td", { textContent: digits ? found[name].toFixed(digits) : found[name] }));
    }
    const button = make("button", { type: "button", className: "page", textContent: "show" });
    button.setAttribute("aria-label", `show layer ${found.layer}, head ${found.head}`);
    button.addEventListener("click", () => {
      Object.assign(panel.chosen, { map: 0, layer: found.layer - 1, head: found.head - 1, view: "matrix" });
      panel.draw();
      panel.controls.querySelector("[name=view]").focus();
    });
    line.append(make("td", {}, button));
    body.append(line);
  }
  panel.lightColumn = null;
  panel.view.append(make("table", {}, make("thead", {}, head), body));
}

/** The nodes of a search with their position in the drawing: steps across, the likeliest of each step on top. */
function layOut(tree) {
  const nodes = tree.map((node, id) => ({ ...node, id })), steps = [];
  for (const node of nodes) {
    node.before = node.parent === null ? [] : [...nodes[node.parent].before, nodes[node.parent]];
    (steps[node.before.length] ??= []).push(node);
  }
  steps.forEach((step, depth) => {
    step.sort((a, b) => b.log_prob - a.log_prob).forEach((node, slot) => Object.assign(node, { depth, slot }));
  });
  return { nodes, steps };
}

function drawTree(panel) {
  const { nodes, steps } = layOut(panel.tree), WIDE = 128, HIGH = 44;
  const found = nodes.filter((node) => node.score !== null).sort((a, b) => b.score - a.score);
  const best = new Set(found.length ? [...found[0].before, found[0]].map((node) => node.id) : []);
  const high = Math.max(...steps.map((step) => step.length)) * HIGH + 8;
  const drawing = makeSvg("svg", { width: steps.length * WIDE + 8, height: high, role: "group",
    "aria-label": "hypotheses of the beam search" });
  const x = (node) => node.depth * WIDE + 4, y = (node) => node.slot * HIGH + 4;
  for (const node of nodes) {
    if (node.parent === null) continue;
    const from = nodes[node.parent], x0 = x(from) + WIDE - 28, y0 = y(from) + 17, x1 = x(node), y1 = y(node) + 17;
    const d = `M${x0} ${y0}C${x0 + 14} ${y0} ${x1 - 14} ${y1} ${x1} ${y1}`;
    drawing.append(makeSvg("path", { class: best.has(node.id) ? "edge best" : "edge", d }));
  }
  const words = (node) => [...node.before, node].map((each) => each.piece).join(" ");
  for (const node of nodes) {
    const ended = node.score !== null, figure = ended ? `score ${node.score.toFixed(3)}` : node.log_prob.toFixed(2);
    const piece = makeSvg("text", { class: "piece", x: x(node) + 6, y: y(node) + 16 }, shown(node.piece, 12));
    const score = makeSvg("text", { class: "score", x: x(node) + 6, y: y(node) + 29 }, figure);
    const after = node.parent === null ? "the start" : words(nodes[node.parent]);
    const label = `step ${node.depth + 1}: ${node.piece}, ${ended ? "ends, " : ""}${figure}; after ${after}`;
    const kind = `node${ended ? " ended" : ""}${best.has(node.id) ? " best" : ""}`;
    const frame = makeSvg("rect", { x: x(node), y: y(node), width: WIDE - 28, height: 34, rx: 5 });
    const group = makeSvg("g", { class: kind, tabindex: 0, role: "img", "aria-label": label }, frame, piece, score);
    const likely = `log probability ${node.log_prob.toFixed(3)}${ended ? `, ${figure}` : ""}`;
    const tell = () => panel.say(`${words(node)}: ${likely}`);
    group.addEventListener("pointerenter", tell);
    group.addEventListener("focus", tell);
    drawing.append(group);
  }
  const list = make("ol", { className: "found" });
  for (const node of found) list.append(make("li", { textContent: `${node.score.toFixed(3)}  ${words(node)}` }));
  panel.lightColumn = null;
  panel.view.append(drawing, list);
}

export function show(element, data) {
  const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
  const box = make("div", { className: "saccade" });
  root.replaceChildren(make("style", { textContent: STYLE }), box);
  const panels = [];
  for (const panel of data.panels) {
    const made = new Panel(panel, panels);
    panels.push(made);
    box.append(made.element);
  }
  const draw = () => panels.forEach((panel) => panel.draw());
  draw(); // only now are widths known
  const theme = matchMedia("(prefers-color-scheme: dark)");
  theme.addEventListener("change", draw);
  return () => theme.removeEventListener("change", draw);
}

function render({ model, el }) {
  const root = make("div");
  el.append(root);
  let close = show(root, model.get("data"));
  const again = () => { close(); close = show(root, model.get("data")); };
  model.on("change:data", again);
  return () => { model.off("change:data", again); close(); };
}

export default { render };
