// The shapes of one run. Shapes with the same geometry are instances of one mesh, which keeps drawing cheap.
import * as THREE from "three";
import { bodyColour } from "./colours.js";

// Geometries of unit size; round ones have `n` sides.
const unitGeometry = {
  sphere: (n) => new THREE.SphereGeometry(1, n, Math.ceil(0.6 * n)),
  ellipsoid: (n) => new THREE.SphereGeometry(1, n, Math.ceil(0.6 * n)),
  box: () => new THREE.BoxGeometry(2, 2, 2),
  cylinder: (n) => new THREE.CylinderGeometry(1, 1, 2, n).rotateX(Math.PI / 2), // along y in three.js, along z here
};

// The number of sides of round shapes: smaller for many instances, which keeps drawing cheap.
function sides(instances) {
  return Math.max(8, Math.min(36, Math.round(Math.sqrt(400000 / instances))));
}

function triangles({ vertices, triangles: corners }) {
  const position = new Float32Array(3 * corners.length);
  corners.forEach((v, i) => position.set(vertices.slice(3 * v, 3 * v + 3), 3 * i));
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.computeVertexNormals(); // corners are not shared, so faces are flat
  return geometry;
}

// {key, make, scale} of a shape; shapes with the same key share a mesh
function kind(shape, geometries) {
  const [a, b, c] = shape.size;
  switch (shape.type) {
    case "sphere":
      return { key: "sphere", make: unitGeometry.sphere, scale: [a, a, a] };
    case "cylinder":
      return { key: "cylinder", make: unitGeometry.cylinder, scale: [a, a, b] };
    case "box":
    case "ellipsoid":
      return { key: shape.type, make: unitGeometry[shape.type], scale: [a, b, c] };
    case "capsule": // caps must not be stretched
      return {
        key: `capsule ${a} ${b}`,
        make: (n) => new THREE.CapsuleGeometry(a, 2 * b, Math.ceil(n / 4), n).rotateX(Math.PI / 2),
        scale: [1, 1, 1],
      };
    case "mesh":
    case "terrain":
      return { key: `geometry ${shape.geometry}`, make: () => triangles(geometries[shape.geometry]), scale: [a, b, c] };
  }
  return null; // planes are drawn as ground
}

export class Shapes {
  // `shapes` as in the page's data; `ofRun`: colour of the run if there are several runs.
  constructor(shapes, bodies, geometries, { ofRun = null, opacity = 1 } = {}) {
    this.group = new THREE.Group();
    this.meshes = [];
    const kinds = new Map();
    for (const shape of shapes) {
      const its = kind(shape, geometries);
      if (!its) continue;
      if (!kinds.has(its.key)) kinds.set(its.key, { make: its.make, items: [] });
      const [w, x, y, z] = shape.q;
      const local = new THREE.Matrix4().compose(
        new THREE.Vector3(...shape.p),
        new THREE.Quaternion(x, y, z, w),
        new THREE.Vector3(...its.scale),
      );
      const colour = shape.rgba && !ofRun ? new THREE.Color().setRGB(...shape.rgba.slice(0, 3), THREE.SRGBColorSpace) : bodyColour(bodies, shape.body, ofRun);
      kinds.get(its.key).items.push({ body: shape.body, local: local.elements, colour });
    }
    for (const { make, items } of kinds.values()) {
      const material = new THREE.MeshStandardMaterial({
        roughness: 0.65,
        metalness: 0.05,
        side: THREE.DoubleSide,
        transparent: opacity < 1,
        opacity,
      });
      const mesh = new THREE.InstancedMesh(make(sides(items.length)), material, items.length);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.frustumCulled = false; // its instances may be anywhere
      mesh.castShadow = opacity === 1;
      mesh.receiveShadow = true;
      items.forEach((item, i) => mesh.setColorAt(i, item.colour));
      mesh.userData.bodies = items.map((item) => item.body);
      this.meshes.push({ mesh, items });
      this.group.add(mesh);
    }
  }

  // Call after run.moveTo.
  update(matrices) {
    for (const { mesh, items } of this.meshes) {
      const out = mesh.instanceMatrix.array;
      for (let i = 0; i < items.length; ++i) {
        const { body, local } = items[i];
        if (body < 0) {
          out.set(local, 16 * i);
          continue;
        }
        const o = 16 * body;
        for (let column = 0; column < 4; ++column)
          for (let row = 0; row < 3; ++row) {
            const at = 4 * column;
            out[16 * i + at + row] =
              matrices[o + row] * local[at] +
              matrices[o + 4 + row] * local[at + 1] +
              matrices[o + 8 + row] * local[at + 2] +
              matrices[o + 12 + row] * local[at + 3];
          }
        for (let column = 0; column < 4; ++column) out[16 * i + 4 * column + 3] = column === 3 ? 1 : 0;
      }
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // recomputed by picking
    }
  }

  // The body under a ray, or null.
  pick(raycaster) {
    const [hit] = raycaster.intersectObjects(this.meshes.map(({ mesh }) => mesh), false);
    return hit ? { body: hit.object.userData.bodies[hit.instanceId], distance: hit.distance } : null;
  }
}

// Sticks from every body's parent to the body, and from the body to the anchors of loops and to its
// shapes (or its mass centre if it has no shapes).
export class Skeleton {
  constructor(run, bodies, ofRun, thickness, opacity = 1) {
    this.group = new THREE.Group();
    this.run = run;
    this.sticks = [];
    bodies.forEach((body, i) => {
      if (body.parent >= 0) this.sticks.push({ from: [body.parent, null], to: [i, null], body: i });
    });
    const drawn = new Set();
    for (const { body, p } of run.objects.shapes) {
      drawn.add(body);
      if (body >= 0 && Math.hypot(...p) > 0) this.sticks.push({ from: [body, null], to: [body, p], body });
    }
    for (const { body, p } of run.objects.anchors) this.sticks.push({ from: [body, null], to: [body, p], body });
    bodies.forEach((_, i) => {
      if (!drawn.has(i)) this.sticks.push({ from: [i, null], to: [i, run.objects.bodies[i].com], body: i, knob: true });
    });
    const material = () => new THREE.MeshStandardMaterial({ roughness: 0.6, transparent: opacity < 1, opacity });
    const count = this.sticks.length;
    this.rods = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2), material(), count);
    this.knobs = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 20, 12), material(), count);
    this.thickness = thickness;
    for (const mesh of [this.rods, this.knobs]) {
      mesh.frustumCulled = false;
      mesh.castShadow = opacity === 1;
      this.sticks.forEach((stick, i) => mesh.setColorAt(i, bodyColour(bodies, stick.body, ofRun)));
      this.group.add(mesh);
    }
  }

  update() {
    const a = new THREE.Vector3();
    const b = new THREE.Vector3();
    const z = new THREE.Vector3(0, 0, 1);
    const turn = new THREE.Quaternion();
    const middle = new THREE.Vector3();
    const matrix = new THREE.Matrix4();
    const xyz = [0, 0, 0];
    const end = ([body, point], out) => out.fromArray(point ? this.run.place(body, point, xyz) : this.run.origin(body, xyz));
    this.sticks.forEach((stick, i) => {
      end(stick.from, a);
      end(stick.to, b);
      middle.addVectors(a, b).multiplyScalar(0.5);
      const knob = this.thickness * (stick.knob ? 2.2 : 1.3);
      this.knobs.setMatrixAt(i, matrix.makeScale(knob, knob, knob).setPosition(b));
      b.sub(a);
      const length = b.length();
      turn.setFromUnitVectors(z, length > 0 ? b.divideScalar(length) : z);
      this.rods.setMatrixAt(i, matrix.compose(middle, turn, a.set(this.thickness, this.thickness, length)));
    });
    this.rods.instanceMatrix.needsUpdate = this.knobs.instanceMatrix.needsUpdate = true;
  }
}
