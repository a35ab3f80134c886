// One run: its tables, and the poses of its bodies at a time.
import { groups, magnitudes, table } from "./decode.js";

export class Run {
  constructor(about, objects, bodies, planes) {
    const t = about.tables;
    this.about = about;
    this.label = about.label;
    this.objects = about.objects ?? objects;
    this.bodies = bodies;
    this.times = table(t.times, planes, Float64Array);
    this.positions = table(t.positions, planes);
    this.quaternions = table(t.quaternions, planes);
    this.controls = table(t.controls, planes);
    this.matrices = new Float64Array(16 * bodies); // column-major pose of every body at the time of the last moveTo
    this.frame = 0;
    this.visible = true;
    if (t.contacts) {
      this.contacts = table(t.contacts, planes, Int32Array);
      this.contactPoints = groups(t.contact_points, planes, this.contacts);
      this.contactForces = groups(t.contact_forces, planes, this.contacts);
      this.countContacts();
    }
    if (t.adjoint_norms) {
      this.adjointNorms = table(t.adjoint_norms, planes); // decadic logarithms
      this.impulseGradients = magnitudes(t.impulse_gradients, planes);
      this.controlGradients = magnitudes(t.control_gradients, planes);
    }
  }

  // Replaces the tables by those of another run of the same scene; marks and shapes stay.
  take(other) {
    for (const name of ["about", "label", "times", "positions", "quaternions", "controls", "contacts", "contactPoints", "contactForces", "firstContact"])
      this[name] = other[name];
  }

  // Appends the frames of a run that continues this one, without its first frame, which equals the last one here.
  append(other) {
    const join = (a, b, repeated) => {
      const out = new a.constructor(a.length + b.length - repeated);
      out.set(a);
      out.set(b.subarray(repeated), a.length);
      return out;
    };
    this.times = join(this.times, other.times, 1);
    this.positions = join(this.positions, other.positions, 3 * this.bodies);
    this.quaternions = join(this.quaternions, other.quaternions, 4 * this.bodies);
    this.controls = join(this.controls, other.controls, other.controls.length / other.frames);
    if (!this.contacts || !other.contacts) return;
    this.contactPoints = join(this.contactPoints, other.contactPoints, 3 * other.contacts[0]);
    this.contactForces = join(this.contactForces, other.contactForces, 3 * other.contacts[0]);
    this.contacts = join(this.contacts, other.contacts, 1);
    this.countContacts();
  }

  countContacts() {
    this.firstContact = new Int32Array(this.contacts.length + 1);
    this.contacts.forEach((count, i) => (this.firstContact[i + 1] = this.firstContact[i] + count));
  }

  get frames() {
    return this.times.length;
  }
  get start() {
    return this.times[0];
  }
  get end() {
    return this.times[this.frames - 1];
  }

  // The last frame at or before `time`, with a tolerance of a billionth of the run's duration.
  frameAt(time) {
    const slack = 1e-9 * Math.max(1e-9, this.end - this.start);
    let low = 0;
    let high = this.frames - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + slack) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Computes `matrices` by linear interpolation between frames; quaternions are interpolated linearly and normalized.
  moveTo(time) {
    const f = (this.frame = this.frameAt(time));
    const g = Math.min(f + 1, this.frames - 1);
    const span = this.times[g] - this.times[f];
    const s = span > 0 ? Math.min(1, Math.max(0, (time - this.times[f]) / span)) : 0;
    const { positions: p, quaternions: q, matrices: m, bodies } = this;
    for (let b = 0; b < bodies; ++b) {
      const pf = 3 * (f * bodies + b);
      const pg = 3 * (g * bodies + b);
      const qf = 4 * (f * bodies + b);
      const qg = 4 * (g * bodies + b);
      let w = q[qf] + s * (q[qg] - q[qf]);
      let x = q[qf + 1] + s * (q[qg + 1] - q[qf + 1]);
      let y = q[qf + 2] + s * (q[qg + 2] - q[qf + 2]);
      let z = q[qf + 3] + s * (q[qg + 3] - q[qf + 3]);
      const n = 1 / Math.hypot(w, x, y, z);
      w *= n;
      x *= n;
      y *= n;
      z *= n;
      const o = 16 * b;
      m[o] = 1 - 2 * (y * y + z * z);
      m[o + 1] = 2 * (x * y + w * z);
      m[o + 2] = 2 * (x * z - w * y);
      m[o + 4] = 2 * (x * y - w * z);
      m[o + 5] = 1 - 2 * (x * x + z * z);
      m[o + 6] = 2 * (y * z + w * x);
      m[o + 8] = 2 * (x * z + w * y);
      m[o + 9] = 2 * (y * z - w * x);
      m[o + 10] = 1 - 2 * (x * x + y * y);
      for (let k = 0; k < 3; ++k) m[o + 12 + k] = p[pf + k] + s * (p[pg + k] - p[pf + k]);
      m[o + 15] = 1;
    }
  }

  // The world coordinates of a point of a body after the last moveTo.
  place(body, point, out) {
    const m = this.matrices;
    const o = 16 * body;
    for (let k = 0; k < 3; ++k) out[k] = m[o + k] * point[0] + m[o + 4 + k] * point[1] + m[o + 8 + k] * point[2] + m[o + 12 + k];
    return out;
  }
  origin(body, out) {
    for (let k = 0; k < 3; ++k) out[k] = this.matrices[16 * body + 12 + k];
    return out;
  }
}
