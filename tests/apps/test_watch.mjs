// Live pages of `costate watch` in a real browser, and its server. Usage: node test_watch.mjs PROGRAM NODE_MODULES; exits with 77,
// which ctest takes as skipped, without Chromium or in a build without cpp-httplib.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { browserPath, run } from "./browser.mjs";

const [program, modules] = process.argv.slice(2).map((path) => resolve(path));
if (!browserPath || !spawnSync(program, ["watch", "--help"], { encoding: "utf8" }).stdout.includes("--port")) {
  console.log("skipped: no Chromium in the PATH, or no cpp-httplib in the build");
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "costate-watch-"));
const running = new Set();

// A program that watches: {url, port, stop(signal) -> exit code, stderr()}.
async function watch(...args) {
  const child = spawn(program, ["watch", ...args, "--json"], { cwd: folder });
  running.add(child);
  let out = "";
  let err = "";
  child.stderr.on("data", (data) => (err += data));
  const ended = new Promise((done) => child.on("close", (code) => (running.delete(child), done(code))));
  const { url } = await new Promise((done, fail) => {
    child.stdout.on("data", (data) => {
      out += data;
      if (out.trimEnd().endsWith("}")) done(JSON.parse(out));
    });
    ended.then((code) => fail(new Error(`exit code ${code}: ${err}`)));
  });
  const stop = (signal) => (child.kill(signal), ended);
  return { url, port: new URL(url).port, stop, stderr: () => err };
}

let browser;
async function open(url) {
  const page = await browser.newPage({ viewport: { width: 640, height: 480 } });
  const said = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !/GPU stall|GL Driver/.test(message.text()) && said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => request.url().startsWith(url) || /^(data|blob):/.test(request.url()) || said.push(`asks for ${request.url()}`));
  await page.goto(url);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  return { page, said };
}
const answers = (host, port) =>
  new Promise((done) => {
    const socket = connect({ host, port, timeout: 2000 }, () => (socket.destroy(), done(true)));
    socket.on("error", () => done(false));
    socket.on("timeout", () => (socket.destroy(), done(false)));
  });

const tests = {
  async "a simulation is shown while it runs, also to who comes late"() {
    const { url, stop } = await watch("quadruped_stand", "--speed", "0.02", "--port", "0"); // four minutes
    const { page, said } = await open(url);
    const first = await page.evaluate(() => [costate.end, costate.time]);
    assert.ok(first[0] < 4.5, `it is shown before its end: ${first}`);
    assert.equal(first[0], first[1]);
    await page.waitForFunction((before) => costate.end > before && costate.time === costate.end, first[0]);
    const late = await open(url);
    assert.equal(await late.page.evaluate(() => costate.start), 0);
    assert.ok((await late.page.evaluate(() => costate.end)) >= 0);
    await late.page.waitForFunction((before) => costate.end > before, first[0]);
    assert.deepEqual([...said, ...late.said], []);
    assert.equal(await stop("SIGINT"), 0);
  },

  async "a simulation is whole in the end"() {
    const { url, stop } = await watch("quadruped_stand", "--steps", "2500", "--speed", "2", "--port", "0");
    const { page, said } = await open(url);
    await page.waitForSelector("body[data-done='1']", { state: "attached" });
    await page.waitForFunction(() => costate.runs[0].frames === 2501);
    assert.ok(Math.abs((await page.evaluate(() => costate.time)) - 2.5) < 1e-6);
    assert.match(await page.locator(".status").textContent(), /^2500 steps, loss /);
    const times = await page.evaluate(() => Array.from(costate.runs[0].times));
    times.forEach((t, k) => assert.ok(Math.abs(t - 0.001 * k) < 1e-6, `frame ${k} is at ${t}`));
    // what it holds is what `simulate` writes
    const csv = join(folder, "run.csv");
    spawnSync(program, ["simulate", "quadruped_stand", "--steps", "2500", "--out", csv, "--columns", "pose(*).*"]);
    const [columns, ...rows] = readFileSync(csv, "utf8").trim().split("\n").map((line) => line.split(","));
    const body = await page.evaluate(() => costate.scene.bodies.map(({ name }) => name));
    const z = columns.indexOf(`pose(${body[3]}).z`);
    assert.ok(z > 0, columns.join());
    for (const k of [0, 1, 99, 100, 1250, 2499, 2500]) {
      const seen = await page.evaluate((f) => costate.runs[0].positions[3 * (f * costate.runs[0].bodies + 3) + 2], k);
      assert.ok(Math.abs(seen - Number(rows[k][z])) < 3e-6, `${seen} and ${rows[k][z]} at step ${k}`);
    }
    const contacts = await page.evaluate(() => [costate.runs[0].contacts.length, costate.runs[0].firstContact.at(-1) * 3, costate.runs[0].contactPoints.length]);
    assert.equal(contacts[0], 2501);
    assert.equal(contacts[1], contacts[2]);
    assert.deepEqual(said, []);
    assert.equal(await stop("SIGINT"), 0);
  },

  async "who scrubs back stays there while more arrives, and hears when the program ends"() {
    const { url, stop } = await watch("pendulum_2", "--speed", "0.01", "--port", "0");
    const { page, said } = await open(url);
    await page.waitForFunction(() => costate.end > 0);
    await page.keyboard.press("Home");
    const end = await page.evaluate(() => costate.end);
    await page.waitForFunction((before) => costate.end > before, end);
    assert.equal(await page.evaluate(() => costate.time), 0);
    assert.deepEqual(said, []);
    const began = Date.now();
    assert.equal(await stop("SIGTERM"), 0);
    assert.ok(Date.now() - began < 3000, "it ends at once, with a page open");
    await page.waitForFunction(() => document.querySelector(".status").textContent.includes("the program has ended"));
  },

  async "an optimization shows the start and the best so far, and its loss"() {
    const { url, stop } = await watch("throw", "--optimize", "--port", "0");
    const { page, said } = await open(url);
    await page.waitForSelector("body[data-done='1']", { state: "attached" });
    assert.match(await page.locator(".status").textContent(), /^\d+ iterations, \d+ losses, \d+ gradients, loss 0\.000\d+, target loss reached$/);
    await page.waitForFunction(() => costate.runs[1].about.loss < 0.001);
    assert.deepEqual(await page.evaluate(() => costate.runs.map((run) => run.label)), ["start", "best so far"]);
    const miss = await page.evaluate(() => {
      const [run, ball] = [costate.runs[1], costate.scene.bodies.findIndex(({ name }) => name === "ball")];
      const at = run.positions.subarray(3 * ((run.frames - 1) * run.bodies + ball)).subarray(0, 3);
      return Math.hypot(...costate.scene.targets[0].p.map((x, k) => x - at[k]));
    });
    assert.ok(miss < 0.001, `${miss}`);
    const shown = await page.locator(".panel label").nth(1).textContent();
    assert.equal(shown, await page.evaluate(() => `best so far, loss ${Number(costate.runs[1].about.loss.toPrecision(4))}`));
    assert.equal(await page.evaluate(() => (document.querySelector("img.loss").decode(), document.querySelector("img.loss").naturalWidth > 0)), true);
    assert.equal(await page.evaluate(() => costate.playing), true);
    assert.deepEqual(said, []);
    assert.equal(await stop("SIGINT"), 0);
  },

  async "the server is of this machine only, changes nothing, and frees its port"() {
    const { port, url, stop } = await watch("bounce", "--port", "0");
    for (const [options, status] of [[{}, 200], [{ method: "POST", body: "x" }, 405], [{ method: "DELETE" }, 405]])
      assert.equal((await fetch(url, options)).status, status);
    assert.equal((await fetch(`${url}missing`)).status, 404);
    const foreign = spawnSync("node", ["-e", `require("http").get({host: "127.0.0.1", port: ${port}, headers: {Host: "elsewhere.example"}}, (r) => console.log(r.statusCode))`], { encoding: "utf8" });
    assert.equal(foreign.stdout.trim(), "403");
    const outside = Object.values(networkInterfaces()).flat().find(({ family, internal }) => family === "IPv4" && !internal);
    if (outside) assert.equal(await answers(outside.address, port), false);
    const second = spawnSync(program, ["watch", "bounce", "--port", port], { encoding: "utf8" });
    assert.deepEqual([second.status, second.stdout], [2, ""]);
    assert.match(second.stderr, new RegExp(`^costate: cannot listen on 127\\.0\\.0\\.1:${port}: [^\\n]+\\n$`));
    assert.equal(await stop("SIGINT"), 0);
    assert.equal(await answers("127.0.0.1", port), false);
    const again = await watch("bounce", "--port", port);
    assert.equal(await again.stop("SIGINT"), 0);
  },

  async "what is wrong is one line"() {
    for (const [args, complaint] of [
      [["nowhere"], /nowhere/],
      [["bounce", "--port", "70000"], /--port/],
      [["bounce", "--speed", "0"], /--speed/],
      [["box_stack", "--optimize"], /nothing to optimize/],
      [["bounce", "--optimize", "--speed", "1"], /cannot be combined with --optimize/],
      [["bounce", "--host", "no such host", "--port", "0"], /cannot listen/],
    ]) {
      const { status, stderr } = spawnSync(program, ["watch", ...args], { encoding: "utf8", timeout: 20000, killSignal: "SIGKILL" });
      assert.equal(status, 2, args.join(" "));
      assert.match(stderr, complaint);
      assert.equal(stderr.trim().split("\n").length, 1);
    }
  },
};

await run(tests, modules, (it) => (browser = it), () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
