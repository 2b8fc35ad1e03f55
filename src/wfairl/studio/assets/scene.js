// The scene in its three modes: demonstrate, watch the agent, answer a question.
const TILE = 32;
const MAX_HEIGHT = 28;  // rem of a frame
const STEP_MILLISECONDS = 420;
const MIN_RANGE = 0.05;  // costs that differ by a smaller part are not spread over all colours
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
  data: () => ({ notice: "", moment: 0, timer: null, chosen: null, picking: null, line: null, cursor: [0, 0], drawings: 0, unsent: [] }),
  template: `
    <section class="card scene" id="scene" aria-label="Scene" @keydown="onKey">
      <div class="modes" role="tablist" aria-label="Mode">
        <button v-for="(one, i) in modes" :key="one.mode" role="tab" type="button" :aria-selected="view.mode === one.mode"
          :disabled="one.mode !== 'demonstrate' && !view.has_model" @click="send({ do: 'mode', mode: one.mode })">{{ one.name }}<kbd>{{ i + 1 }}</kbd></button>
      </div>
      <p class="scene-line">
        <span>{{ heading }}</span>
        <span v-if="view.episode" class="outcome" :data-success="view.episode.is_success">{{ view.episode.outcome }}</span>
      </p>
      <p v-if="view.instruction" class="instruction">Instruction: <b>{{ view.instruction }}</b></p>
      <div class="view" ref="view" tabindex="0" role="group" :aria-label="description" :class="{ picking: picking !== null || line !== null || (view.mode === 'demonstrate' && view.can_point) }">
        <canvas v-show="hasFrame && frame.cells" ref="canvas" role="img" :aria-label="'Scene ' + view.seed" @click="onClick"
          @pointerdown="startLine" @pointermove="moveLine" @pointerup="endLine" @pointercancel="line = null" :class="{ drawing: line !== null }"></canvas>
        <p v-if="hasFrame && frame.text !== undefined" class="state">{{ frame.text }}</p>
        <p v-if="!hasFrame" class="empty">{{ view.is_busy ? "Working…" : view.mode === "answer" ? "No question yet." : "Nothing to show yet." }}
          <button v-if="!view.is_busy && !view.has_world" type="button" class="quiet" @click="send({ do: 'ready' })">Load the scene</button></p>
      </div>
      <p v-if="picking !== null" class="pick" role="status">Choose a cell: click or tap it, or move with the arrow keys and press
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
          <button v-for="one in arrows" :key="one.key" type="button" @click="send({ do: 'point', key: one.key })"><b>{{ one.name }}</b><kbd>{{ one.symbol }}</kbd></button>
        </div>
        <component :is="view.can_point ? 'details' : 'div'"><summary v-if="view.can_point">All {{ offered.length }} controls (or click where to go)</summary>
          <div class="pads" role="group" aria-label="Controls">
            <button v-for="one in offered" :key="one.control" type="button" :disabled="!view.available[one.control]"
              @click="send({ do: 'control', control: one.control })"><b>{{ one.name }}</b><kbd v-if="one.symbol">{{ one.symbol }}</kbd></button>
          </div>
        </component>
        <div class="actions">
          <button type="button" :disabled="!view.steps" @click="send({ do: 'undo' })">Undo<kbd>U</kbd></button>
          <button type="button" :disabled="!view.steps" @click="send({ do: 'reset' })">Start over<kbd>R</kbd></button>
          <button type="button" @click="send({ do: 'next' })">Next scene<kbd>N</kbd></button>
          <button v-if="view.can_propose" type="button" title="the new scene whose demonstration is expected to be most informative" @click="send({ do: 'propose' })">Most telling scene<kbd>T</kbd></button>
        </div>
        <div v-if="view.proposal.length" class="why" role="status"><p><b>A demonstration here is most informative.</b> The candidate tasks:</p>
          <ul class="opinions"><li v-for="one in view.proposal" :key="one.text">{{ percent(one.weight) }}: <b>{{ one.word.join(", then ") || "nothing" }}</b> in {{ one.steps }} steps, if the task is <code>{{ one.text }}</code></li></ul></div>
        <div class="actions verdict">
          <button type="button" class="primary" :disabled="!view.steps" @click="keep(true)">This was right<kbd>Enter</kbd></button>
          <button type="button" :disabled="!view.steps" @click="keep(false)">This was wrong<kbd>X</kbd></button>
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

      <template v-if="view.mode === 'watch' && view.episode">
        <p class="reason" aria-live="polite"><b>{{ reason.head }}</b> {{ reason.rest }}</p>
        <p v-if="now.is_untested" class="warn">Untested: no demonstration shows {{ now.label === "-" ? "this" : now.label }} in this state.</p>
        <h3 v-if="bars.length" id="cost-to-go">Cost to go, by control</h3>
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
          <button type="button" class="primary" @click="send({ do: 'watch' })">Next scene<kbd>N</kbd></button>
          <button v-if="frame.agent != null && now.control !== null" type="button" :aria-pressed="line !== null" @click="toggleLine">Draw another path<kbd>D</kbd></button>
          <button type="button" :aria-pressed="isMap('to_go')" @click="send({ do: 'map', kind: 'to_go', state: Math.max(0, now.state) })">Map: cost to go</button>
          <button type="button" :aria-pressed="isMap('step')" @click="send({ do: 'map', kind: 'step', state: Math.max(0, now.state) })">Map: cost per step</button>
        </div>
        <p v-if="view.map" class="legend"><span>{{ mapRange[0] }}</span><i aria-hidden="true"></i><span>{{ mapRange[1] }}</span>
          {{ view.map.kind === "step" ? "cost of a step into the cell" : "cost to go from the cell" }}, in state {{ view.map.state }}</p>
      </template>

      <template v-if="view.mode === 'answer' && view.question">
        <p class="question">Would this be right?</p>
        <p class="hint" v-if="view.question.probability === null">All probable tasks agree in the scenes that were searched. This is what the agent would do: please check it.</p>
        <p class="hint" v-else>The studio believes so with a probability of {{ percent(view.question.probability) }}. Of all paths that were searched, your answer to this one is most informative.</p>
        <ol class="word" aria-label="Labels of this path">
          <li v-for="(label, i) in asked" :key="i" :class="{ nothing: label === '-' }">{{ label === "-" ? "nothing" : label }}</li>
        </ol>
        <div class="actions verdict">
          <button type="button" class="primary" @click="send({ do: 'answer', right: true })">Yes<kbd>Y</kbd></button>
          <button type="button" @click="send({ do: 'answer', right: false })">No<kbd>N</kbd></button>
          <button type="button" @click="send({ do: 'ask' })">Another question</button>
        </div>
        <details><summary>How the automaton reads this path</summary><ol class="opinions"><li v-for="(one, i) in view.question.explanation" :key="i">{{ one }}</li></ol></details>
        <ul v-if="view.question.opinions.length" class="opinions">
          <li v-for="one in view.question.opinions" :key="one.text"><b>{{ one.accepts ? "yes" : "no" }}</b> if the task is <code>{{ one.text }}</code> ({{ percent(one.weight) }})</li>
        </ul>
      </template>
      <div v-if="view.mode === 'answer' && !view.question && !view.is_busy" class="actions"><button type="button" class="primary" @click="send({ do: 'ask' })">Ask me a question</button></div>
      <div class="toast" role="status" aria-live="polite"><p v-if="notice"><span>{{ notice }}</span><button type="button" class="quiet" aria-label="Close this message" @click="notice = ''">✕</button></p></div>
    </section>`,
  computed: {
    view() { return JSON.parse(this.json); },
    modes: () => [{ mode: "demonstrate", name: "Demonstrate" }, { mode: "watch", name: "Watch" }, { mode: "answer", name: "Answer" }],
    hasFrame() { return this.view.frames.length > 0; },
    arrows: () => [["left", "ArrowLeft", "←"], ["right", "ArrowRight", "→"], ["up", "ArrowUp", "↑"], ["down", "ArrowDown", "↓"]].map(([name, key, symbol]) => ({ name, key, symbol })),
    offered() { return this.view.controls.filter((one) => !this.view.can_point || this.view.available[one.control]); },
    canPropose() { return this.view.mode === "demonstrate" && this.view.can_propose; },
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
      const { cost, best_cost: best, moments, explanation } = this.view.episode;
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
    view(next, before) {
      if (next.notice !== before.notice || next.handled !== before.handled) this.showNotice(next.notice);
      this.$nextTick(() => this.$refs.word?.scrollTo({ left: this.$refs.word.scrollWidth }));
      const path = (one) => [one.mode, one.seed, (one.episode ?? one.question)?.controls].join();
      if (path(next) !== path(before)) {
        this.pause();
        this.line = null;
        this.chosen = null;
        this.moment = next.episode?.imposed ?? 0;
        if (next.mode !== before.mode) this.$refs.view.focus({ preventScroll: true });
      }
      this.draw();
    },
    moment() { this.draw(); },
    picking() { this.draw(); },
    cursor() { this.draw(); },
    line: { handler() { this.draw(); }, deep: true },
  },
  mounted() {
    window.addEventListener("keydown", this.onGlobalKey);
    window.addEventListener("studio:pick", this.startPicking);
    this.draw().then(() => { document.documentElement.dataset.ready = ""; });
    this.$refs.view.focus({ preventScroll: true });
  },
  unmounted() {
    window.removeEventListener("keydown", this.onGlobalKey);
    window.removeEventListener("studio:pick", this.startPicking);
    this.pause();
  },
  methods: {
    showNotice(notice) {
      this.notice = notice;
      setTimeout(() => { if (this.notice === notice) this.notice = ""; }, 4000 + 80 * notice.length);
    },
    // NiceGUI holds an event back until the server knows the page, each event by itself: a later key could overtake it.
    send(message) { if (this.unsent.push(message) === 1) this.sendAll(); },
    sendAll() {
      if (window.did_handshake) this.unsent.splice(0).forEach((message) => this.$emit("do", message));
      else setTimeout(this.sendAll, 10);
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

    // The keys of the scene work wherever no field, list or link has the focus.
    onGlobalKey(event) { if (event.target === document.body) this.onKey(event); },
    onKey(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input:not([type=range]), select, textarea, a")) return;
      if (event.target.matches("button") && ["Enter", " "].includes(event.key)) return;
      const action = this.picking !== null ? this.pickKey(event.key) : this.line !== null ? this.lineKey(event.key) : this.keyAction(event.key);
      if (!action) return;
      event.preventDefault();
      action();
    },
    keyAction(key) {
      const name = key.length === 1 ? key.toLowerCase() : key;
      if (this.view.mode === "demonstrate" && !this.hasFrame) return null;
      const control = this.view.mode === "demonstrate" && this.view.controls.find((one) => one.key === name);
      if (control) return () => this.view.available[control.control] && this.send({ do: "control", control: control.control });
      if (this.view.mode === "demonstrate" && this.view.can_point && key.startsWith("Arrow")) return () => this.send({ do: "point", key });
      const mode = { 1: "demonstrate", 2: "watch", 3: "answer" }[name];
      if (mode) return () => this.send({ do: "mode", mode });
      const steps = { ArrowLeft: () => this.go(this.moment - 1), ArrowRight: () => this.go(this.moment + 1), Home: () => this.go(0), End: () => this.go(this.last), " ": () => this.toggle() };
      const keys = {
        demonstrate: { u: () => this.send({ do: "undo" }), Backspace: () => this.send({ do: "undo" }), r: () => this.send({ do: "reset" }), n: () => this.send({ do: "next" }), t: () => this.canPropose && this.send({ do: "propose" }), Enter: () => this.view.steps && this.keep(true), x: () => this.view.steps && this.keep(false) },
        watch: { ...steps, n: () => this.send({ do: "watch" }), d: () => this.frame.agent != null && this.now.control !== null && this.toggleLine() },
        answer: { ...steps, y: () => this.view.question && this.send({ do: "answer", right: true }), n: () => this.view.question && this.send({ do: "answer", right: false }) },
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
        canvas.style.width = `min(100%, ${(MAX_HEIGHT * frame.columns) / frame.rows}rem)`;
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
      const cells = this.view.frames.map((frame) => (frame.agent === null ? null : this.cellOf(frame)));
      if (cells.includes(null)) return;
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
      this.view.map.values.forEach((value, cell) => {
        if (value === null) return;
        const share = (value - low) / Math.max(high - low, MIN_RANGE * high, Number.MIN_VALUE);
        if (cell === frame.agent) return;
        context.fillStyle = `hsl(${44 - 24 * share} 92% ${78 - 58 * share}% / 82%)`;
        context.fillRect((cell % frame.columns) * TILE, Math.floor(cell / frame.columns) * TILE, TILE, TILE);
      });
    },

    // The automaton on another part of the page marks its current state.
    publishState() {
      let [previous, current] = [null, null];
      if (this.view.mode === "demonstrate") [previous, current] = !this.hasFrame ? [null, null] : (this.view.states.length > 1 ? this.view.states : [null, this.view.states[0] ?? null]);
      else if (this.view.episode) [previous, current] = [this.moment ? this.view.episode.moments[this.moment - 1].state : null, this.now.state];
      else if (this.view.question) [previous, current] = [this.moment ? this.view.question.states[this.moment - 1] : null, this.view.question.states[this.moment]];
      window.studioState = { previous, current };
      window.dispatchEvent(new CustomEvent("studio:state"));
    },
  },
};
