// Pages of `costate view` in a real browser, from file:// and without a network.
// Usage: node test_viewer.mjs PROGRAM NODE_MODULES REFERENCES [--write]; exits with 77, which ctest takes as skipped, without
// Chromium. REFERENCES holds the pictures that are compared with; --write makes them anew.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { inflateSync } from "node:zlib";

import { browserPath, run } from "./browser.mjs";

const [program, modules, references] = process.argv.slice(2).map((path) => resolve(path));
const write = process.argv.includes("--write");
if (!browserPath) {
  console.log("skipped: no Chromium in the PATH");
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "costate-viewer-"));
const at = (name) => join(folder, name);

function costate(...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  return { status, stdout, stderr };
}
function make(name, ...args) {
  const result = costate("view", ...args, "--out", at(name));
  assert.equal(result.status, 0, result.stderr);
  return at(name);
}
function scene(name, value) {
  writeFileSync(at(name), JSON.stringify(value));
  return at(name);
}

// A page that is open, and everything that its console said.
let browser;
async function open(file, { width = 800, height = 600, hash = "", colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, offline: true, colorScheme });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => {
    // software rendering reports that reading pixels is slow
    if (["error", "warning"].includes(message.type()) && !/GPU stall|GL Driver/.test(message.text())) said.push(message.text());
  });
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || said.push(`asks for ${request.url()}`));
  const began = Date.now();
  await page.goto(`file://${file}${hash}`);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  const seconds = (Date.now() - began) / 1000;
  return { page, said, seconds, close: () => context.close() };
}
// Two frames later everything asked for is drawn.
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// The pixels of a PNG without interlace, 8 bits a channel: {width, height, channels, data}.
function pixels(png) {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = { 2: 3, 6: 4 }[png[25]];
  const parts = [];
  for (let i = 8; i < png.length; i += 12 + png.readUInt32BE(i))
    if (png.toString("latin1", i + 4, i + 8) === "IDAT") parts.push(png.subarray(i + 8, i + 8 + png.readUInt32BE(i)));
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const data = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y)
    for (let k = 0; k < stride; ++k) {
      const a = k >= channels ? data[y * stride + k - channels] : 0;
      const b = y > 0 ? data[(y - 1) * stride + k] : 0;
      const c = k >= channels && y > 0 ? data[(y - 1) * stride + k - channels] : 0;
      const nearest = [a, b, c].reduce((best, x) => (Math.abs(a + b - c - x) < Math.abs(a + b - c - best) ? x : best), a);
      data[y * stride + k] = raw[y * (stride + 1) + 1 + k] + [0, a, b, (a + b) >> 1, nearest][raw[y * (stride + 1)]];
    }
  return { width, height, channels, data };
}

// The middle and the number of the pixels whose colour fits.
function spot(png, fits) {
  const { width, height, channels, data } = pixels(png);
  let count = 0;
  let x = 0;
  let y = 0;
  for (let i = 0; i < width * height; ++i)
    if (fits(data[channels * i], data[channels * i + 1], data[channels * i + 2])) (x += i % width), (y += Math.floor(i / width)), ++count;
  return { count, x: x / count + 0.5, y: y / count + 0.5 };
}

const ball = (name, position, velocity = [0, 0, 0]) => ({
  name,
  position,
  model: { bodies: [{ name, joint: { type: "free" }, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], shapes: [{ type: "sphere", radius: 0.1 }] }] },
  velocity,
});
function balls(models, more = {}) {
  const velocities = Object.fromEntries(models.map(({ name, velocity }) => [name, { linear: velocity }]));
  return {
    name: "balls",
    time_step: 0.01,
    steps: 50,
    ground: true,
    models: models.map(({ velocity, ...model }) => model),
    initial: { velocities },
    objective: [{ term: "height", body: models[0].name }],
    ...more,
  };
}
const csvRows = (file) => readFileSync(file, "utf8").trim().split("\n").map((line) => line.split(","));

const tests = {
  // A blue and an orange ball are where the trajectory has them, by the page's camera and a projection of our own.
  async "scrubbing shows the bodies where the trajectory has them"() {
    const file = scene("two.json", balls([ball("left", [-0.5, 0, 0.6], [0.4, 0, 2]), ball("right", [0.6, 0.2, 0.5], [0, 1, 1])]));
    costate("simulate", file, "--out", at("two.csv"));
    const [columns, ...rows] = csvRows(at("two.csv"));
    const { page, said, close } = await open(make("two.html", file), { hash: "#ui=0" });
    await page.evaluate(() => ["contacts", "forces"].forEach((name) => costate.toggle(name)));
    for (const step of [0, 17, 31, 50]) {
      await page.evaluate((t) => costate.seek(t), step * 0.01);
      await drawn(page);
      const eye = await page.evaluate(() => {
        const { camera, controls } = costate.world;
        return { from: camera.position.toArray(), to: controls.target.toArray(), fov: camera.fov, box: costate.world.renderer.domElement.getBoundingClientRect().toJSON() };
      });
      const png = await page.screenshot();
      for (const [name, fits] of [["left", (r, g, b) => b > r + 40 && r < 90], ["right", (r, g, b) => r > b + 50 && g > b + 25]]) {
        const p = ["x", "y", "z"].map((axis) => Number(rows[step][columns.indexOf(`${name}.${axis}`)]));
        const expected = project(p, eye);
        const seen = spot(png, fits);
        assert.ok(seen.count > 60, `${name} is seen at step ${step}: ${seen.count} pixels`);
        assert.ok(Math.hypot(seen.x - expected.x, seen.y - expected.y) < 3, `${name} at step ${step}: ${JSON.stringify({ seen, expected })}`);
      }
      // and to the stated accuracy in the numbers themselves
      const held = await page.evaluate(() => Array.from(costate.runs[0].matrices.subarray(12, 15)));
      ["x", "y", "z"].forEach((axis, k) => assert.ok(Math.abs(held[k] - Number(rows[step][columns.indexOf(`left.${axis}`)])) < 2e-6));
    }
    assert.deepEqual(said, []);
    await close();
  },

  async "plays, pauses, steps, by mouse and by keyboard, and says how fast it draws"() {
    const { page, said, close } = await open(make("play.html", "quadruped_stand", "--steps", "3000"), { width: 480, height: 360 });
    await page.click("button.play");
    await page.waitForFunction(() => costate.time > 0.2 && costate.rate > 0);
    await page.waitForFunction(() => /\d+ frames\/s/.test(document.querySelector(".rate").textContent));
    await page.keyboard.press("Escape");
    await page.locator("body").press("Space");
    if (await page.evaluate(() => costate.playing)) await page.click("button.play");
    const paused = await page.evaluate(() => costate.time);
    await page.waitForTimeout(150);
    assert.equal(await page.evaluate(() => costate.time), paused);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("End");
    assert.equal(await page.evaluate(() => costate.time), 3);
    await page.keyboard.press("ArrowLeft");
    assert.ok(Math.abs((await page.evaluate(() => costate.time)) - 2.999) < 1e-6);
    await page.keyboard.press("Home");
    assert.equal(await page.evaluate(() => costate.time), 0);
    const line = await page.locator("canvas.timeline").boundingBox();
    await page.mouse.click(line.x + line.width / 2, line.y + line.height / 2);
    assert.ok(Math.abs((await page.evaluate(() => costate.time)) - 1.5) < 0.02);
    await page.keyboard.press("f");
    assert.equal(await page.evaluate(() => costate.followed), 0);
    assert.deepEqual(said, []);
    await close();
  },

  async "a robot that goes far is followed, and is as large as it is"() {
    const file = scene("far.json", balls([ball("flying", [0, 0, 1], [40, 0, 0])]));
    const { page, said, close } = await open(make("far.html", file), { hash: "#ui=0" });
    await page.evaluate(() => costate.toggle("skeleton"));
    for (const time of [0, 0.5]) {
      await page.evaluate((t) => costate.seek(t), time);
      await drawn(page);
      const { target, x, thickness } = await page.evaluate(() => ({
        target: costate.world.controls.target.toArray(), x: costate.runs[0].origin(0, [0, 0, 0])[0], thickness: costate.thickness }));
      assert.ok(Math.abs(target[0] - x) < 1e-3, `the camera looks at ${target} where the ball is at ${x}`);
      assert.ok(thickness < 0.02, `sticks of ${thickness} m on a ball of 0.1 m`);
      const seen = spot(await page.screenshot(), (r, g, b) => b > r + 40 && r < 90);
      assert.ok(seen.count > 300, `${seen.count} pixels of the ball`);
    }
    const sheet = await open(make("far_sheet.html", file), { hash: "#ui=0&sheet=4" });
    const seen = spot(await sheet.page.screenshot(), (r, g, b) => b > r + 40 && r < 90);
    assert.ok(seen.count > 400, `${seen.count} pixels of the ball on the sheet`);
    await sheet.close();
    assert.deepEqual(said, []);
    await close();
  },

  async "contacts, gradients and all other switches"() {
    const { page, said, close } = await open(make("stand.html", "quadruped_stand", "--steps", "200"), { hash: "#t=0.1" });
    const forces = await page.evaluate(() => {
      const run = costate.runs[0];
      const first = run.firstContact[run.frame];
      const z = Array.from({ length: run.contacts[run.frame] }, (_, k) => run.contactForces[3 * (first + k) + 2]);
      return { count: z.length, sum: z.reduce((a, b) => a + b, 0), arrows: costate.runs[0].overlays.parts.forces.shafts.mesh.count };
    });
    assert.equal(forces.count, 4);
    assert.equal(forces.arrows, 4);
    const mass = JSON.parse(costate("info", "quadruped_stand", "--json").stdout).mass;
    assert.ok(Math.abs(forces.sum / (9.81 * mass) - 1) < 0.05, `${forces.sum} N carry ${mass} kg`);
    for (const key of ["g", "u", "j", "m", "n"]) await page.keyboard.press(key);
    await drawn(page);
    const marks = await page.evaluate(() => {
      const { gradients, controls, axes, centres } = costate.runs[0].overlays.parts;
      return [gradients.shafts.mesh.count, controls.shafts.mesh.count, axes.shafts.mesh.count, centres.instances.mesh.count];
    });
    assert.deepEqual(marks, [13, 12, 12, 13]);
    assert.equal(await page.locator(".labels span:visible").count(), 13);
    const norms = await page.evaluate(() => Array.from(costate.runs[0].adjointNorms));
    assert.ok(norms.length === 402 && norms.some((x) => x > -399));
    assert.match(await page.locator(".legend").textContent(), /per N s/);
    assert.deepEqual(said, []);
    await close();
  },

  async "what is only seen of a body is shown, in its colour, and can be switched off"() {
    const seen = ball("b", [0, 0, 0.5]);
    seen.model.bodies[0].visuals = [{ type: "box", half_extents: [0.3, 0.02, 0.02], position: [0, 0, 0.4], rgba: [0, 0.8, 0, 1] }];
    const { page, said, close } = await open(make("visuals.html", scene("visuals.json", balls([seen]))), { hash: "#ui=0" });
    const green = async () => spot(await page.screenshot(), (r, g, b) => g > 60 && g > 2 * r && g > 2 * b).count;
    assert.ok((await green()) > 200, `${await green()} green pixels`);
    await page.keyboard.press("v");
    await drawn(page);
    assert.equal(await green(), 0);
    assert.deepEqual(said, []);
    await close();
  },

  async "a mesh that is only seen is shown in place of what collides; one that cannot be read is named"() {
    writeFileSync(`${folder}/plate.obj`, "v -0.4 0 0\nv 0.4 0 0\nv 0.4 0 0.4\nv -0.4 0 0.4\nf 1 2 3 4\n");
    writeFileSync(`${folder}/broken.stl`, "solid nothing");
    const seen = ball("b", [0, 0, 0.5]);
    const plate = (file) => ({ type: "mesh", file, rgba: [0, 0.8, 0, 1] });
    seen.model.bodies[0].visuals = [plate("plate.obj"), plate("plate.obj"), plate("broken.stl")];
    const { page, said, close } = await open(make("meshes.html", scene("meshes.json", balls([seen]))), { hash: "#ui=0" });
    assert.equal(await page.evaluate(() => costate.scene.geometries.length), 1);
    assert.deepEqual(await page.evaluate(() => [costate.shown.shapes, costate.shown.visuals]), [false, true]);
    assert.ok(spot(await page.screenshot(), (r, g, b) => g > 60 && g > 2 * r && g > 2 * b).count > 200);
    assert.match(await page.locator(".notes").textContent(), /Not shown: .*broken\.stl/);
    assert.deepEqual(said, []);
    await close();
  },

  async "meshes are in view, those that collide and those that are only seen"() {
    writeFileSync(`${folder}/edge.obj`, "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    const mesh = { type: "mesh", file: "edge.obj" };
    for (const key of ["shapes", "visuals"]) {
      const seen = ball("b", [0, 0, 1]);
      seen.model.bodies[0][key] = [{ ...mesh, scale: [2, 2, 2] }];
      const { page, said, close } = await open(make(`${key}.html`, scene(`${key}.json`, balls([seen]))), { hash: "#ui=0" });
      assert.ok((await page.evaluate(() => costate.world.box.max.x)) >= 4);
      assert.deepEqual(said, []);
      await close();
    }
  },

  async "runs from files, one over the other, and what is wrong with a file"() {
    const file = scene("one.json", balls([ball("b", [0, 0, 0.5])]));
    costate("simulate", file, "--out", at("before.csv"));
    costate("simulate", file, "--out", at("after.json"));
    const { page, said, close } = await open(make("runs.html", file, "--run", at("before.csv"), "--run", at("after.json")));
    const z = await page.evaluate(() => (costate.seek(0.25), costate.moveBodies(), costate.runs.map((run) => [run.label, run.matrices[14], run.contacts.length])));
    assert.deepEqual(z.map(([label]) => label), ["before", "after"]);
    assert.deepEqual(z[0].slice(1), z[1].slice(1));
    await page.keyboard.press("1");
    await drawn(page);
    assert.deepEqual(await page.evaluate(() => costate.runs.map((run) => run.shapes.group.visible)), [false, true]);
    assert.deepEqual(said, []);
    await close();
    const text = readFileSync(at("before.csv"), "utf8");
    const lines = text.split("\n");
    for (const [damage, complaint] of [
      [text.slice(0, text.length - 30), /bad\.csv:52: has \d+ fields/],
      [text.replace("\n0.02,", "\n0.x2,"), /bad\.csv:4: '0\.x2' is not a finite number/],
      [lines.map((line) => line.replace(/,[^,]*/, "")).join("\n"), /no column 'b\.x'/],
      [text.replace("b.x", "b.xx"), /no column 'b\.xx', the nearest is "b\.x"/],
      [[lines[0], lines[2], lines[1]].join("\n"), /not later/],
      ["", /is empty/],
    ]) {
      writeFileSync(at("bad.csv"), damage);
      const { status, stderr } = costate("view", file, "--run", at("bad.csv"), "--out", at("bad.html"));
      assert.equal(status, 2);
      assert.match(stderr, complaint);
      assert.equal(stderr.trim().split("\n").length, 1);
      assert.throws(() => readFileSync(at("bad.html")));
    }
  },

  async "only ground that is there bears shadows"() {
    for (const ground of [true, false]) {
      const file = scene("bare.json", balls([ball("b", [0, 0, 0.5])], ground ? {} : { ground: false }));
      const { page, close } = await open(make("bare.html", file), { width: 320, height: 240 });
      const planes = await page.evaluate(() => costate.world.scene.children.filter((o) => o.geometry?.type === "PlaneGeometry").map((o) => o.receiveShadow));
      assert.deepEqual(planes, [ground]);
      await close();
    }
  },

  async "a report opens at the end, with before in grey and after in blue in the time line too, in light and dark"() {
    costate("optimize", "cartpole", "--iterations", "2", "--report", at("report.html"));
    for (const colorScheme of ["light", "dark"]) {
      const { page, said, close } = await open(at("report.html"), { colorScheme });
      assert.deepEqual(await page.evaluate(() => [costate.time === costate.end, costate.panel.box.open]), [true, false]);
      const colours = await page.evaluate(() => {
        const canvas = document.querySelector("canvas.timeline");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const seen = { grey: 0, blue: 0, green: 0 };
        for (let i = 0; i < data.length; i += 4) {
          const [r, g, b, a] = data.subarray(i, i + 4);
          if (a < 200) continue;
          seen.grey += r === 0x8c && g === 0x8c && b === 0x8c;
          seen.blue += b > 120 && b > r + 60 && b > g + 40;
          seen.green += g > r + 60 && g > b + 40;
        }
        return seen;
      });
      assert.ok(colours.grey > 50 && colours.blue > 50 && colours.green === 0, JSON.stringify(colours));
      const background = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, costate.world.scene.background.getHexString()]);
      assert.deepEqual(background, colorScheme === "light" ? ["rgb(255, 255, 255)", "f6f7f8"] : ["rgb(21, 24, 26)", "1c2023"]);
      const titles = await page.evaluate(() => [...document.querySelectorAll("figure > svg > text:first-of-type")].map((text) => text.textContent));
      assert.equal(new Set(titles).size, titles.length, titles.join(", "));
      assert.deepEqual(said, []);
      await close();
    }
  },

  async "an empty trajectory, and pages that are cut off or changed, give a message"() {
    const file = scene("one.json", balls([ball("b", [0, 0, 0.5])]));
    costate("simulate", file, "--out", at("full.csv"));
    writeFileSync(at("empty.csv"), readFileSync(at("full.csv"), "utf8").split("\n")[0] + "\n");
    const empty = await open(make("empty.html", file, "--run", at("empty.csv")));
    assert.match(await empty.page.locator(".notes").textContent(), /empty/);
    assert.deepEqual(empty.said, []);
    await empty.close();
    const html = readFileSync(make("full.html", file), "utf8");
    const data = html.indexOf('id="frames">') + 12;
    const changed = html.slice(0, data + 400) + (html[data + 400] === "A" ? "B" : "A") + html.slice(data + 401);
    for (const damaged of [html.slice(0, data + 300), html.slice(0, data), changed]) {
      writeFileSync(at("damaged.html"), damaged);
      const { page, close } = await open(at("damaged.html"));
      assert.match(await page.locator("#viewer").textContent(), /cannot be shown: .*(cut off|changed)/);
      await close();
    }
    writeFileSync(at("half.html"), html.slice(0, html.length / 3)); // in the middle of the script
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`file://${at("half.html")}`);
    assert.match(await page.locator("#viewer").textContent(), /cut off/);
    await context.close();
  },

  async "names are shown as they are"() {
    const name = "<script>alert(1)</script><b>";
    const file = scene("evil.json", balls([ball(name, [0, 0, 0.5])], { name: `</title><script>throw 1</script>${name}` }));
    const { page, said, close } = await open(make("evil.html", file));
    await page.keyboard.press("n");
    await drawn(page);
    assert.equal(await page.locator(".labels span").first().textContent(), `${name}`);
    assert.match(await page.locator(".head h1").textContent(), /^<\/title><script>/);
    assert.match(await page.title(), /^<\/title><script>/);
    assert.deepEqual(said, []);
    await close();
  },

  async "ten thousand bodies, a hundred, and a hundred thousand states"() {
    const grid = (n) => Array.from({ length: n }, (_, i) => ball(`b${i}`, [(i % 100) * 0.3, Math.floor(i / 100) * 0.3, 1]));
    for (const [n, steps] of [[10000, 3], [100, 40]]) {
      const file = scene(`many${n}.json`, balls(grid(n), { steps, ground: false }));
      const { page, said, close } = await open(make("many.html", file), { width: 400, height: 300 });
      assert.equal(await page.evaluate(() => costate.runs[0].shapes.meshes[0].items.length), n);
      await page.keyboard.press("End");
      await drawn(page);
      const expected = 1 - (9.81 * (0.01 * steps) * (0.01 * (steps + 1))) / 2; // n (n + 1)/2 g h^2, semi-implicit steps
      assert.ok(Math.abs((await page.evaluate(() => costate.runs[0].matrices[14])) - expected) < 1e-4);
      assert.deepEqual(said, []);
      await close();
    }
    const { page, said, close } = await open(make("long.html", "pendulum_2", "--steps", "100000", "--overlays", "none"), { width: 390, height: 844 });
    assert.match(await page.locator(".notes").textContent(), /of 100001 states are shown, every 11th and the last/);
    assert.deepEqual(said, []);
    await close();
  },

  async "a quadruped of 5000 frames is small and opens at once"() {
    const file = make("q.html", "quadruped_stand", "--overlays", "none");
    assert.ok(readFileSync(file).length < 2e6);
    const { page, seconds, close } = await open(file, { width: 640, height: 480 });
    assert.equal(await page.evaluate(() => costate.runs[0].frames), 5001);
    console.log(`    ${readFileSync(file).length} bytes, opened in ${seconds} s`);
    assert.ok(seconds < 2, `${seconds} s`);
    await close();
  },

  async "pictures at fixed times are like those kept"() {
    for (const [name, time] of [["throw", 0.6], ["quadruped_stand", 0.1], ["pendulum_3", 0.3], ["box_slide", 0.2]]) {
      const size = { width: 320, height: 240 };
      const { page, said, close } = await open(make("shot.html", name, "--steps", "700"), { ...size, hash: `#ui=0&t=${time}` });
      await page.evaluate(() => document.querySelector(".head").remove()); // fonts differ
      await drawn(page);
      const png = await page.screenshot();
      const kept = join(references, `${name}.png`);
      if (write) writeFileSync(kept, png);
      const [a, b] = [pixels(png), pixels(readFileSync(kept))];
      assert.deepEqual([a.width, a.height], [b.width, b.height]);
      let different = 0;
      for (let i = 0; i < a.width * a.height; ++i)
        different += [0, 1, 2].some((k) => Math.abs(a.data[a.channels * i + k] - b.data[b.channels * i + k]) > 40);
      const share = different / (a.width * a.height);
      assert.ok(share < 0.01, `${name}: ${(100 * share).toFixed(2)} % of the pixels differ`);
      const colours = new Set();
      for (let i = 0; i < a.data.length; i += a.channels) colours.add(a.data.readUIntBE(i, 3));
      assert.ok(colours.size > 100, `${name} is not empty`);
      assert.deepEqual(said, []);
      await close();
    }
  },

  async "the report of an optimization"() {
    const file = at("report <b>.html");
    const { status, stderr } = costate("optimize", "throw", "--iterations", "3", "--report", file);
    assert.equal(status, 0, stderr);
    const { page, said, close } = await open(encodeURI(file));
    const text = await page.locator("body").innerText();
    for (const part of ["loss before", "loss after", "Before and after", "Controls", "Optimized variables", "control arm/torque1", "Settings and versions", "gauss_newton", "costate optimize throw --iterations 3 --report"])
      assert.ok(text.includes(part), part);
    assert.equal(await page.locator("figure svg").count(), 4 + 7);
    assert.deepEqual(await page.evaluate(() => costate.runs.map((run) => [run.label, Boolean(run.adjointNorms)])), [["before", true], ["after", true]]);
    assert.equal(await page.locator("b").count(), 0);
    assert.deepEqual(said, []);
    await close();
  },

  async "images without a page"() {
    const run = costate("view", "bounce", "--png", at("frame.png"), "--at", "0.3", "--size", "320x200");
    assert.equal(run.status, 0, run.stderr);
    const { width, height } = pixels(readFileSync(at("frame.png")));
    assert.deepEqual([width, height], [320, 200]);
    assert.equal(costate("view", "bounce", "--png", at("sheet.png"), "--sheet", "6", "--size", "480x240").status, 0);
    const sheet = pixels(readFileSync(at("sheet.png")));
    const colours = new Set();
    for (let i = 0; i < sheet.data.length; i += sheet.channels) colours.add(sheet.data.readUIntBE(i, 3));
    assert.ok(colours.size > 100);
  },
};

// Where a point of the world is on the screen, for a camera with z up; not the code of the page.
function project(p, { from, to, fov, box }) {
  const sub = (a, b) => a.map((x, k) => x - b[k]);
  const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => a.map((x) => x / Math.hypot(...a));
  const ahead = unit(sub(to, from));
  const right = unit(cross(ahead, [0, 0, 1]));
  const up = cross(right, ahead);
  const d = sub(p, from);
  const scale = box.height / 2 / Math.tan((fov * Math.PI) / 360) / dot(d, ahead);
  return { x: box.x + box.width / 2 + scale * dot(d, right), y: box.y + box.height / 2 - scale * dot(d, up) };
}

await run(tests, modules, (it) => (browser = it), () => rmSync(folder, { recursive: true, force: true }));
