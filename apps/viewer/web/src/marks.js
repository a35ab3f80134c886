// Arrows, dots and labels, drawn over everything else.
import * as THREE from "three";

function material(colour, opacity) {
  return new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity, toneMapped: false });
}

// An instanced mesh that grows as needed.
class Instances {
  constructor(geometry, colour, opacity = 0.9) {
    this.group = new THREE.Group();
    this.geometry = geometry;
    this.material = material(colour, opacity);
    this.reserve(16);
  }
  reserve(capacity) {
    if (this.mesh && capacity <= this.capacity) return;
    if (this.mesh) {
      this.group.remove(this.mesh);
      this.mesh.dispose();
    }
    this.capacity = Math.max(capacity, 2 * (this.capacity ?? 0));
    this.mesh = new THREE.InstancedMesh(this.geometry, this.material, this.capacity);
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 10;
    this.group.add(this.mesh);
  }
  begin(maxCount) {
    this.reserve(maxCount);
    this.mesh.count = 0;
  }
  add(matrix) {
    this.mesh.setMatrixAt(this.mesh.count++, matrix);
  }
  end() {
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.visible = this.mesh.count > 0;
  }
}

const matrix = new THREE.Matrix4();
const turn = new THREE.Quaternion();
const up = new THREE.Vector3(0, 0, 1);
const direction = new THREE.Vector3();
const size = new THREE.Vector3();
const place = new THREE.Vector3();

export class Dots {
  constructor(colour, radius) {
    this.radius = radius;
    this.instances = new Instances(new THREE.SphereGeometry(1, 14, 10), colour);
    this.group = this.instances.group;
  }
  begin(maxCount) {
    this.instances.begin(maxCount);
  }
  add(x, y, z) {
    this.instances.add(matrix.makeScale(this.radius, this.radius, this.radius).setPosition(x, y, z));
  }
  end() {
    this.instances.end();
  }
}

export class Arrows {
  constructor(colour, thickness) {
    this.thickness = thickness;
    this.shafts = new Instances(new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5), colour);
    this.heads = new Instances(new THREE.ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, -0.5), colour);
    this.group = new THREE.Group().add(this.shafts.group, this.heads.group);
  }
  begin(maxCount) {
    this.shafts.begin(maxCount);
    this.heads.begin(maxCount);
  }
  // Adds an arrow from a point p along a vector v, with the length of v.
  add(px, py, pz, vx, vy, vz) {
    direction.set(vx, vy, vz);
    const length = direction.length();
    if (!(length > 0) || !Number.isFinite(length)) return;
    turn.setFromUnitVectors(up, direction.divideScalar(length));
    const head = Math.min(0.4 * length, 5 * this.thickness);
    const thickness = Math.min(this.thickness, 0.1 * length);
    place.set(px, py, pz);
    this.shafts.add(matrix.compose(place, turn, size.set(thickness, thickness, length - head)));
    place.addScaledVector(direction, length);
    this.heads.add(matrix.compose(place, turn, size.set(0.4 * head, 0.4 * head, head)));
  }
  end() {
    this.shafts.end();
    this.heads.end();
  }
}

// Names next to things, as plain text over the canvas, never as HTML.
export class Labels {
  constructor(parent, maxNames = 150) {
    this.box = parent.appendChild(document.createElement("div"));
    this.box.className = "labels";
    this.maxNames = maxNames;
    this.items = [];
  }
  // points: array of [x, y, z]
  update(names, points, camera, width, height) {
    const shown = Math.min(names.length, this.maxNames);
    while (this.items.length < shown) this.items.push(this.box.appendChild(document.createElement("span")));
    this.items.forEach((item, i) => {
      if (i >= shown) return (item.style.display = "none");
      place.fromArray(points[i]).project(camera);
      const visible = place.z > -1 && place.z < 1;
      item.style.display = visible ? "" : "none";
      if (item.textContent !== names[i]) item.textContent = names[i];
      item.style.transform = `translate(${(0.5 + 0.5 * place.x) * width}px, ${(0.5 - 0.5 * place.y) * height}px)`;
    });
  }
  hide() {
    this.items.forEach((item) => (item.style.display = "none"));
  }
}
