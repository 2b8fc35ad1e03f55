"use strict";

// Steps through recorded episodes. Each player is a [data-player] element with its data inside, as compressed JSON.
// A link to a step is the page's URL with #scene=5003&step=7&policy=optimal; of several players, the first that has that
// scene (and, with &task=..., that task) follows it.
const players = [...document.querySelectorAll("[data-player]")].map(async (root) => {
  const data = await unpack(root.querySelector("script").textContent);
  let atlas = null;
  if (data.atlas !== null) {
    atlas = new Image();
    atlas.src = data.atlas.image;
    await atlas.decode();
  }
  return startPlayer(root, data, atlas);
});
Promise.all(players).then((started) => {
  const follow = () => {
    const link = new URLSearchParams(location.hash.slice(1));
    if (link.has("scene")) started.some((player) => player.follow(link));
  };
  addEventListener("hashchange", follow);
  follow();
});

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

function startPlayer(root, data, atlas) {
  const MILLISECONDS = 420;  // between two steps while it plays
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const [policy, scene, slider, canvas, status] = ["policy", "scene", "slider", "frame", "status"].map(part);
  const playButton = root.querySelector('[data-go="play"]');
  const episodes = data.episodes;
  let episode = episodes[0];
  let moment = 0;
  let timer = null;

  const moves = {
    first: () => goTo(0),
    back: () => goTo(moment - 1),
    forward: () => goTo(moment + 1),
    last: () => goTo(lastMoment()),
    play: () => (timer === null ? play() : pause()),
  };
  const keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play" };

  fill(policy, [...new Set(episodes.map((one) => one.policy))], (name) => name, (name) => name);
  policy.addEventListener("change", () => choose(policy.value, Number(scene.value)));
  scene.addEventListener("change", () => choose(policy.value, Number(scene.value)));
  slider.addEventListener("input", () => { pause(); goTo(Number(slider.value)); });
  for (const button of root.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => { if (button !== playButton) pause(); moves[button.dataset.go](); });
  }
  root.addEventListener("keydown", (event) => {
    const move = keys[event.key];
    const ownKeys = event.target.matches("select") || (event.key === " " && event.target.matches("button"));
    if (!move || ownKeys || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (move !== "play") pause();
    moves[move]();
  });
  show(episode);
  root.dataset.ready = "";
  return { follow };

  function lastMoment() { return episode.moments.length - 1; }

  // The episode of this policy in this scene; in its first scene if it was not recorded in this one.
  function choose(policyName, seed) {
    const own = episodes.filter((one) => one.policy === policyName);
    pause();
    show(own.find((one) => one.seed === seed) ?? own[0]);
  }

  // Shows the step of a link; returns whether this player has it.
  function follow(link) {
    const seed = Number(link.get("scene"));
    const here = episodes.filter((one) => one.seed === seed && one.task === (link.get("task") ?? one.task));
    if (here.length === 0) return false;
    const wanted = link.get("policy") ?? episode.policy;
    pause();
    show(here.find((one) => one.policy === wanted) ?? here[0]);
    goTo(Number(link.get("step")) || 0);
    root.scrollIntoView({ block: "nearest" });
    return true;
  }

  function show(next) {
    episode = next;
    if (atlas) episode.frames ??= unfold(episode);
    policy.value = episode.policy;
    fill(scene, episodes.filter((one) => one.policy === episode.policy), (one) => one.seed, sceneName);
    scene.value = episode.seed;
    slider.max = lastMoment();
    if (atlas) {
      canvas.width = episode.columns * data.atlas.tile;
      canvas.height = episode.rows * data.atlas.tile;
      canvas.style.width = `min(100%, var(--tallest) * ${episode.columns / episode.rows})`;
    }
    const steps = `${lastMoment()} ${lastMoment() === 1 ? "step" : "steps"}`;
    const outcomes = { success: `succeeds in ${steps}`, horizon: `out of time after ${steps}`, lost: `lost after ${steps}` };
    part("outcome").textContent = `${outcomes[episode.outcome] ?? `${episode.outcome} after ${steps}`} · return ${episode.return.toFixed(3)}`;
    part("outcome").dataset.success = episode.success;
    for (const drawing of root.querySelectorAll("[data-automaton]")) {
      drawing.hidden = Number(drawing.dataset.automaton) !== episode.automaton;
    }
    part("automata").hidden = episode.automaton === null;
    part("bars").replaceChildren(...episode.control_names.map(bar));
    goTo(0);
  }

  function goTo(wanted) {
    moment = Math.min(Math.max(wanted, 0), lastMoment());
    const now = episode.moments[moment];
    if (atlas) drawFrame(canvas, episode, episode.frames[moment], atlas, data.atlas);
    else part("state").textContent = now.world_state;
    drawBars(now);
    part("word").replaceChildren(...episode.word.slice(0, now.read).map((label) => element("li", label)));
    slider.value = moment;
    slider.setAttribute("aria-valuetext", `step ${moment} of ${lastMoment()}`);
    part("count").textContent = `${moment} / ${lastMoment()}`;
    status.textContent = describe(now);
    const here = { scene: episode.seed, step: moment, policy: episode.policy, task: episode.task };
    part("link").href = `#${new URLSearchParams(here)}`;
    if (episode.automaton !== null) drawAutomaton(now, moment > 0 ? episode.moments[moment - 1].state : null);
    if (moment === lastMoment()) pause();
  }

  function describe(now) {
    const state = now.state === null ? "" : now.state < 0 ? " The automaton rejects this word." : ` The automaton is in state ${now.state}.`;
    if (moment === 0) return `At the start.${state}`;
    const taken = episode.control_names[episode.moments[moment - 1].control];
    const label = now.label === "-" ? "nothing" : now.label.replaceAll(" & ", ", ");
    const ended = moment === lastMoment() && episode.success ? " The task is done." : "";
    return `Step ${moment}: ${taken}. Label: ${label}.${state}${ended}`;
  }

  function drawBars(now) {
    const shares = now.probabilities ?? episode.control_names.map(() => 0);
    [...part("bars").children].forEach((row, control) => {
      const share = shares[control];
      row.classList.toggle("taken", control === now.control);
      row.querySelector("rect.value").setAttribute("width", `${100 * share}%`);
      row.querySelector(".number").textContent = now.probabilities === null ? "" : `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
      row.querySelector(".taken-mark").textContent = control === now.control ? "taken" : "";
    });
  }

  function drawAutomaton(now, before) {
    const drawing = root.querySelector(`[data-automaton="${episode.automaton}"]`);
    const moved = before !== null && before !== now.state;
    for (const one of drawing.querySelectorAll("[data-state]")) {
      one.classList.toggle("here", Number(one.dataset.state) === now.state);
    }
    for (const one of drawing.querySelectorAll("[data-source]")) {
      one.classList.toggle("just-taken", moved && Number(one.dataset.source) === before && Number(one.dataset.target) === now.state);
    }
    const box = drawing.querySelector(".scroll");
    const here = drawing.querySelector(".here");
    if (box && here) {
      const [middle, frame] = [here.getBoundingClientRect(), box.getBoundingClientRect()];
      const smooth = matchMedia("(prefers-reduced-motion: no-preference)").matches;
      box.scrollTo({
        left: box.scrollLeft + middle.left + middle.width / 2 - frame.left - frame.width / 2,
        top: box.scrollTop + middle.top + middle.height / 2 - frame.top - frame.height / 2,
        behavior: smooth ? "smooth" : "instant",
      });
    }
  }

  // While an episode plays, a screen reader does not announce every step.
  function play() {
    if (moment === lastMoment()) goTo(0);
    if (lastMoment() === 0) return;
    timer = setInterval(() => goTo(moment + 1), MILLISECONDS);
    status.setAttribute("aria-live", "off");
    playButton.setAttribute("aria-label", "Pause");
    root.classList.add("playing");
  }

  function pause() {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    status.setAttribute("aria-live", "polite");
    playButton.setAttribute("aria-label", "Play");
    root.classList.remove("playing");
  }
}

// All frames in full: one array of tile numbers per moment.
function unfold(episode) {
  const frames = [];
  let frame = episode.frame;
  for (const moment of episode.moments) {
    frame = [...frame];
    for (const [cell, tile] of moment.changes) frame[cell] = tile;
    frames.push(frame);
  }
  return frames;
}

function drawFrame(canvas, episode, frame, atlas, { tile, columns }) {
  const context = canvas.getContext("2d");
  frame.forEach((number, cell) => {
    const from = [(number % columns) * tile, Math.floor(number / columns) * tile];
    const to = [(cell % episode.columns) * tile, Math.floor(cell / episode.columns) * tile];
    context.drawImage(atlas, ...from, tile, tile, ...to, tile, tile);
  });
}

function fill(select, choices, valueOf, nameOf) {
  select.replaceChildren(...choices.map((choice) => {
    const option = element("option", nameOf(choice));
    option.value = valueOf(choice);
    return option;
  }));
}

function sceneName(episode) {
  return episode.success ? episode.seed : `${episode.seed} (failed)`;
}

function bar(name) {
  const row = element("li");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "bar");
  svg.setAttribute("height", "16");
  svg.setAttribute("aria-hidden", "true");
  for (const [kind, width] of [["track", "100%"], ["value", "0"]]) {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [key, value] of Object.entries({ class: kind, width, y: 3, height: 10, rx: 3 })) rect.setAttribute(key, value);
    svg.append(rect);
  }
  const [label, number, mark] = [element("span", name), element("span"), element("span")];
  label.className = "name";
  number.className = "number";
  mark.className = "taken-mark";
  row.append(label, svg, number, mark);
  return row;
}

function element(tag, text = "") {
  const node = document.createElement(tag);
  node.textContent = text;
  return node;
}
