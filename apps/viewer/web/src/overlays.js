// Overlays of a run: contacts, gradients, joint axes, centres of mass, names. Each can be switched on and off.
import * as THREE from "three";
import { meaning } from "./colours.js";
import { Arrows, Dots } from "./marks.js";

// The number of decades below the largest arrow that are distinguished, and the length of smaller arrows.
const decades = 4;
const shortest = 0.15;

// The largest length of the three-vectors in an array.
function largest(vectors) {
  let most = 0;
  for (let i = 0; i + 2 < vectors.length; i += 3) most = Math.max(most, Math.hypot(vectors[i], vectors[i + 1], vectors[i + 2]));
  return most;
}

// The median length of the vectors.
function median(vectors) {
  const lengths = [];
  const stride = 3 * Math.max(1, Math.floor(vectors.length / 3 / 20000));
  for (let i = 0; i + 2 < vectors.length; i += stride) lengths.push(Math.hypot(vectors[i], vectors[i + 1], vectors[i + 2]));
  lengths.sort((a, b) => a - b);
  return lengths[lengths.length >> 1] || 0;
}

// The arrow length in [0, 1] of a magnitude: logarithmic, so that exploding and vanishing gradients stay visible.
function logarithmic(magnitude, most) {
  if (!(magnitude > 0) || !(most > 0)) return 0;
  return Math.max(shortest, 1 + ((1 - shortest) * Math.log10(magnitude / most)) / decades);
}

export class Overlays {
  // `scale`: reference length of arrows in the scene, m.
  constructor(run, scene, scale) {
    this.run = run;
    this.scene = scene;
    this.scale = scale;
    const thickness = 0.008 * scale;
    this.parts = {
      contacts: new Dots(meaning.contact, 0.018 * scale),
      forces: new Arrows(meaning.contact, thickness),
      gradients: new Arrows(meaning.gradient, thickness),
      controls: new Arrows(meaning.control, thickness),
      axes: new Arrows(meaning.axis, 0.6 * thickness),
      centres: new Dots(meaning.centre, 0.02 * scale),
    };
    this.group = new THREE.Group();
    for (const part of Object.values(this.parts)) this.group.add(part.group);
    this.measure();
    if (run.impulseGradients) {
      this.mostGradient = largest(run.impulseGradients);
      this.maxControl = run.controlGradients.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    }
  }

  // Updates the scale of forces; call again when the run has grown.
  measure() {
    if (this.run.contacts) this.usualForce = median(this.run.contactForces);
  }

  // The overlays that the run has.
  static available(runs, scene) {
    return {
      contacts: runs.some((run) => run.contacts),
      forces: runs.some((run) => run.contacts),
      gradients: runs.some((run) => run.impulseGradients),
      controls: runs.some((run) => run.controlGradients && scene.actuators.length > 0),
      axes: scene.bodies.some((body) => body.has_axis),
      centres: scene.bodies.length > 0,
    };
  }

  update(shown) {
    for (const [name, part] of Object.entries(this.parts)) {
      part.group.visible = Boolean(shown[name]) && this.run.visible;
      if (part.group.visible) this[name](part);
    }
  }

  contacts(dots) {
    this.eachContact(dots, (p, i) => dots.add(p[i], p[i + 1], p[i + 2]));
  }

  // Draws forces: the median force has a fifth of the scale as its length, and the longest arrow the whole scale.
  forces(arrows) {
    const f = this.run.contactForces;
    this.eachContact(arrows, (p, i) => {
      const size = Math.hypot(f[i], f[i + 1], f[i + 2]);
      const factor = (this.scale * Math.min(1, (0.2 * size) / this.usualForce)) / size;
      arrows.add(p[i], p[i + 1], p[i + 2], factor * f[i], factor * f[i + 1], factor * f[i + 2]);
    });
  }

  eachContact(part, draw) {
    const run = this.run;
    const count = run.contacts ? run.contacts[run.frame] : 0;
    part.begin(count);
    for (let k = 0; k < count; ++k) draw(run.contactPoints, 3 * (run.firstContact[run.frame] + k));
    part.end();
  }

  // Draws at each body's centre of mass the direction of a push that increases the loss fastest.
  gradients(arrows) {
    const { run } = this;
    const g = run.impulseGradients;
    const p = [0, 0, 0];
    arrows.begin(run.bodies);
    for (let b = 0; g && b < run.bodies; ++b) {
      const i = 3 * (run.frame * run.bodies + b);
      const size = Math.hypot(g[i], g[i + 1], g[i + 2]);
      const factor = (0.5 * this.scale * logarithmic(size, this.mostGradient)) / size;
      run.place(b, run.objects.bodies[b].com, p);
      if (factor > 0) arrows.add(...p, factor * g[i], factor * g[i + 1], factor * g[i + 2]);
    }
    arrows.end();
  }

  // Draws at each driven joint, along its axis, the direction (right-hand rule for rotations) of a control that increases the loss.
  controls(arrows) {
    const { run, scene } = this;
    const n = scene.actuators.length;
    arrows.begin(n);
    scene.actuators.forEach((actuator, k) => {
      const g = run.controlGradients ? run.controlGradients[run.frame * n + k] : 0;
      const length = 0.4 * this.scale * logarithmic(Math.abs(g), this.maxControl) * Math.sign(g);
      if (length !== 0) this.alongAxis(arrows, actuator.body, length);
    });
    arrows.end();
  }

  axes(arrows) {
    arrows.begin(this.run.bodies);
    this.scene.bodies.forEach((body, b) => {
      if (body.has_axis) this.alongAxis(arrows, b, 0.25 * this.scale);
    });
    arrows.end();
  }

  alongAxis(arrows, b, length) {
    const a = this.scene.bodies[b].axis;
    const from = this.run.origin(b, [0, 0, 0]);
    const to = this.run.place(b, a, [0, 0, 0]);
    arrows.add(...from, length * (to[0] - from[0]), length * (to[1] - from[1]), length * (to[2] - from[2]));
  }

  centres(dots) {
    const p = [0, 0, 0];
    dots.begin(this.run.bodies);
    for (let b = 0; b < this.run.bodies; ++b) dots.add(...this.run.place(b, this.run.objects.bodies[b].com, p));
    dots.end();
  }

  // The legend of the arrow lengths.
  legend(shown) {
    const lines = [];
    const number = (x) => (x !== 0 && (x < 0.01 || x >= 1e4) ? x.toExponential(1) : Number(x.toPrecision(2)).toString());
    if (shown.forces && this.run.contacts && this.usualForce > 0)
      lines.push(`contact force: ${number(this.usualForce)} N is ${number(0.2 * this.scale)} m long`);
    if (shown.gradients && this.run.impulseGradients)
      lines.push(`gradient of the loss with respect to a push at a mass centre: longest ${number(this.mostGradient)} per N s, logarithmic over ${decades} decades`);
    if (shown.controls && this.run.controlGradients)
      lines.push(`gradient with respect to controls: longest ${number(this.maxControl)} per unit and s, logarithmic`);
    return lines;
  }
}
