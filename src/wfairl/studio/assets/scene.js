// The scene in its three modes: demonstrate, watch the agent, answer a question.
const TILE = 32;
const MAX_HEIGHTS = ["28rem", "70vh"];  // of a frame
const STEP_MILLISECONDS = 420;
const MIN_RANGE = 0.5;  // costs that differ by a smaller part are not spread over all colours
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const images = new Map();  // data URI of a tile -> its image, decoded once

async function decode(uri) {
  if (!images.has(uri)) {
    const image = new Image();
    image.src = uri;
    images.set(uri, image.decode().then(() => { images.set(uri, image); return image; }));
  }
  return images.get(uri);
}

export default {
  props: { json: String },
  emits: ["do"],
  data: () => ({ notice: "", mode: sessionStorage.getItem(`mode ${location.pathname}`) ?? "demonstrate", feeds: { ...window.studio.feeds }, seen: {}, requested: "", moment: 0, timer: null, chosen: null, picking: null, line: null, cursor: [0, 0], drawings: 0 }),
  template: `
    <section class="card scene" id="scene" aria-label="Scene">
      <div class="modes" role="tablist" aria-label="Mode">
        <button v-for="(one, i) in modes" :key="one.mode" role="tab" type="button" :id="'tab-' + one.mode" aria-controls="mode-panel" :aria-selected="mode === one.mode" :aria-keyshortcuts="String(i + 1)"
          :disabled="one.mode !== 'demonstrate' && !view.has_model" @click="setMode(one.mode)">{{ one.name }}<span v-if="isWaiting(one.mode)" class="badge"> new</span><kbd aria-hidden="true">{{ i + 1 }}</kbd></button>
      </div>
      <div role="tabpanel" id="mode-panel" :aria-labelledby="'tab-' + mode">
      <p class="scene-line">
        <span>{{ heading }}</span>
        <span v-if="view.episode" class="outcome" :data-success="view.episode.is_success">{{ view.episode.outcome }}</span>
      </p>
      <p v-if="view.instruction" class="instruction">Instruction: <b>{{ view.instruction }}</b></p>
      <div class="view" ref="view" tabindex="0" role="group" :aria-label="description" :class="{ picking: picking !== null || line !== null || (view.mode === 'demonstrate' && view.can_point) }">
        <canvas v-show="hasFrame && frame.cells" ref="canvas" role="img" :aria-label="'Scene ' + view.seed" @click="onClick"
          @pointerdown="startLine" @pointermove="moveLine" @pointerup="endLine" @pointercancel="line = null" :class="{ drawing: line !== null }"></canvas>
        <p v-if="hasFrame && frame.text !== undefined"><span class="state">{{ frame.text }}</span>
          <br><span class="hint">The state as text: this world has no renderer (examples/own_renderer.py has one).</span></p>
        <p v-if="!hasFrame" class="empty">{{ view.is_busy ? "Working…" : mode === "answer" ? "There is no question." : "Nothing to show yet." }}
          <button v-if="!view.is_busy && !view.has_world" type="button" class="quiet" @click="send({ do: 'ready' })">Load the scene</button></p>
      </div>
      <p v-if="mode === 'demonstrate'" class="for-readers"><span aria-live="polite">{{ (view.description ?? "").split("\\n")[0] }}</span> {{ (view.description ?? "").split("\\n")[1] }}</p>
      <p v-if="picking !== null" class="pick" role="status">Choose a cell{{ picking.name ? " for " + picking.name : "" }}: click or tap it, or move with the arrow keys and press
        <kbd>Enter</kbd>. <button type="button" class="quiet" @click="stopPicking">Cancel</button></p>
      <p v-if="line !== null" class="pick" role="status">Draw a path from the agent, or click where it should go. With the keyboard: arrow keys, then
        <kbd>Enter</kbd>. <button type="button" class="quiet" @click="line = null">Cancel</button></p>

      <template v-if="view.mode === 'demonstrate' && hasFrame">
        <div class="so-far"><h3 id="word-so-far">Labels so far</h3>
          <ol class="word" ref="word" aria-labelledby="word-so-far">
            <li v-for="(label, i) in view.word" :key="i" :class="{ nothing: label === '-' }">{{ label === "-" ? "nothing" : label }}</li>
            <li v-if="!view.word.length" class="nothing">none yet</li>
          </ol></div>
        <div v-if="view.can_point" class="pads" role="group" aria-label="Directions">
          <button v-for="one in arrows" :key="one.key" type="button" @click="send({ do: 'point', key: one.key })"><b>{{ one.name }}</b><kbd aria-hidden="true">{{ one.symbol }}</kbd></button>
        </div>
        <component :is="view.can_point ? 'details' : 'div'"><summary v-if="view.can_point">All {{ offered.length }} controls (or click where to go)</summary>
          <div class="pads" role="group" aria-label="Controls">
            <button v-for="one in offered" :key="one.control" type="button" :disabled="!view.available[one.control]"
              @click="send({ do: 'control', control: one.control })"><b>{{ one.name }}</b><kbd v-if="one.symbol" aria-hidden="true">{{ one.symbol }}</kbd></button>
          </div>
        </component>
        <div class="actions">
          <button type="button" :disabled="!view.can_undo" aria-keyshortcuts="U" @click="send({ do: 'undo' })">Undo<kbd aria-hidden="true">U</kbd></button>
          <button type="button" :disabled="!view.steps" aria-keyshortcuts="R" @click="send({ do: 'reset' })">Start over<kbd aria-hidden="true">R</kbd></button>
          <button type="button" aria-keyshortcuts="N" @click="send({ do: 'next' })">Next scene<kbd aria-hidden="true">N</kbd></button>
          <button v-if="view.can_propose" type="button" aria-keyshortcuts="T" title="the new scene whose demonstration is expected to be most informative" @click="send({ do: 'propose' })">Most telling scene<kbd aria-hidden="true">T</kbd></button>
        </div>
        <div v-if="view.proposal" class="why" role="status"><p v-if="view.proposal.seed === view.seed"><b>A demonstration here is most informative.</b> Candidate tasks would do:</p>
          <p v-else><b>A demonstration in scene {{ view.proposal.seed }} is most informative.</b> <button type="button" class="quiet" @click="send({ do: 'scene', seed: view.proposal.seed })">Go there</button></p>
          <ul v-if="view.proposal.seed === view.seed" class="opinions"><li v-for="one in view.proposal.plans" :key="one.text"><b>{{ one.word.join(", then ") || "nothing" }}</b> in {{ one.steps }} steps</li></ul></div>
        <div class="actions verdict">
          <button type="button" class="primary" :disabled="!view.steps" aria-keyshortcuts="Enter" @click="keep(true)">This was right<kbd aria-hidden="true">Enter</kbd></button>
          <button type="button" :disabled="!view.steps" aria-keyshortcuts="X" @click="keep(false)">This was wrong<kbd aria-hidden="true">X</kbd></button>
        </div>
      </template>

      <template v-if="playable">
        <div class="transport" role="group" aria-label="Steps">
          <button type="button" aria-label="Step back" @click="go(moment - 1)"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M11 3v10L4 8z"/></svg></button>
          <button type="button" class="play" :aria-label="timer === null ? 'Play' : 'Pause'" @click="toggle"><svg viewBox="0 0 16 16" aria-hidden="true"><path v-if="timer === null" d="M4 2.5v11L13.5 8z"/><path v-else d="M3.5 3h3v10h-3zM9.5 3h3v10h-3z"/></svg></button>
          <button type="button" aria-label="Step forward" @click="go(moment + 1)"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5 3v10l7-5z"/></svg></button>
          <input type="range" min="0" :max="last" :value="moment" aria-label="Step" @input="go(Number($event.target.value))">
          <output>{{ moment }} / {{ last }}</output>
        </div>
      </template>

      <p v-if="mode !== 'demonstrate' && view.pages > 1" class="hint">Another page shows this session, too: it has the same film and the same question.</p>
      <p v-if="mode === 'watch' && view.refusal" class="warn" role="status"><b>The agent does not act here.</b> {{ view.refusal }} Go on to the next scene, answer a question, or demonstrate once more.</p>
      <template v-if="view.mode === 'watch' && view.episode">
        <p v-if="view.is_outdated" class="warn">Planned before your latest changes.</p>
        <p class="reason" aria-live="polite"><b>{{ reason.head }}</b> {{ reason.rest }}</p>
        <p v-if="now.is_untested" class="warn">Untested: no demonstration shows {{ now.label === "-" ? "this" : now.label }} in this state.</p>
        <h3 v-if="bars.length" id="cost-to-go">Cost to go by control{{ view.episode.unit && ", " + view.episode.unit }}</h3>
        <ul v-if="bars.length" class="choices" aria-labelledby="cost-to-go">
          <li v-for="one in bars" :key="one.control">
            <button type="button" :class="{ taken: one.taken }" :aria-pressed="chosen === one.control" :aria-label="'Why not ' + one.name + '?'" @click="chosen = chosen === one.control ? null : one.control">
              <span class="name">{{ one.name }}</span>
              <span class="bar" aria-hidden="true"><span :style="{ width: one.width }"></span></span>
              <span class="number">{{ one.text }}</span>
            </button>
          </li>
        </ul>
        <div v-if="chosen !== null && now.reasons[chosen]" class="why" role="status">
          <p><b>{{ now.control === chosen ? "Why" : "Why not" }} {{ view.controls[chosen].name }}?</b> {{ now.reasons[chosen] }}</p>
          <button v-if="now.control !== chosen" type="button" class="quiet" @click="impose">Show what follows</button>
        </div>
        <p v-if="view.episode.imposed" class="why"><span>{{ detour }}</span>
          <button type="button" class="quiet" @click="send({ do: 'watch', seed: view.seed })">Back to the agent's plan</button></p>
        <details><summary>How the automaton reads this path</summary><ol class="opinions"><li v-for="(one, i) in view.episode.explanation" :key="i">{{ one }}</li></ol></details>
        <div class="actions">
          <button type="button" class="primary" aria-keyshortcuts="N" @click="send({ do: 'watch' })">Next scene<kbd aria-hidden="true">N</kbd></button>
          <button v-if="canDraw" type="button" :aria-pressed="line !== null" aria-keyshortcuts="D" @click="toggleLine">Draw another path<kbd aria-hidden="true">D</kbd></button>
          <template v-if="frame.agent != null"><button type="button" :aria-pressed="isMap('to_go')" @click="send({ do: 'map', kind: 'to_go', state: Math.max(0, now.state) })">Map: cost to go</button>
          <button type="button" :aria-pressed="isMap('step')" @click="send({ do: 'map', kind: 'step', state: Math.max(0, now.state) })">Map: cost per step</button></template>
        </div>
        <p v-if="view.map && mapRange[0] === ''" class="legend">The demonstrations leave open what a step into these cells costs.</p>
        <p v-else-if="view.map" class="legend"><span>{{ mapRange[0] }}</span><i aria-hidden="true"></i><span>{{ mapRange[1] }}</span>
          {{ view.map.kind === "step" ? "cost of a step into the cell" : "cost to go from the cell" }}{{ view.map.unit && ", " + view.map.unit }}; in state {{ view.map.state }}</p>
      </template>

      <template v-if="view.mode === 'answer' && view.question">
        <p class="question">{{ view.question.text }}</p>
        <p class="hint" v-if="view.question.probability === null">Nothing else is in doubt. This is what the agent would do: please check it.</p>
        <p class="hint" v-else>The studio believes so with a probability of {{ percent(view.question.probability) }}. Your answer tells it most.</p>
        <dl class="ways">
          <dt>This way</dt><dd><ol class="word" aria-label="Labels of this path"><li v-for="(label, i) in asked" :key="i" :class="{ nothing: label === '-', differs: !view.question.usual.includes(label) }">{{ label === "-" ? "nothing" : label }}</li></ol></dd>
          <template v-if="String(view.question.usual) !== String(asked)"><dt>The agent's way <span class="hint">(grey)</span></dt><dd><ol class="word" aria-label="Labels of the agent's path"><li v-for="(label, i) in view.question.usual" :key="i" :class="{ nothing: label === '-', differs: !asked.includes(label) }">{{ label === "-" ? "nothing" : label }}</li></ol></dd></template>
        </dl>
        <div class="actions verdict">
          <button type="button" class="primary" aria-keyshortcuts="Y" @click="answer(true)">Yes<kbd aria-hidden="true">Y</kbd></button>
          <button type="button" aria-keyshortcuts="N" @click="answer(false)">No<kbd aria-hidden="true">N</kbd></button>
          <button type="button" aria-keyshortcuts="S" @click="answer(null)">I don't know: skip<kbd aria-hidden="true">S</kbd></button>
        </div>
        <details><summary>How the automaton reads this path</summary><ol class="opinions"><li v-for="(one, i) in view.question.explanation" :key="i">{{ one }}</li></ol></details>
      </template>
      <div v-if="mode === 'watch' && !view.episode && !view.is_busy" class="actions"><button type="button" class="primary" aria-keyshortcuts="N" @click="send({ do: 'watch' })">Next scene<kbd aria-hidden="true">N</kbd></button></div>
      <div v-if="mode === 'answer' && !view.question && !view.is_busy" class="actions"><button type="button" class="primary" @click="send({ do: 'ask' })">Ask me a question</button></div>
      </div>
      <p class="hint keys"><kbd>F6</kbd> goes to the next part of the page, <kbd>Esc</kbd> back to the scene.</p>
      <div class="toast" role="status" aria-live="polite"><p v-if="notice"><span>{{ notice }}</span><button type="button" class="quiet" aria-label="Close this message" @click="notice = ''">✕</button></p></div>
    </section>`,
  computed: {
    base() { return JSON.parse(this.json); },
    view() { return { map: null, ...this.base, ...(this.mode === "demonstrate" ? {} : { frames: [], tiles: [], ...this.feeds[this.mode] }), mode: this.mode }; },
    modes: () => [{ mode: "demonstrate", name: "Demonstrate" }, { mode: "watch", name: "Watch" }, { mode: "answer", name: "Answer" }],
    hasFrame() { return this.view.frames.length > 0; },
    arrows: () => [["left", "ArrowLeft", "←"], ["right", "ArrowRight", "→"], ["up", "ArrowUp", "↑"], ["down", "ArrowDown", "↓"]].map(([name, key, symbol]) => ({ name, key, symbol })),
    offered() { return this.view.controls.filter((one) => !this.view.can_point || this.view.available[one.control]); },
    usesArrows() { return this.view.controls.some((one) => one.key.startsWith("Arrow")); },
    canPropose() { return this.view.mode === "demonstrate" && this.view.can_propose; },
    canDraw() { return this.frame.agent != null && this.now.control !== null && !this.view.episode?.is_drawn; },
    frame() { return this.view.frames[Math.min(this.moment, this.view.frames.length - 1)] ?? {}; },
    here() { return this.cellOf(this.frame); },
    last() { return this.view.frames.length - 1; },
    playable() { return this.view.mode !== "demonstrate" && this.hasFrame && this.last > 0; },
    now() { return this.view.episode ? this.view.episode.moments[Math.min(this.moment, this.last)] : {}; },
    asked() { return this.view.question.labels.slice(1).filter((label, i, all) => i === 0 || label !== all[i - 1]); },
    heading() {
      if (!this.hasFrame) return "";
      const steps = this.view.mode === "demonstrate" ? ` · ${this.view.steps} ${this.view.steps === 1 ? "step" : "steps"}` : this.view.mode === "watch" ? " · not seen before" : "";
      return `Scene ${this.view.seed}${steps}`;
    },
    description() {
      if (this.view.mode === "demonstrate" && this.view.can_point) return "The scene. Arrow keys choose where to go";
      if (this.view.mode === "demonstrate") return `The scene. Keys: ${this.view.controls.map((one) => `${one.symbol} ${one.name}`).join(", ")}`;
      return "The scene. Arrow keys step, space plays";
    },
    reason() {
      const now = this.now;
      const state = now.state < 0 ? "The task is lost." : `In state ${now.state}, ${now.goal}.`;
      if (now.control === null) return { head: now.state < 0 ? "Lost." : "The end.", rest: now.label === "-" || now.label === null ? "" : `True now: ${now.label}.` };
      return { head: state, rest: `Next: ${this.view.controls[now.control].name}.` };
    },
    bars() {
      const costs = this.now.costs ?? [];
      const finite = costs.filter((one) => one !== null);
      const [low, high] = [Math.min(...finite), Math.max(...finite)];
      return costs.map((cost, control) => ({
        control,
        name: this.view.controls[control].name,
        taken: this.now.control === control,
        text: cost === null ? "∞" : String(Number(cost.toFixed(2))),
        width: cost === null ? "100%" : `${20 + 70 * (high > low ? (cost - low) / (high - low) : 0)}%`,
      }));
    },
    detour() {
      const { cost, best_cost: best, is_drawn: drawn, moments, explanation } = this.view.episode;
      if (drawn) return "The first steps are yours; the world slips, and what happened was drawn.";
      if (cost === null) return `Your path does not complete the task. ${moments[this.last].state < 0 ? explanation.at(-2) : ""}`;
      const more = cost - best;
      return more < 1e-6 ? "Your path costs no more than the agent's." : `Your path costs ${Number(cost.toFixed(2))}, ${Number(more.toFixed(2))} more than the agent's.`;
    },
    mapRange() {
      const finite = this.view.map.values.filter((one) => one !== null);
      return finite.length ? [Math.min(...finite), Math.max(...finite)].map((one) => Number(one.toFixed(2))) : ["", ""];
    },
  },
  watch: {
    base(next, before) {
      if (next.notice && (next.handled !== before.handled || next.notice !== before.notice)) this.showNotice(next.notice);
    },
    view(next, before) {
      this.$nextTick(() => this.$refs.word?.scrollTo({ left: this.$refs.word.scrollWidth }));
      if (this.pathOf(next) !== this.pathOf(before)) {
        this.pause();
        this.line = null;
        this.chosen = null;
        this.moment = next.episode?.imposed ?? 0;
      }
      this.request();
      this.draw();
    },
    moment() { this.draw(); },
    picking() { this.draw(); },
    cursor() { this.draw(); },
    line: { handler() { this.draw(); }, deep: true },
  },
  mounted() {
    for (const [name, listener] of this.listeners()) window.addEventListener(name, listener);
    this.observer = new MutationObserver(() => this.keepFocus());
    this.observer.observe(document.querySelector(".workspace"), { childList: true, subtree: true });
    this.takeFeeds();
    this.draw().then(() => { document.documentElement.dataset.ready = ""; });
    this.$refs.view.focus({ preventScroll: true });
  },
  unmounted() {
    for (const [name, listener] of this.listeners()) window.removeEventListener(name, listener);
    this.observer.disconnect();
    this.pause();
  },
  methods: {
    listeners() {
      return [["keydown", this.onKey], ["studio:pick", this.startPicking], ["studio:feed", this.takeFeeds], ["studio:watch", this.watchScene],
        ["studio:lost", this.showLost], ["studio:notice", this.noteNotice], ["pointerdown", this.notePointer], ["focusin", this.noteFocus], ["change", this.leave], ["click", this.leave]];
    },
    takeFeeds() {
      this.feeds = { ...window.studio.feeds };
      this.noteSeen();
    },
    pathOf: (one) => [one.mode, one.seed, (one.episode ?? one.question)?.controls].join(),

    // The mode is this page's own: nothing but the person changes it. What was found meanwhile waits behind a badge.
    setMode(mode) {
      if (mode !== "demonstrate" && !this.base.has_model) { this.showNotice("Demonstrate the task first: there is nothing to watch or to ask yet."); return; }
      [this.mode, this.notice] = [mode, ""];
      sessionStorage.setItem(`mode ${location.pathname}`, mode);
      this.noteSeen();
      this.$refs.view.focus({ preventScroll: true });
      if (!this.isPointing) this.$nextTick(() => this.$refs.view.scrollIntoView({ block: "nearest" }));  // who clicks sees it
    },
    contentOf(mode) { const feed = this.feeds[mode]; return feed?.episode || feed?.refusal || feed?.question ? this.pathOf(feed) : ""; },
    noteSeen() { this.seen = { ...this.seen, [this.mode]: this.contentOf(this.mode) }; },
    isWaiting(mode) { return mode !== "demonstrate" && mode !== this.mode && this.contentOf(mode) !== "" && this.contentOf(mode) !== this.seen[mode]; },
    // Ask for what the mode shows, once after each change of what it follows from.
    request() {
      const feed = this.feeds[this.mode];
      if (this.mode === "demonstrate" || !this.base.is_current || this.base.is_busy || !feed) return;
      const isMissing = this.mode === "watch" ? !(feed.episode || feed.refusal) || feed.is_outdated : !feed.question;
      const wanted = `${this.mode} ${this.base.revision}`;
      if (!isMissing || this.requested === wanted) return;
      this.requested = wanted;
      window.studio.send(this.$emit, this.mode === "answer" ? { do: "ask" } : { do: "watch", seed: feed.episode?.seed ?? this.base.first_watched });
    },
    watchScene(event) { this.setMode("watch"); this.send({ do: "watch", seed: event.detail }); },
    answer(right) { if (this.view.question) this.send({ do: "answer", seed: this.view.question.seed, controls: this.view.question.controls, effects: this.view.question.effects, right }); },
    noteNotice(event) { this.showNotice(event.detail); },
    showLost() { this.showNotice("Not connected: this was not saved."); },

    // After a click on a button, or a choice in a list by pointer, the keys are those of the scene again.
    notePointer() { [this.isPointing, this.part] = [true, null]; },
    noteFocus(event) { this.part = event.target.closest("section.card"); },
    leave(event) {
      const isByPointer = event.type === "click" ? event.detail > 0 : this.isPointing;
      if (!isByPointer || (event.type === "change" && !event.target.matches?.("select"))) return;
      if (document.activeElement.matches("button, summary, select, [tabindex]")) this.$refs.view?.focus({ preventScroll: true });
    },

    showNotice(notice) {
      this.notice = notice;
      setTimeout(() => { if (this.notice === notice) this.notice = ""; }, 4000 + 80 * notice.length);
    },
    send(message) {
      this.notice = "";  // it was about what the person did before
      window.studio.send(this.$emit, message);
    },
    keep(right) { this.send({ do: "keep", right }); },
    percent: (share) => (share > 0 && share < 0.005 ? "under 1%" : `${Math.round(100 * share)}%`),
    isMap(kind) { return this.view.map !== null && this.view.map.kind === kind; },
    impose() {
      const controls = [...this.view.episode.controls.slice(0, this.moment), this.chosen];
      this.send({ do: "watch", seed: this.view.seed, controls });
    },
    go(wanted) {
      this.moment = Math.min(Math.max(wanted, 0), this.last);
      if (this.moment === this.last) this.pause();
    },
    toggle() {
      if (this.timer !== null) { this.pause(); return; }
      if (this.moment === this.last) this.moment = 0;
      this.timer = setInterval(() => this.go(this.moment + 1), STEP_MILLISECONDS);
    },
    pause() {
      clearInterval(this.timer);
      this.timer = null;
    },

    // The keys of the mode work wherever the focus is, except in fields; on buttons and links, Enter and space press them.
    onKey(event) {
      this.isPointing = false;
      const isInScene = [document.body, this.$refs.view].includes(event.target);
      if (event.key === "Escape" && !isInScene && !event.defaultPrevented) { event.preventDefault(); this.$refs.view.focus(); return; }
      if (event.key === "F6") { event.preventDefault(); this.nextPart(event.shiftKey ? -1 : 1); return; }
      if (event.defaultPrevented || event.target.matches?.("input:not([type=range]), select, textarea")) return;
      const isUndo = (event.ctrlKey || event.metaKey) && ["z", "y"].includes(event.key.toLowerCase());
      if (event.altKey || ((event.ctrlKey || event.metaKey) && !isUndo)) return;
      if (event.target.matches?.("button, a, summary") && ["Enter", " "].includes(event.key)) return;
      const redo = event.key.toLowerCase() === "y" || event.shiftKey;
      const action = isUndo ? () => this.send({ do: redo ? "redo" : "undo" })
        : this.picking !== null ? this.pickKey(event.key) : this.line !== null ? this.lineKey(event.key) : this.keyAction(event.key, event.shiftKey);
      if (!action) return;
      event.preventDefault();
      action();
    },
    entryOf: (part) => part.querySelector(".view, form input, form select, .actions button:enabled") ?? part.querySelector("button:enabled, summary, a"),
    // A button that is pressed by key may go, as "Remove" does: the focus stays in its part of the page.
    keepFocus() {
      if (document.activeElement === document.body && this.part?.isConnected) this.entryOf(this.part)?.focus({ preventScroll: true });
    },
    nextPart(by) {
      const entries = [...document.querySelectorAll("section.card")].map((one) => this.entryOf(one)).filter(Boolean);
      const at = entries.findIndex((one) => one.closest("section.card").contains(document.activeElement));
      entries[(Math.max(at, 0) + by + entries.length) % entries.length].focus();
    },
    keyAction(key, shift) {
      const name = key.length === 1 ? key.toLowerCase() : key;
      if (this.view.mode === "demonstrate" && !this.hasFrame) return null;
      const control = this.view.mode === "demonstrate" && this.view.controls.find((one) => one.key === name);
      if (control) return () => this.view.available[control.control] && this.send({ do: "control", control: control.control });
      if (this.view.mode === "demonstrate" && this.view.can_point && key.startsWith("Arrow")) return () => this.send({ do: "point", key });
      const mode = { 1: "demonstrate", 2: "watch", 3: "answer" }[name];
      if (mode) return () => this.setMode(mode);
      if (name === "u" || name === "Backspace") return () => this.send({ do: shift ? "redo" : "undo" });
      const steps = { ArrowLeft: () => this.go(this.moment - 1), ArrowRight: () => this.go(this.moment + 1), Home: () => this.go(0), End: () => this.go(this.last), " ": () => this.toggle() };
      const keys = {
        demonstrate: { ...(this.usesArrows ? Object.fromEntries(Object.keys(MOVES).map((one) => [one, () => {}])) : {}), r: () => this.view.steps && this.send({ do: "reset" }), n: () => this.send({ do: "next" }), t: () => this.canPropose && this.send({ do: "propose" }), Enter: () => this.view.steps && this.keep(true), x: () => this.view.steps && this.keep(false) },
        watch: { ...steps, n: () => this.send({ do: "watch" }), d: () => this.canDraw && this.toggleLine() },
        answer: { ...steps, y: () => this.answer(true), n: () => this.answer(false), s: () => this.answer(null) },
      };
      return keys[this.view.mode][name];
    },

    // Choosing a cell for a new proposition.
    startPicking(event) {
      if (!this.view.can_pick) return;
      this.picking = event.detail;
      this.cursor = [1, 1];
      this.$refs.view.focus();
      this.$refs.view.scrollIntoView({ block: "nearest" });
    },
    stopPicking() { this.picking = null; },
    pickKey(key) {
      if (key in MOVES) return () => { this.cursor = this.neighbour(this.cursor, key); };
      return { Enter: () => this.pick(...this.cursor), Escape: () => this.stopPicking() }[key];
    },
    cellOf: (frame) => [frame.agent % frame.columns, Math.floor(frame.agent / frame.columns)],
    neighbour(cell, key) { return [0, 1].map((i) => Math.min(Math.max(cell[i] + MOVES[key][i], 0), (i ? this.frame.rows : this.frame.columns) - 1)); },
    pointOf(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width * this.frame.columns, (event.clientY - box.top) / box.height * this.frame.rows];
    },
    onClick(event) {
      if (this.picking === null && !(this.view.mode === "demonstrate" && this.view.can_point)) return;
      const [column, row] = this.pointOf(event);
      if (this.picking !== null) this.pick(Math.floor(column), Math.floor(row));
      else this.send({ do: "point", x: column * TILE, y: row * TILE });
    },
    pick(column, row) {
      this.send({ do: "cell", name: this.picking.name, x: column * TILE + TILE / 2, y: row * TILE + TILE / 2 });
      this.picking.after();
      this.picking = null;
    },

    // Drawing another path than the agent's, from its cell at this moment.
    toggleLine() {
      this.pause();
      this.line = this.line === null ? { cells: [this.here], isHeld: false } : null;
      this.$refs.view.focus();
      this.$refs.view.scrollIntoView({ block: "nearest" });
    },
    startLine(event) {
      if (this.line === null) return;
      event.target.setPointerCapture(event.pointerId);
      this.line = { cells: [this.here], isHeld: true };
      this.moveLine(event);
    },
    moveLine(event) {
      if (this.line?.isHeld) this.extendLine(this.pointOf(event).map(Math.floor));
    },
    extendLine(cell) {
      if (String(cell) !== String(this.line.cells.at(-1))) this.line.cells.push(cell);
    },
    endLine() {
      if (this.line === null) return;
      const waypoints = this.line.cells.slice(1).map((cell) => cell.map((one) => one * TILE + TILE / 2));
      this.line = null;
      if (waypoints.length) this.send({ do: "watch", seed: this.view.seed, controls: this.view.episode.controls.slice(0, this.moment), waypoints });
    },
    lineKey(key) {
      if (key in MOVES) return () => this.extendLine(this.neighbour(this.line.cells.at(-1), key));
      return { Enter: () => this.endLine(), Escape: () => { this.line = null; } }[key];
    },

    async draw() {
      const drawing = ++this.drawings;
      this.publishState();
      const frame = this.frame;
      if (!frame.cells) return;
      const tiles = this.view.tiles.map((uri) => images.get(uri));
      const ready = tiles.every((image) => image instanceof HTMLImageElement) ? tiles : await Promise.all(this.view.tiles.map(decode));
      if (drawing !== this.drawings) return;  // a newer drawing is under way
      const canvas = this.$refs.canvas;
      if (!canvas) return;
      if (canvas.width !== frame.columns * TILE || canvas.height !== frame.rows * TILE) {
        canvas.width = frame.columns * TILE;
        canvas.height = frame.rows * TILE;
        canvas.style.width = `min(100%, ${MAX_HEIGHTS.map((one) => `${frame.columns / frame.rows} * ${one}`)})`;
      }
      const context = canvas.getContext("2d");
      frame.cells.forEach((number, cell) => context.drawImage(ready[number], (cell % frame.columns) * TILE, Math.floor(cell / frame.columns) * TILE));
      if (this.view.map) this.drawMap(context, frame);
      if (this.view.mode !== "demonstrate") this.drawPath(context, ready[frame.cells[frame.agent]]);
      this.drawMarkedCells(context, frame);
      if (this.picking !== null) {
        context.strokeStyle = "#f0a434";
        context.lineWidth = 5;
        context.strokeRect(this.cursor[0] * TILE + 2, this.cursor[1] * TILE + 2, TILE - 4, TILE - 4);
      }
      if (this.line !== null) {
        this.drawLineThrough(context, this.line.cells, "#f0a434", 7);
        context.strokeRect(...this.line.cells.at(-1).map((one) => one * TILE + 3), TILE - 6, TILE - 6);
      }
      canvas.dataset.drawn = `${this.view.seed}/${this.view.mode === "demonstrate" ? this.view.steps : this.moment}`;
    },
    // The path: solid so far, dotted from here on, and in another colour where a person chose.
    drawPath(context, agent) {
      const cells = this.view.frames.map((frame) => frame.place);
      if (cells.includes(null)) return;
      const usual = this.view.question?.usual_places ?? [];
      if (this.view.question?.probability != null && !usual.includes(null)) {
        context.setLineDash([4, 8]);
        this.drawLineThrough(context, usual, "#9aa4b5", 3);
      }
      const imposed = this.view.episode?.imposed ?? 0;
      const cuts = [0, Math.min(imposed, this.moment), Math.max(imposed, this.moment), this.last];
      cuts.slice(1).forEach((end, i) => {
        if (end <= cuts[i]) return;
        context.setLineDash(cuts[i] < this.moment ? [] : [1, 9]);
        this.drawLineThrough(context, cells.slice(cuts[i], end + 1), cuts[i] < imposed ? "#f0a434" : "#3fb894", 4);
      });
      context.setLineDash([]);
      context.drawImage(agent, ...this.here.map((one) => one * TILE));
    },
    // Cells of propositions, with the first letter of their names.
    drawMarkedCells(context, frame) {
      if (!this.view.corner) return;
      Object.assign(context, { strokeStyle: "#7fb2ff", fillStyle: "#7fb2ff", lineWidth: 2.5, font: "700 20px sans-serif", textAlign: "center", textBaseline: "middle" });
      for (const { name, x, y } of this.view.marked_cells) {
        const [column, row] = [x - this.view.corner[0], y - this.view.corner[1]];
        context.strokeRect(column * TILE + 3, row * TILE + 3, TILE - 6, TILE - 6);
        if (frame.agent !== row * frame.columns + column) context.fillText([...name][0], (column + 0.5) * TILE, (row + 0.55) * TILE);
      }
    },
    drawLineThrough(context, cells, colour, width) {
      Object.assign(context, { strokeStyle: colour, lineWidth: width, lineCap: "round", lineJoin: "round" });
      context.beginPath();
      for (const cell of cells) context.lineTo(...cell.map((one) => (one + 0.5) * TILE));
      context.stroke();
    },
    drawMap(context, frame) {
      const [low, high] = this.mapRange;
      const { values, places, size } = this.view.map;
      values.forEach((value, i) => {
        if (value === null || String(places[i]) === String(frame.place)) return;
        const share = (value - low) / Math.max(high - low, MIN_RANGE * high, Number.MIN_VALUE);
        context.fillStyle = `hsl(${44 - 24 * share} 92% ${78 - 58 * share}% / 82%)`;
        context.fillRect(...places[i].map((one) => (one + 0.5 - size / 2) * TILE), size * TILE, size * TILE);
      });
    },

    // The automaton on another part of the page marks its current state.
    publishState() {
      let [previous, current] = [null, null];
      if (this.view.mode === "demonstrate") [previous, current] = !this.hasFrame ? [null, null] : (this.view.states.length > 1 ? this.view.states : [null, this.view.states[0] ?? null]);
      else if (this.view.episode) [previous, current] = [this.moment ? this.view.episode.moments[this.moment - 1].state : null, this.now.state];
      else if (this.view.question) [previous, current] = [this.moment ? this.view.question.states[this.moment - 1] : null, this.view.question.states[this.moment]];
      window.studio.state = { previous, current };
      window.dispatchEvent(new CustomEvent("studio:state"));
    },
  },
};
