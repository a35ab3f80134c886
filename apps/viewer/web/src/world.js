// The surroundings of the bodies: renderer, light with shadows, ground with a grid, camera.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { theme } from "./colours.js";

// The bounding box of all runs with their shapes and `targets`: {box, middle, radius}. Bodies beyond a hundred times
// the radius of the start are ignored.
export function bounds(runs, targets) {
  const start = new THREE.Box3();
  const all = new THREE.Box3();
  const ball = (box, at, radius) => {
    box.expandByPoint(at.clone().subScalar(radius));
    box.expandByPoint(at.clone().addScalar(radius));
  };
  const p = new THREE.Vector3();
  for (const run of runs) {
    const reach = reaches(run);
    const frames = Math.min(run.frames, Math.max(2, Math.round(400000 / Math.max(1, run.bodies))), 400);
    for (let k = 0; k < frames; ++k) {
      const frame = frames > 1 ? Math.round((k * (run.frames - 1)) / (frames - 1)) : 0;
      for (let b = 0; b < run.bodies; ++b) ball(frame === 0 ? start : all, p.fromArray(run.positions, 3 * (frame * run.bodies + b)), reach[b]);
    }
    for (const shape of run.objects.shapes)
      if (shape.body < 0 && shape.type !== "plane" && shape.type !== "terrain") ball(start, p.fromArray(shape.p), extent(shape, run.geometries));
  }
  for (const target of targets) start.expandByPoint(p.fromArray(target.p));
  all.union(start);
  const radius = (box) => (box.isEmpty() ? 1 : Math.max(1e-3, 0.5 * box.getSize(p).length()));
  const box = radius(start) > 1e-3 && radius(all) > 100 * radius(start) ? start : all;
  if (box.isEmpty()) box.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3(1, 1, 1));
  box.expandByScalar(0.05 * radius(box));
  return { box, middle: box.getCenter(new THREE.Vector3()), radius: radius(box) };
}

// The radius of a shape about its origin.
function extent(shape, geometries) {
  const [a, b, c] = shape.size;
  if (shape.type === "mesh") return meshRadius(geometries[shape.geometry]) * Math.max(...shape.size.map(Math.abs));
  if (shape.type === "capsule") return a + b;
  return shape.type === "sphere" ? a : Math.hypot(a, b, c);
}

// The radius of a mesh at unit scale about its origin, which is computed once.
function meshRadius(geometry) {
  if (geometry.radius === undefined) {
    geometry.radius = 0;
    const { vertices } = geometry;
    for (let i = 0; i < vertices.length; i += 3) geometry.radius = Math.max(geometry.radius, Math.hypot(vertices[i], vertices[i + 1], vertices[i + 2]));
  }
  return geometry.radius;
}

// The radius of each body about its origin.
function reaches(run) {
  const reach = new Float64Array(run.bodies);
  for (const shape of [...run.objects.shapes, ...run.visuals])
    if (shape.body >= 0) reach[shape.body] = Math.max(reach[shape.body], Math.hypot(...shape.p) + extent(shape, run.geometries));
  run.objects.bodies.forEach((body, b) => (reach[b] = Math.max(reach[b], Math.hypot(...body.com))));
  return reach;
}

// The largest tree of bodies at the start: {size, root}, half its size, which is the reference length of marks, and its
// first body.
export function largestTree(runs, bodies) {
  const [run] = runs;
  const reach = reaches(run);
  const boxes = new Map();
  const p = new THREE.Vector3();
  bodies.forEach(({ tree }, b) => {
    p.fromArray(run.positions, 3 * b);
    if (!boxes.has(tree)) boxes.set(tree, { box: new THREE.Box3(), root: b });
    boxes.get(tree).box.union(new THREE.Box3(p.clone().subScalar(reach[b]), p.clone().addScalar(reach[b])));
  });
  const trees = [...boxes.values()].map(({ box, root }) => ({ size: 0.5 * box.getSize(p).length(), root }));
  return trees.reduce((most, tree) => (tree.size > most.size ? tree : most), { size: 0, root: -1 });
}

// How far a body is at the end of a run from where it was at its start.
export function travel(run, body) {
  const at = (frame) => new THREE.Vector3().fromArray(run.positions, 3 * (frame * run.bodies + body));
  return at(run.frames - 1).distanceTo(at(0));
}

// The size of a grid cell: the power of ten that gives the scene a few cells.
function cellSize(radius) {
  return 10 ** Math.round(Math.log10(radius / 2.5));
}

// The texture of one grid cell, repeated.
function gridTexture(cells) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const c = canvas.getContext("2d");
  c.fillStyle = theme.ground;
  c.fillRect(0, 0, 256, 256);
  c.strokeStyle = theme.fine;
  c.lineWidth = 1;
  for (let k = 1; k < 5; ++k) c.strokeRect(-1, -1, (256 * k) / 5, 258), c.strokeRect(-1, -1, 258, (256 * k) / 5);
  c.strokeStyle = theme.coarse;
  c.lineWidth = 3;
  c.strokeRect(0, 0, 256, 256);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.repeat.set(cells, cells);
  texture.anisotropy = 8;
  return texture;
}

export class World {
  constructor(parent, runs, targets) {
    this.parent = parent;
    Object.assign(this, bounds(runs, targets));
    const { box, radius } = this;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(theme.background);
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    parent.append(this.renderer.domElement);

    this.camera = new THREE.PerspectiveCamera(40, 1, radius / 200, radius * 400);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.minDistance = radius / 20;
    this.controls.maxDistance = radius * 60;
    this.untouched = true; // the user has not moved the camera
    this.controls.addEventListener("start", () => (this.untouched = false));
    this.light(radius);
    this.ground(runs[0].objects.shapes, box.min.z);
    this.resize();
  }

  light(radius) {
    this.scene.add(new THREE.HemisphereLight("#ffffff", "#c9ccd1", 1.7));
    this.sun = new THREE.DirectionalLight("#ffffff", 1.9);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.01 * radius;
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.intensity = 0.6;
    this.scene.add(this.sun, this.sun.target);
  }

  // The planes of the scene; without planes, a pale grid below everything, which does not collide.
  ground(shapes, lowest) {
    const cell = cellSize(this.radius);
    const cells = 2 * Math.ceil((60 * this.radius) / cell);
    const geometry = new THREE.PlaneGeometry(cells * cell, cells * cell);
    const planes = shapes.filter((shape) => shape.type === "plane");
    const real = planes.length > 0;
    if (!real && !shapes.some((shape) => shape.type === "terrain"))
      planes.push({ p: [0, 0, lowest - 0.02 * this.radius], q: [1, 0, 0, 0] });
    for (const plane of planes) {
      const material = new THREE.MeshStandardMaterial({
        map: gridTexture(cells),
        roughness: 1,
        side: THREE.DoubleSide,
        transparent: !real,
        opacity: real ? 1 : 0.6,
        depthWrite: real,
      });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.position.fromArray(plane.p);
      mesh.quaternion.set(plane.q[1], plane.q[2], plane.q[3], plane.q[0]);
      mesh.receiveShadow = real; // what bears nothing shows no sign of being touched
      this.scene.add(mesh);
    }
    this.scene.fog = new THREE.Fog(theme.background, 14 * this.radius, 50 * this.radius);
  }

  // Moves the camera as near as possible with the whole box in view and a margin.
  home() {
    const size = this.box.getSize(new THREE.Vector3());
    // direction from the middle to the camera, with the longer side of the box across the view
    const back = (size.y > 1.5 * size.x ? new THREE.Vector3(1, -0.5, 0.42) : new THREE.Vector3(0.5, -1, 0.42)).normalize();
    const right = new THREE.Vector3(0, 0, 1).cross(back).normalize();
    const up = back.clone().cross(right);
    const tall = 0.9 * Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    const wide = 1.05 * tall * this.camera.aspect;
    let distance = 0;
    for (let corner = 0; corner < 8; ++corner) {
      const { min, max } = this.box;
      const p = new THREE.Vector3(corner & 1 ? max.x : min.x, corner & 2 ? max.y : min.y, corner & 4 ? max.z : min.z).sub(this.middle);
      const needed = Math.max(Math.abs(p.dot(right)) / wide, Math.abs(p.dot(up)) / tall);
      distance = Math.max(distance, p.dot(back) + needed);
    }
    this.untouched = true;
    this.controls.target.copy(this.middle);
    this.camera.position.copy(this.middle).addScaledVector(back, Math.max(distance, 1.2 * this.radius));
    this.controls.update();
  }

  // Call when runs have grown: extends the range of the camera and, unless the user moved it, shows all runs.
  fit(runs, targets) {
    Object.assign(this, bounds(runs, targets));
    this.controls.maxDistance = 60 * this.radius;
    this.camera.far = Math.max(this.camera.far, 400 * this.radius);
    this.camera.updateProjectionMatrix();
    if (this.untouched) this.home();
  }

  // Moves the camera by the displacement of the body that it follows.
  shift(by) {
    this.untouched = false;
    this.controls.target.add(by);
    this.camera.position.add(by);
    this.controls.update();
  }

  // Moves the camera to a distance from what it looks at.
  approach(distance) {
    const { target } = this.controls;
    this.controls.minDistance = Math.min(this.controls.minDistance, 0.25 * distance);
    this.camera.position.sub(target).setLength(distance).add(target);
    this.controls.update();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.parent;
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.renderer.setSize(this.width, this.height);
    this.camera.aspect = this.width / this.height;
    this.camera.updateProjectionMatrix();
    if (this.untouched) this.home();
  }

  render() {
    // center light and shadows where the camera looks
    const reach = Math.min(1.3 * this.radius + this.controls.target.distanceTo(this.middle), 4 * this.radius);
    const camera = this.sun.shadow.camera;
    if (camera.right !== reach) {
      camera.left = camera.bottom = -reach;
      camera.right = camera.top = reach;
      camera.near = 0.01 * this.radius;
      camera.far = 14 * this.radius;
      camera.updateProjectionMatrix();
    }
    this.sun.target.position.copy(this.controls.target);
    this.sun.position.copy(this.controls.target).add(new THREE.Vector3(2.2, -1.4, 5).multiplyScalar(this.radius));
    this.renderer.render(this.scene, this.camera);
  }
}
