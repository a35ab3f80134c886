// A live page, which receives the events of its server (apps/cli/watch.cpp) during a run.
import { decode } from "./decode.js";
import { element } from "./panel.js";
import { Run } from "./run.js";

// The program's message if it refuses to send events, which an EventSource does not report.
const refusal = () =>
  fetch("events").then(
    (response) => (response.ok ? response.body.cancel().then(() => "") : response.text()),
    () => "",
  );

export function listen(parent, start, complain) {
  parent.querySelector(".message").textContent = "Waiting for the first states.";
  const source = new EventSource("events");
  const status = element("li", { className: "status" });
  const plot = element("img", { className: "loss", alt: "loss by iteration" });
  const { body } = document;
  let app = null;
  let queue = Promise.resolve(); // handles events in order, although decoding is asynchronous
  const on = (kind, act) =>
    source.addEventListener(kind, ({ data }) => {
      queue = queue.then(() => act(data)).catch((error) => (source.close(), complain(parent, error)));
    });

  function open({ header, planes }, looping) {
    app = start(header, planes);
    app.panel.notes.prepend(status);
    app.looping = looping;
    if (looping) app.togglePlay();
    else app.seek(app.end);
    document.documentElement.dataset.ready = "1";
  }
  const runsOf = ({ header, planes }) => header.runs.map((about) => new Run(about, header.objects, app.scene.bodies.length, planes));

  on("frames", async (data) => {
    const decoded = await decode(data);
    if (!app) return open(decoded, false);
    app.runs[0].append(runsOf(decoded)[0]);
    app.renew();
  });
  on("runs", async (data) => {
    const decoded = await decode(data);
    if (!app) return open(decoded, true);
    runsOf(decoded).forEach((run, i) => app.runs[i].take(run));
    app.renew();
  });
  on("plot", (data) => {
    plot.src = `data:image/svg+xml,${encodeURIComponent(JSON.parse(data).svg)}`;
    if (app && !plot.isConnected) app.picture.append(plot);
  });
  on("status", (data) => {
    const { text, done } = JSON.parse(data);
    status.textContent = text;
    body.dataset.done = done ? "1" : "";
    if (done) source.close();
  });
  source.onerror = () => {
    source.close();
    queue = queue.then(async () => {
      if (app) status.textContent += " (the program has ended; its last states remain)";
      else complain(parent, new Error((await refusal()) || "the program that serves it has ended"));
    });
  };
}
