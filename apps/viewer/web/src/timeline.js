// The time line: the current time, and a plot over time of the norm of the adjoint or of a control and its gradient.
import { palette, runColour, theme } from "./colours.js";

const pad = 10; // px on both sides of the plot

function niceStep(span, maxSteps) {
  const power = 10 ** Math.floor(Math.log10(span / maxSteps));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => span / step <= maxSteps) ?? span;
}

export class Timeline {
  // `plots`: {name, unit, log, lines: [{label, values(run) -> (frames) numbers}]}; seek(time) is called while the pointer drags.
  constructor(parent, runs, start, end, seek) {
    this.runs = runs;
    this.start = start;
    this.end = Math.max(end, start + 1e-9);
    this.canvas = parent.appendChild(document.createElement("canvas"));
    this.canvas.className = "timeline";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "slider");
    this.canvas.setAttribute("aria-label", "time");
    const to = (event) => {
      const box = this.canvas.getBoundingClientRect();
      seek(this.start + ((this.end - this.start) * (event.clientX - box.left - pad)) / (box.width - 2 * pad));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      to(event);
    });
    this.canvas.addEventListener("pointermove", (event) => this.canvas.hasPointerCapture(event.pointerId) && to(event));
  }

  show(plot) {
    this.plot = plot;
    this.canvas.classList.toggle("tall", Boolean(plot));
    this.background = null;
  }

  x(time) {
    return pad + ((this.width - 2 * pad) * (time - this.start)) / (this.end - this.start);
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio, 2);
    this.width = Math.max(1, this.canvas.clientWidth);
    this.height = Math.max(1, this.canvas.clientHeight);
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.ratio = ratio;
    this.background = null;
  }

  // Draws the plot, which does not change from frame to frame.
  drawBackground() {
    this.background = document.createElement("canvas");
    this.background.width = this.canvas.width;
    this.background.height = this.canvas.height;
    const c = this.background.getContext("2d");
    c.scale(this.ratio, this.ratio);
    c.font = "11px system-ui, sans-serif";
    const bottom = this.height - 16;
    c.fillStyle = theme.muted;
    c.strokeStyle = theme.line;
    c.textAlign = "center";
    const step = niceStep(this.end - this.start, Math.max(2, this.width / 90));
    for (let t = Math.ceil(this.start / step - 1e-9) * step; t <= this.end * (1 + 1e-9) + 1e-12; t += step) {
      const x = this.x(t);
      c.beginPath();
      c.moveTo(x, bottom);
      c.lineTo(x, bottom + 3);
      c.stroke();
      const text = Number(t.toPrecision(6)).toString() + " s";
      const half = c.measureText(text).width / 2;
      c.fillText(text, Math.min(this.width - half - 2, Math.max(half + 2, x)), this.height - 3);
    }
    c.beginPath();
    c.moveTo(pad, bottom);
    c.lineTo(this.width - pad, bottom);
    c.stroke();
    if (this.plot) this.drawPlot(c, 16, bottom - 2);
  }

  drawPlot(c, top, bottom) {
    const lines = [];
    for (const run of this.runs)
      if (run.visible)
        for (const line of this.plot.lines) {
          const values = line.values(run);
          if (values) lines.push({ run, values, dashed: line.dashed, label: line.label });
        }
    let low = Infinity;
    let high = -Infinity;
    const counts = (x) => Number.isFinite(x) && !(this.plot.log && (x <= -399 || x >= 399));
    for (const { values } of lines) for (const x of values) if (counts(x)) (low = Math.min(low, x)), (high = Math.max(high, x));
    if (!(high >= low)) return;
    if (this.plot.log) high = Math.max(high, low + 0.5);
    const span = high - low || Math.abs(high) || 1;
    if (high === low) (low -= 0.5 * span), (high += 0.5 * span);
    const y = (value) => bottom - ((bottom - top) * (Math.min(high, Math.max(low, value)) - low)) / (high - low);
    // the colour of a line is that of its run, where there are several
    const colour = ({ run }, index) => runColour(this.runs.indexOf(run), this.runs.length) ?? palette[index % palette.length];
    lines.forEach((line, index) => {
      const { run, values, dashed } = line;
      c.strokeStyle = colour(line, index);
      c.lineWidth = 1.5;
      c.setLineDash(dashed ? [5, 3] : []);
      c.beginPath();
      values.forEach((value, f) => c.lineTo(this.x(run.times[f]), y(value)));
      c.stroke();
    });
    c.setLineDash([]);
    const number = (x) => Number((this.plot.log ? 10 ** x : x).toPrecision(this.plot.log ? 1 : 3)).toString();
    c.textAlign = "left";
    c.fillStyle = theme.muted;
    c.fillText(number(high), pad, top - 3);
    c.fillText(number(low), pad, bottom - 3);
    let right = this.width - pad;
    c.textAlign = "right";
    lines
      .map((line, index) => ({ ...line, index }))
      .map(({ run, label, dashed, index }) => ({ run, text: label + (this.runs.length > 1 ? `, ${run.label}` : "") + (dashed ? " (dashed)" : ""), index }))
      .reverse()
      .forEach(({ run, text, index }) => {
        c.fillStyle = colour({ run }, index);
        if (right > 0.25 * this.width) c.fillText(text, right, top - 4);
        right -= c.measureText(text).width + 12;
      });
  }

  draw(time) {
    if (this.canvas.clientWidth !== this.width || this.canvas.clientHeight !== this.height) this.resize();
    if (!this.background) this.drawBackground();
    const c = this.canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.drawImage(this.background, 0, 0);
    c.scale(this.ratio, this.ratio);
    const x = this.x(time);
    c.strokeStyle = c.fillStyle = theme.text;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(x, 4);
    c.lineTo(x, this.height - 16);
    c.stroke();
    c.beginPath();
    c.arc(x, this.height - 16, 5, 0, 7);
    c.fill();
    this.canvas.setAttribute("aria-valuetext", `${time.toFixed(3)} s`);
  }
}

// The available plots of the runs.
export function plots(runs, scene) {
  const out = [];
  if (runs.some((run) => run.adjointNorms)) {
    const part = (run, k) => run.adjointNorms && Float32Array.from({ length: run.frames }, (_, f) => run.adjointNorms[2 * f + k]);
    out.push({
      name: "norm of the adjoint",
      log: true,
      lines: [
        { label: "|\u2202L/\u2202q|", values: (run) => part(run, 0) },
        { label: "|\u2202L/\u2202v|", values: (run) => part(run, 1), dashed: true },
      ],
    });
  }
  const n = scene.actuators.length;
  const column = (all, run, k) => all && all.length > 0 && Float32Array.from({ length: run.frames }, (_, f) => all[f * n + k]);
  scene.actuators.slice(0, 100).forEach((actuator, k) => {
    const unit = actuator.unit ? `, ${actuator.unit}` : "";
    out.push({ name: `control ${actuator.name}`, lines: [{ label: `${actuator.name}${unit}`, values: (run) => column(run.controls, run, k) }] });
    if (runs.some((run) => run.controlGradients))
      out.push({
        name: `gradient of ${actuator.name}`,
        lines: [{ label: `\u2202L/\u2202u(${actuator.name}) / h`, values: (run) => column(run.controlGradients, run, k) }],
      });
  });
  return out;
}
