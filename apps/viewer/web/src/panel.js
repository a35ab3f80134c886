// The controls of the page: texts, switches, and the bar below. Names are inserted as text, never as HTML.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// A report, in which the viewer is one figure of several.
export const inDocument = () => document.body.classList.contains("document");

export const switches = [
  ["shapes", "shapes", "s"],
  ["visuals", "visual geometry", "v"],
  ["skeleton", "skeleton", "k"],
  ["contacts", "contact points", "c"],
  ["forces", "contact forces", "i"],
  ["gradients", "gradient on bodies", "g"],
  ["controls", "gradient of controls", "u"],
  ["axes", "joint axes", "j"],
  ["centres", "centres of mass", "m"],
  ["names", "names", "n"],
];

const help = [
  ["space", "play, pause"],
  ["\u2190 \u2192", "one frame; with shift, ten"],
  ["home, end", "first, last frame"],
  ["+ \u2212", "faster, slower"],
  ["f", "follow the next body; esc: none"],
  ["r", "reset the camera"],
  ["1\u20139", "runs"],
  ["drag, wheel, pinch", "rotate, zoom; right button: pan"],
  ["double click", "follow the clicked body"],
];

export class Panel {
  // `app`: the application that the controls act on (main.js)
  constructor(parent, app) {
    this.app = app;
    const { scene, runs } = app;
    this.title = element("h1", {}, scene.name);
    this.notes = element("ul", { className: "notes" });
    this.legend = element("ul", { className: "legend" });
    this.switchBoxes = {};
    const rows = switches
      .filter(([name]) => app.available[name])
      .map(([name, text, key]) => {
        const box = element("input", { type: "checkbox", checked: app.shown[name], onchange: () => app.toggle(name) });
        this.switchBoxes[name] = box;
        return element("label", {}, box, element("span", {}, text), element("kbd", {}, key));
      });
    this.runBoxes = runs.map((run, i) => {
      const box = element("input", { type: "checkbox", checked: true, onchange: () => app.toggleRun(i) });
      const swatch = element("i", { className: "swatch" });
      swatch.style.background = app.runColours[i] ?? "transparent";
      const text = element("span");
      return { box, text, row: element("label", {}, box, swatch, text) };
    });
    this.nameRuns();
    this.follow = element("select", { title: "body that the camera follows", onchange: (e) => app.followBody(Number(e.target.value)) });
    this.follow.append(element("option", { value: -1 }, "follow nothing"));
    scene.bodies.slice(0, 500).forEach((body, b) => this.follow.append(element("option", { value: b }, `follow ${body.name}`)));
    this.rate = element("span", { className: "rate", title: "frames drawn per second" });
    const keys = element("dl", { className: "keys" });
    for (const [key, what] of help) keys.append(element("dt", {}, key), element("dd", {}, what));
    this.box = element(
      "details",
      { className: "panel", open: parent.clientWidth > 700 && !inDocument() },
      element("summary", {}, "Show"),
      ...(runs.length > 1 ? this.runBoxes.map(({ row }) => row) : []),
      ...rows,
      this.follow,
      element("button", { onclick: () => app.world.home() || app.draw() }, "reset camera"),
      element("details", {}, element("summary", {}, "Keys"), keys),
      this.rate,
    );
    this.head = element("header", { className: "head" }, this.title, this.notes, this.legend);
    app.picture.append(this.head, this.box);
    parent.append(this.makeBar());
    this.say();
  }

  nameRuns() {
    this.app.runs.forEach(({ label, about: { loss } }, i) => {
      this.runBoxes[i].text.textContent = label + (loss === undefined ? "" : `, loss ${Number(loss.toPrecision(4)).toString()}`);
    });
  }

  makeBar() {
    const { app } = this;
    this.play = element("button", { className: "play", title: "play or pause (space)", onclick: () => app.togglePlay() }, "\u25b6");
    this.time = element("output", { className: "time" });
    const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
    this.speed = element("select", { title: "speed", onchange: (e) => app.setSpeed(Number(e.target.value)) });
    for (const speed of speeds) this.speed.append(element("option", { value: speed }, `${speed}\u00d7`));
    this.speed.value = 1;
    this.speeds = speeds;
    this.plot = element("select", { title: "plot of the time line", onchange: (e) => app.choosePlot(Number(e.target.value)) });
    this.plot.append(element("option", { value: -1 }, "no plot"));
    app.plots.forEach((plot, i) => this.plot.append(element("option", { value: i }, plot.name)));
    this.line = element("div", { className: "line" });
    this.bar = element(
      "footer",
      { className: "bar" },
      element("div", { className: "buttons" },
        element("button", { title: "previous frame (left)", onclick: () => app.step(-1) }, "\u2190"),
        this.play,
        element("button", { title: "next frame (right)", onclick: () => app.step(1) }, "\u2192"),
        this.time,
        this.speed,
        ...(app.plots.length > 0 ? [this.plot] : []),
      ),
      this.line,
    );
    return this.bar;
  }

  // Shows the notes of the runs.
  say() {
    const { runs, scene } = this.app;
    for (const note of scene.notes) this.notes.append(element("li", {}, note));
    for (const run of runs) {
      const name = runs.length > 1 ? `${run.label}: ` : "";
      const { every, states, notes } = run.about;
      if (every > 1) this.notes.append(element("li", {}, `${name}${run.frames} of ${states} states are shown, every ${every}th and the last.`));
      for (const note of notes) this.notes.append(element("li", {}, name + note));
    }
  }

  update() {
    const { app } = this;
    const text = `${app.time.toFixed(3)} s`;
    if (this.time.textContent !== text) this.time.textContent = text;
    const sign = app.playing ? "\u275a\u275a" : "\u25b6";
    if (this.play.textContent !== sign) this.play.textContent = sign;
    for (const [name, box] of Object.entries(this.switchBoxes)) box.checked = app.shown[name];
    this.runBoxes.forEach(({ box }, i) => (box.checked = app.runs[i].visible));
    if (document.activeElement !== this.follow) this.follow.value = app.followed;
    const lines = app.legend();
    const now = lines.join("\n");
    if (this.legendText !== now) this.legend.replaceChildren(...lines.map((line) => element("li", {}, line)));
    this.legendText = now;
  }
}
