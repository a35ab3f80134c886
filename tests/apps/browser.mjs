// What the tests of pages share: the browser, and running them.
import { accessSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// The file of $COSTATE_CHROMIUM or of the first Chromium in the PATH.
export const browserPath = (process.env.COSTATE_CHROMIUM ? [process.env.COSTATE_CHROMIUM] : (process.env.PATH ?? "").split(":").flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))).find((file) => {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
});

// Runs every test of {name: test()} in one browser, which is given to `opened` first; then `closed`. Ends the process.
export async function run(tests, modules, opened, closed) {
  const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
  let browser;
  let failed = 0;
  try {
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
    opened(browser);
    for (const [name, test] of Object.entries(tests)) {
      const began = Date.now();
      try {
        await test();
        console.log(`ok   ${name}, ${((Date.now() - began) / 1000).toFixed(1)} s`);
      } catch (error) {
        ++failed;
        console.log(`FAIL ${name}\n${error.stack}`);
      }
    }
  } finally {
    await browser?.close();
    closed();
  }
  process.exit(failed > 0 ? 1 : 0);
}
