// The page: decodes the runs and plays them. Tests and screenshots use window.costate.
import * as THREE from "three";
import { runColour } from "./colours.js";
import { Damaged, decode } from "./decode.js";
import { handleKeys } from "./keys.js";
import { Labels } from "./marks.js";
import { Overlays } from "./overlays.js";
import { listen } from "./live.js";
import { element, inDocument, Panel } from "./panel.js";
import { Run } from "./run.js";
import { Shapes, Skeleton } from "./shapes.js";
import { showSheet } from "./sheet.js";
import { Timeline, plots } from "./timeline.js";
import { largestTree, travel, World } from "./world.js";

class App {
  constructor(parent, header, planes) {
    this.parent = parent;
    this.header = header;
    this.scene = header.scene;
    this.runs = header.runs.map((about) => new Run(about, header.objects, this.scene.bodies.length, planes));
    for (const run of this.runs) Object.assign(run, { visuals: this.scene.visuals, geometries: this.scene.geometries });
    this.start = Math.min(...this.runs.map((run) => run.start));
    this.end = Math.max(...this.runs.map((run) => run.end));
    this.time = this.start;
    this.speed = 1;
    this.playing = false;
    this.followed = -1;
    this.rate = 0;
    this.picture = element("div", { className: "picture" });
    parent.replaceChildren(this.picture);
    this.world = new World(this.picture, this.runs, this.scene.targets);
    const { radius } = this.world;
    const { size, root } = largestTree(this.runs, this.scene.bodies);
    const far = size > 0 && travel(this.runs.at(-1), root) > 20 * size;
    this.traveller = far ? { root, size } : null; // a robot that is too small to see in a view of its whole way
    this.scale = far ? size : Math.max(size, 0.1 * radius);
    this.thickness = 0.022 * (far || size > 0.05 * radius ? size : 0.8 * radius); // of the skeleton's sticks
    this.runColours = this.runs.map((_, i) => runColour(i, this.runs.length));
    this.build();
    this.plots = plots(this.runs, this.scene);
    this.panel = new Panel(parent, this);
    this.timeline = new Timeline(this.panel.line, this.runs, this.start, this.end, (time) => this.seek(time));
    this.labels = new Labels(this.picture);
    this.choosePlot(this.runs.some((run) => run.adjointNorms) ? 0 : -1);
    this.panel.plot.value = this.runs.some((run) => run.adjointNorms) ? 0 : -1;
    this.world.controls.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.picture);
    this.world.renderer.domElement.addEventListener("dblclick", (event) => this.pick(event));
    handleKeys(this);
    this.resize();
  }

  // The objects of every run.
  build() {
    const drawn = new Set([...this.header.objects.shapes, ...this.scene.visuals].map((shape) => shape.body));
    const bare = this.scene.bodies.some((_, b) => !drawn.has(b));
    // collision shapes start hidden if there are visual meshes, and visuals of every body with shapes
    const seen = new Set(this.scene.visuals.map((visual) => visual.body));
    const covered = this.scene.visuals.some((visual) => visual.type === "mesh") && this.header.objects.shapes.every((shape) => shape.type === "plane" || seen.has(shape.body));
    this.shown = { shapes: !covered, visuals: true, skeleton: bare, contacts: this.runs.length === 1, forces: this.runs.length === 1, gradients: false, controls: false, axes: false, centres: false, names: false };
    this.available = { ...Overlays.available(this.runs, this.scene), shapes: this.header.objects.shapes.length > 0, visuals: this.scene.visuals.length > 0, skeleton: this.scene.bodies.length > 0, names: this.scene.bodies.length > 0 };
    this.runs.forEach((run, i) => {
      const opacity = this.runs.length > 1 && i + 1 < this.runs.length ? 0.45 : 1;
      run.shapes = new Shapes(run.objects.shapes, this.scene.bodies, this.scene.geometries, { ofRun: this.runColours[i], opacity });
      run.visualShapes = new Shapes(this.scene.visuals, this.scene.bodies, this.scene.geometries, { ofRun: this.runColours[i], opacity });
      run.skeleton = new Skeleton(run, this.scene.bodies, this.runColours[i], this.thickness, opacity);
      run.overlays = new Overlays(run, this.scene, this.scale);
      this.world.scene.add(run.shapes.group, run.visualShapes.group, run.skeleton.group, run.overlays.group);
    });
    const arm = 0.05 * this.scale;
    for (const target of this.scene.targets) {
      const cross = new THREE.Group();
      for (const turn of [[1, 1, 1], [-1, 1, 1], [1, -1, 1], [-1, -1, 1]]) {
        const way = new THREE.Vector3(...turn).multiplyScalar(arm);
        const points = [way.clone().negate(), way];
        cross.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: "#d55e00" })));
      }
      cross.add(new THREE.Mesh(new THREE.SphereGeometry(0.4 * arm, 12, 8), new THREE.MeshBasicMaterial({ color: "#d55e00" })));
      cross.position.fromArray(target.p);
      this.world.scene.add(cross);
    }
  }

  // Shows all runs at `time`.
  seek(time) {
    this.time = Math.min(this.end, Math.max(this.start, time));
    this.draw();
  }

  // Requests a redraw; several requests before the next frame of the browser become one.
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => {
      this.waiting = false;
      this.tick(now);
    });
  }

  tick(now) {
    if (this.playing) {
      const passed = this.before === undefined ? 0 : Math.min(0.25, (now - this.before) / 1000);
      this.time += passed * this.speed;
      if (this.time >= this.end) this.time = this.loopOrStop();
    }
    this.countRate(now);
    this.before = this.playing ? now : undefined;
    this.drawNow();
    if (this.playing) this.draw();
  }

  loopOrStop() {
    if (this.looping) return this.start;
    this.playing = false;
    return this.end;
  }

  // Call after the frames of runs changed. If the end was shown, the new end is shown.
  renew() {
    const atEnd = !this.playing && this.time >= this.end;
    this.end = Math.max(...this.runs.map((run) => run.end));
    this.timeline.end = Math.max(this.end, this.start + 1e-9);
    this.timeline.background = null;
    this.world.fit(this.runs, this.scene.targets);
    for (const run of this.runs) run.overlays.measure();
    this.panel.nameRuns();
    this.time = atEnd ? this.end : Math.min(this.time, this.end);
    this.draw();
  }

  countRate(now) {
    if (this.before !== undefined) {
      this.rateFrames = (this.rateFrames ?? 0) + 1;
      this.rateStart ??= now;
      const seconds = (now - this.rateStart) / 1000;
      if (seconds > 0.5) {
        this.rate = this.rateFrames / seconds;
        this.panel.rate.textContent = `${this.rate.toFixed(0)} frames/s`;
        this.rateFrames = 0;
        this.rateStart = now;
      }
    } else {
      this.rateFrames = 0;
      this.rateStart = now;
    }
  }

  // The camera moves with the body that it follows.
  keepUp() {
    if (this.followed < 0) return;
    const at = new THREE.Vector3().fromArray(this.runs.at(-1).origin(this.followed, [0, 0, 0]));
    const by = at.clone().sub(this.followedAt);
    this.followedAt.copy(at);
    if (by.lengthSq() > 0) this.world.shift(by);
  }

  drawNow() {
    this.moveBodies();
    this.keepUp();
    this.world.render();
    this.drawLabels();
    this.timeline.draw(this.time);
    this.panel.update();
  }

  moveBodies() {
    for (const run of this.runs) {
      run.moveTo(this.time);
      run.shapes.group.visible = run.visible && this.shown.shapes;
      run.visualShapes.group.visible = run.visible && this.shown.visuals;
      run.skeleton.group.visible = run.visible && this.shown.skeleton;
      if (run.shapes.group.visible) run.shapes.update(run.matrices);
      if (run.visualShapes.group.visible) run.visualShapes.update(run.matrices);
      if (run.skeleton.group.visible) run.skeleton.update();
      run.overlays.update(this.shown);
    }
  }

  drawLabels() {
    if (!this.shown.names) return this.labels.hide();
    const run = this.runs.findLast((r) => r.visible) ?? this.runs[0];
    const points = this.scene.bodies.map((_, b) => run.place(b, run.objects.bodies[b].com, [0, 0, 0]));
    this.labels.update(this.scene.bodies.map((body) => body.name), points, this.world.camera, this.world.width, this.world.height);
  }

  legend() {
    const seen = this.runs.findLast((run) => run.visible && (run.contacts || run.impulseGradients));
    return seen ? seen.overlays.legend(this.shown) : [];
  }

  togglePlay() {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) this.time = this.start;
    this.before = undefined;
    this.draw();
  }
  step(frames) {
    this.playing = false;
    const run = this.runs.at(-1);
    const frame = run.frameAt(this.time) + frames;
    this.seek(run.times[Math.min(run.frames - 1, Math.max(0, frame))]);
  }
  setSpeed(speed) {
    this.speed = speed;
    this.panel.speed.value = speed;
  }
  faster(by) {
    const { speeds } = this.panel;
    this.setSpeed(speeds[Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(this.speed) + by))]);
  }
  toggle(name) {
    if (!this.available[name]) return;
    this.shown[name] = !this.shown[name];
    this.draw();
  }
  toggleRun(i) {
    if (!this.runs[i]) return;
    this.runs[i].visible = !this.runs[i].visible;
    this.timeline.background = null;
    this.draw();
  }
  followBody(body) {
    this.followed = body;
    if (body >= 0) {
      const at = new THREE.Vector3().fromArray(this.runs.at(-1).origin(body, [0, 0, 0]));
      this.followedAt = at;
      this.world.shift(at.clone().sub(this.world.controls.target));
    }
    this.draw();
  }
  followTraveller() {
    if (!this.traveller) return;
    this.moveBodies();
    this.followBody(this.traveller.root);
    this.world.approach(4.5 * this.traveller.size);
  }
  choosePlot(i) {
    this.timeline.show(this.plots[i] ?? null);
    this.parent.classList.toggle("plotting", i >= 0);
    this.draw();
  }
  pick(event) {
    const box = this.world.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.world.camera);
    const hits = this.runs.filter((run) => run.visible).flatMap((run) => [run.shapes.pick(ray), run.visualShapes.pick(ray)]).filter((hit) => hit && hit.body >= 0);
    hits.sort((a, b) => a.distance - b.distance);
    if (hits.length > 0) this.followBody(hits[0].body);
  }
  resize() {
    this.world.resize();
    this.timeline.background = null;
    this.draw();
  }
}

// Replaces the page by a message, so that the screen is never empty.
function complain(parent, error) {
  const what = error instanceof Damaged ? error.message : `${error.message ?? error}`;
  const p = document.createElement("p");
  p.className = "message";
  p.textContent = `This page cannot be shown: ${what}. Write the file again with costate view.`;
  parent.replaceChildren(p);
}

// The options in the fragment of the URL, for example #t=1.5&ui=0&sheet=12.
function pageOptions() {
  return new URLSearchParams(location.hash.slice(1));
}

async function open() {
  const parent = document.getElementById("viewer");
  const began = performance.now();
  try {
    const encoded = document.getElementById("frames");
    if (encoded?.textContent === "live") return void listen(parent, (header, planes) => (window.costate = new App(parent, header, planes)), complain);
    if (!encoded || encoded.textContent === "") throw new Damaged("it has no data: the file was cut off");
    const { header, planes } = await decode(encoded.textContent);
    encoded.remove();
    const options = pageOptions();
    document.body.classList.toggle("bare", options.get("ui") === "0");
    const app = new App(parent, header, planes);
    window.costate = app;
    // a report opens at the end, where its runs differ
    app.seek(Number(options.get("t") ?? (inDocument() ? app.end : app.start)));
    app.followTraveller();
    app.drawNow();
    if (options.has("sheet")) showSheet(app, Number(options.get("sheet")));
    app.openedIn = performance.now() - began;
  } catch (error) {
    complain(parent, error);
  }
  document.documentElement.dataset.ready = "1";
}

addEventListener("DOMContentLoaded", open);
