// The stage: a scene, and what is done in it. Three modes share it: demonstrating, watching the agent, answering.
const TILE = 32;
const TALLEST = 28;  // rem of a frame's height
const STEP_MILLISECONDS = 420;
const NARROWEST = 0.05;  // costs that differ by a smaller part are not spread over all colours
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const images = new Map();  // address of a tile -> its image, decoded once

async function decoded(address) {
  if (!images.has(address)) {
    const image = new Image();
    image.src = address;
    images.set(address, image.decode().then(() => { images.set(address, image); return image; }));
  }
  return images.get(address);
}

export default {
  props: { json: String },
  emits: ["do"],
  data: () => ({ notice: "", moment: 0, timer: null, chosen: null, picking: null, sketch: null, cursor: [0, 0], drawn: 0 }),
  template: `
    <section class="card stage-card" id="stage" aria-label="Stage" @keydown="pressed">
      <div class="modes" role="tablist" aria-label="What to do">
        <button v-for="(one, i) in modes" :key="one.mode" role="tab" type="button" :aria-selected="view.mode === one.mode"
          :disabled="one.mode !== 'show' && !view.has_model" @click="tell({ do: 'mode', mode: one.mode })">{{ one.name }}<kbd>{{ i + 1 }}</kbd></button>
      </div>
      <p class="scene-line">
        <span>{{ line }}</span>
        <span v-if="view.episode" class="outcome" :data-success="view.episode.success">{{ view.episode.outcome }}</span>
      </p>
      <p v-if="view.instruction" class="instruction">This scene asks: <b>{{ view.instruction }}</b></p>
      <div class="view" ref="view" tabindex="0" role="group" :aria-label="described" :class="{ picking: picking !== null || sketch !== null || (view.mode === 'show' && view.can_point) }">
        <canvas v-show="hasFrame && frame.cells" ref="canvas" role="img" :aria-label="'Scene ' + view.seed" @click="clicked"
          @pointerdown="startLine" @pointermove="drawLine" @pointerup="endLine" @pointercancel="sketch = null" :class="{ drawing: sketch !== null }"></canvas>
        <p v-if="hasFrame && frame.text !== undefined" class="state">{{ frame.text }}</p>
        <p v-if="!hasFrame" class="empty">{{ view.busy ? "One moment…" : view.mode === "answer" ? "No question yet." : "Nothing to see yet." }}
          <button v-if="!view.busy && !view.is_there" type="button" class="quiet" @click="tell({ do: 'ready' })">Make the scene</button></p>
      </div>
      <p v-if="picking !== null" class="pick" role="status">Choose the cell: click or tap it, or move with the arrow keys and press
        <kbd>Enter</kbd>. <button type="button" class="quiet" @click="stopPicking">Cancel</button></p>
      <p v-if="sketch !== null" class="pick" role="status">Draw from the agent on, or click where it should go. With keys: arrows, then
        <kbd>Enter</kbd>. <button type="button" class="quiet" @click="sketch = null">Cancel</button></p>

      <template v-if="view.mode === 'show' && hasFrame">
        <div class="so-far"><h3 id="word-so-far">Labels so far</h3>
          <ol class="word" ref="word" aria-labelledby="word-so-far">
            <li v-for="(label, i) in view.word" :key="i" :class="{ nothing: label === '-' }">{{ label === "-" ? "nothing" : label }}</li>
            <li v-if="!view.word.length" class="nothing">nothing yet</li>
          </ol></div>
        <div v-if="view.can_point" class="pads" role="group" aria-label="Directions">
          <button v-for="one in arrows" :key="one.key" type="button" @click="tell({ do: 'point', key: one.key })"><b>{{ one.name }}</b><kbd>{{ one.symbol }}</kbd></button>
        </div>
        <component :is="view.can_point ? 'details' : 'div'"><summary v-if="view.can_point">All {{ offered.length }} controls; or click where to go</summary>
          <div class="pads" role="group" aria-label="Controls">
            <button v-for="one in offered" :key="one.control" type="button" :disabled="!view.available[one.control]"
              @click="tell({ do: 'control', control: one.control })"><b>{{ one.name }}</b><kbd v-if="one.symbol">{{ one.symbol }}</kbd></button>
          </div>
        </component>
        <div class="actions">
          <button type="button" :disabled="!view.steps" @click="tell({ do: 'undo' })">Undo<kbd>U</kbd></button>
          <button type="button" :disabled="!view.steps" @click="tell({ do: 'reset' })">Start over<kbd>R</kbd></button>
          <button type="button" @click="tell({ do: 'next' })">Next scene<kbd>N</kbd></button>
          <button v-if="view.can_propose" type="button" title="the new scene whose demonstration is expected to say most about the task" @click="tell({ do: 'propose' })">Most telling scene<kbd>T</kbd></button>
        </div>
        <div v-if="view.proposal.length" class="why" role="status"><p><b>What you do here tells most.</b> The studio is undecided between:</p>
          <ul class="opinions"><li v-for="one in view.proposal" :key="one.text">{{ percent(one.weight) }}: you would do <b>{{ one.word.join(", then ") || "nothing that labels tell" }}</b> in {{ one.steps }} steps, if the task is <code>{{ one.text }}</code></li></ul></div>
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
        <p v-if="now.is_untested" class="warn">Here it leaves what was demonstrated: no demonstration tells about {{ now.label === "-" ? "this" : now.label }} in this state.</p>
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
        <div v-if="chosen !== null && now.why[chosen]" class="why" role="status">
          <p><b>{{ now.control === chosen ? "Why" : "Why not" }} {{ view.controls[chosen].name }}?</b> {{ now.why[chosen] }}</p>
          <button v-if="now.control !== chosen" type="button" class="quiet" @click="impose">Show me that way</button>
        </div>
        <p v-if="view.episode.imposed" class="why"><span>{{ detour }}</span>
          <button type="button" class="quiet" @click="tell({ do: 'watch', seed: view.seed })">Back to its own plan</button></p>
        <details><summary>What it makes of this walk</summary><ol class="opinions"><li v-for="(one, i) in view.episode.explanation" :key="i">{{ one }}</li></ol></details>
        <div class="actions">
          <button type="button" class="primary" @click="tell({ do: 'watch' })">Next scene<kbd>N</kbd></button>
          <button v-if="frame.agent != null && now.control !== null" type="button" :aria-pressed="sketch !== null" @click="beginLine">Draw another way<kbd>D</kbd></button>
          <button type="button" :aria-pressed="isMap('to_go')" @click="tell({ do: 'map', kind: 'to_go', state: Math.max(0, now.state) })">Map: cost to go</button>
          <button type="button" :aria-pressed="isMap('step')" @click="tell({ do: 'map', kind: 'step', state: Math.max(0, now.state) })">Map: cost of a step</button>
        </div>
        <p v-if="view.map" class="legend"><span>{{ mapRange[0] }}</span><i aria-hidden="true"></i><span>{{ mapRange[1] }}</span>
          {{ view.map.kind === "step" ? "cost of a step to the cell" : "cost from the cell to the end" }}, in state {{ view.map.state }}</p>
      </template>

      <template v-if="view.mode === 'answer' && view.question">
        <p class="question">Would this have been right?</p>
        <p class="hint" v-if="view.question.probability === null">Whatever else the task might be, it would be done alike in the scenes it looked at. This is what the agent would do: check it.</p>
        <p class="hint" v-else>The studio believes so with {{ percent(view.question.probability) }}. Of all the walks it looked at, your answer to this one tells it most.</p>
        <ol class="word" aria-label="Labels of this walk">
          <li v-for="(label, i) in asked" :key="i" :class="{ nothing: label === '-' }">{{ label === "-" ? "nothing" : label }}</li>
        </ol>
        <div class="actions verdict">
          <button type="button" class="primary" @click="tell({ do: 'answer', right: true })">Yes<kbd>Y</kbd></button>
          <button type="button" @click="tell({ do: 'answer', right: false })">No<kbd>N</kbd></button>
          <button type="button" @click="tell({ do: 'ask' })">Another question</button>
        </div>
        <details><summary>What it makes of this walk</summary><ol class="opinions"><li v-for="(one, i) in view.question.explanation" :key="i">{{ one }}</li></ol></details>
        <ul v-if="view.question.opinions.length" class="opinions">
          <li v-for="one in view.question.opinions" :key="one.text"><b>{{ one.accepts ? "yes" : "no" }}</b> if the task is <code>{{ one.text }}</code> ({{ percent(one.weight) }})</li>
        </ul>
      </template>
      <div v-if="view.mode === 'answer' && !view.question && !view.busy" class="actions"><button type="button" class="primary" @click="tell({ do: 'ask' })">Ask me a question</button></div>
      <div class="said" role="status" aria-live="polite"><p v-if="notice"><span>{{ notice }}</span><button type="button" class="quiet" aria-label="Close this message" @click="notice = ''">✕</button></p></div>
    </section>`,
  computed: {
    view() { return JSON.parse(this.json); },
    modes: () => [{ mode: "show", name: "Demonstrate" }, { mode: "watch", name: "Watch" }, { mode: "answer", name: "Answer" }],
    hasFrame() { return this.view.frames.length > 0; },
    arrows: () => [["left", "ArrowLeft", "←"], ["right", "ArrowRight", "→"], ["up", "ArrowUp", "↑"], ["down", "ArrowDown", "↓"]].map(([name, key, symbol]) => ({ name, key, symbol })),
    offered() { return this.view.controls.filter((one) => !this.view.can_point || this.view.available[one.control]); },
    canPropose() { return this.view.mode === "show" && this.view.can_propose; },
    frame() { return this.view.frames[Math.min(this.moment, this.view.frames.length - 1)] ?? {}; },
    here() { return this.cellOf(this.frame); },
    last() { return this.view.frames.length - 1; },
    playable() { return this.view.mode !== "show" && this.hasFrame && this.last > 0; },
    now() { return this.view.episode ? this.view.episode.moments[Math.min(this.moment, this.last)] : {}; },
    asked() { return this.view.question.labels.slice(1).filter((label, i, all) => i === 0 || label !== all[i - 1]); },
    line() {
      if (!this.hasFrame) return "";
      const steps = this.view.mode === "show" ? ` · ${this.view.steps} ${this.view.steps === 1 ? "step" : "steps"}` : this.view.mode === "watch" ? " · new to it" : "";
      return `Scene ${this.view.seed}${steps}`;
    },
    described() {
      if (this.view.mode === "show" && this.view.can_point) return "The scene. Arrow keys point where to go";
      if (this.view.mode === "show") return `The scene. Keys: ${this.view.controls.map((one) => `${one.symbol} ${one.name}`).join(", ")}`;
      return "The scene. Arrow keys step, space plays";
    },
    reason() {
      const now = this.now;
      const state = now.state < 0 ? "The task is lost." : `In state ${now.state}, ${now.after}.`;
      if (now.control === null) return { head: now.state < 0 ? "Lost." : "The end.", rest: now.label === "-" || now.label === null ? "" : `True now: ${now.label}.` };
      return { head: state, rest: `Next: ${this.view.controls[now.control].name}.` };
    },
    bars() {
      const costs = this.now.costs ?? [];
      const known = costs.filter((one) => one !== null);
      const [low, high] = [Math.min(...known), Math.max(...known)];
      return costs.map((cost, control) => ({
        control,
        name: this.view.controls[control].name,
        taken: this.now.control === control,
        text: cost === null ? "no way" : String(Number(cost.toFixed(2))),
        width: cost === null ? "100%" : `${20 + 70 * (high > low ? (cost - low) / (high - low) : 0)}%`,
      }));
    },
    detour() {
      const { cost, best_cost: best, moments, explanation } = this.view.episode;
      if (cost === null) return `Your way does not do the task. ${moments[this.last].state < 0 ? explanation.at(-2) : ""}`;
      const more = cost - best;
      return more < 1e-6 ? "Your way costs no more than its own." : `Your way costs ${Number(cost.toFixed(2))}: ${Number(more.toFixed(2))} more than its own.`;
    },
    mapRange() {
      const known = this.view.map.values.filter((one) => one !== null);
      return known.length ? [Math.min(...known), Math.max(...known)].map((one) => Number(one.toFixed(2))) : ["", ""];
    },
  },
  watch: {
    view(next, before) {
      if (next.notice !== before.notice || next.handled !== before.handled) this.showNotice(next.notice);
      this.$nextTick(() => this.$refs.word?.scrollTo({ left: this.$refs.word.scrollWidth }));
      const walk = (one) => [one.mode, one.seed, (one.episode ?? one.question)?.controls].join();
      if (walk(next) !== walk(before)) {
        this.pause();
        this.sketch = null;
        this.chosen = null;
        this.moment = next.episode?.imposed ?? 0;
        if (next.mode !== before.mode) this.$refs.view.focus({ preventScroll: true });
      }
      this.draw();
    },
    moment() { this.draw(); },
    picking() { this.draw(); },
    cursor() { this.draw(); },
    sketch: { handler() { this.draw(); }, deep: true },
  },
  mounted() {
    window.addEventListener("keydown", this.fromAnywhere);
    window.addEventListener("studio:pick", this.startPicking);
    this.draw().then(() => { document.documentElement.dataset.ready = ""; });
    this.$refs.view.focus({ preventScroll: true });
  },
  unmounted() {
    window.removeEventListener("keydown", this.fromAnywhere);
    window.removeEventListener("studio:pick", this.startPicking);
    this.pause();
  },
  methods: {
    showNotice(notice) {
      this.notice = notice;
      setTimeout(() => { if (this.notice === notice) this.notice = ""; }, 4000 + 80 * notice.length);
    },
    tell(message) { this.$emit("do", message); },
    keep(right) { this.tell({ do: "keep", right }); },
    percent: (share) => (share > 0 && share < 0.005 ? "under 1%" : `${Math.round(100 * share)}%`),
    isMap(kind) { return this.view.map !== null && this.view.map.kind === kind; },
    impose() {
      const controls = [...this.view.episode.controls.slice(0, this.moment), this.chosen];
      this.tell({ do: "watch", seed: this.view.seed, controls });
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

    // Keys: those of the stage work wherever no field, list or link has the focus.
    fromAnywhere(event) { if (event.target === document.body) this.pressed(event); },
    pressed(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input:not([type=range]), select, textarea, a")) return;
      if (event.target.matches("button") && ["Enter", " "].includes(event.key)) return;
      const action = this.picking !== null ? this.pickKey(event.key) : this.sketch !== null ? this.lineKey(event.key) : this.keyAction(event.key);
      if (!action) return;
      event.preventDefault();
      action();
    },
    keyAction(key) {
      const small = key.length === 1 ? key.toLowerCase() : key;
      if (this.view.mode === "show" && !this.hasFrame) return null;
      const control = this.view.mode === "show" && this.view.controls.find((one) => one.key === small);
      if (control) return () => this.view.available[control.control] && this.tell({ do: "control", control: control.control });
      if (this.view.mode === "show" && this.view.can_point && key.startsWith("Arrow")) return () => this.tell({ do: "point", key });
      const mode = { 1: "show", 2: "watch", 3: "answer" }[small];
      if (mode) return () => this.tell({ do: "mode", mode });
      const steps = { ArrowLeft: () => this.go(this.moment - 1), ArrowRight: () => this.go(this.moment + 1), Home: () => this.go(0), End: () => this.go(this.last), " ": () => this.toggle() };
      const keys = {
        show: { u: () => this.tell({ do: "undo" }), Backspace: () => this.tell({ do: "undo" }), r: () => this.tell({ do: "reset" }), n: () => this.tell({ do: "next" }), t: () => this.canPropose && this.tell({ do: "propose" }), Enter: () => this.view.steps && this.keep(true), x: () => this.view.steps && this.keep(false) },
        watch: { ...steps, n: () => this.tell({ do: "watch" }), d: () => this.frame.agent != null && this.now.control !== null && this.beginLine() },
        answer: { ...steps, y: () => this.view.question && this.tell({ do: "answer", right: true }), n: () => this.view.question && this.tell({ do: "answer", right: false }) },
      };
      return keys[this.view.mode][small];
    },

    // Choosing a cell, for a proposition of one's own.
    startPicking(event) {
      if (!this.view.can_pick) return;
      this.picking = event.detail;
      this.cursor = [1, 1];
      this.$refs.view.focus();
      this.$refs.view.scrollIntoView({ block: "nearest" });
    },
    stopPicking() { this.picking = null; },
    pickKey(key) {
      if (key in MOVES) return () => { this.cursor = this.beside(this.cursor, key); };
      return { Enter: () => this.pick(...this.cursor), Escape: () => this.stopPicking() }[key];
    },
    cellOf: (frame) => [frame.agent % frame.columns, Math.floor(frame.agent / frame.columns)],
    beside(cell, key) { return [0, 1].map((i) => Math.min(Math.max(cell[i] + MOVES[key][i], 0), (i ? this.frame.rows : this.frame.columns) - 1)); },
    place(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width * this.frame.columns, (event.clientY - box.top) / box.height * this.frame.rows];
    },
    clicked(event) {
      if (this.picking === null && !(this.view.mode === "show" && this.view.can_point)) return;
      const [column, row] = this.place(event);
      if (this.picking !== null) this.pick(Math.floor(column), Math.floor(row));
      else this.tell({ do: "point", x: column * TILE, y: row * TILE });
    },
    pick(column, row) {
      this.tell({ do: "cell", name: this.picking.name, x: column * TILE + TILE / 2, y: row * TILE + TILE / 2 });
      this.picking = null;
    },

    // Drawing another way than the agent's, from where it is at this moment.
    beginLine() {
      this.pause();
      this.sketch = this.sketch === null ? { cells: [this.here], isHeld: false } : null;
      this.$refs.view.focus();
      this.$refs.view.scrollIntoView({ block: "nearest" });
    },
    startLine(event) {
      if (this.sketch === null) return;
      event.target.setPointerCapture(event.pointerId);
      this.sketch = { cells: [this.here], isHeld: true };
      this.drawLine(event);
    },
    drawLine(event) {
      if (this.sketch?.isHeld) this.extendLine(this.place(event).map(Math.floor));
    },
    extendLine(cell) {
      if (String(cell) !== String(this.sketch.cells.at(-1))) this.sketch.cells.push(cell);
    },
    endLine() {
      if (this.sketch === null) return;
      const places = this.sketch.cells.slice(1).map((cell) => cell.map((one) => one * TILE + TILE / 2));
      this.sketch = null;
      if (places.length) this.tell({ do: "watch", seed: this.view.seed, controls: this.view.episode.controls.slice(0, this.moment), places });
    },
    lineKey(key) {
      if (key in MOVES) return () => this.extendLine(this.beside(this.sketch.cells.at(-1), key));
      return { Enter: () => this.endLine(), Escape: () => { this.sketch = null; } }[key];
    },

    async draw() {
      const turn = ++this.drawn;
      this.tellState();
      const frame = this.frame;
      if (!frame.cells) return;
      const tiles = this.view.tiles.map((address) => images.get(address));
      const ready = tiles.every((image) => image instanceof HTMLImageElement) ? tiles : await Promise.all(this.view.tiles.map(decoded));
      if (turn !== this.drawn) return;  // something newer is being drawn
      const canvas = this.$refs.canvas;
      if (!canvas) return;
      if (canvas.width !== frame.columns * TILE || canvas.height !== frame.rows * TILE) {
        canvas.width = frame.columns * TILE;
        canvas.height = frame.rows * TILE;
        canvas.style.width = `min(100%, ${(TALLEST * frame.columns) / frame.rows}rem)`;
      }
      const context = canvas.getContext("2d");
      frame.cells.forEach((number, cell) => context.drawImage(ready[number], (cell % frame.columns) * TILE, Math.floor(cell / frame.columns) * TILE));
      if (this.view.map) this.drawMap(context, frame);
      if (this.view.mode !== "show") this.drawWay(context, ready[frame.cells[frame.agent]]);
      this.drawPlaces(context, frame);
      if (this.picking !== null) {
        context.strokeStyle = "#f0a434";
        context.lineWidth = 5;
        context.strokeRect(this.cursor[0] * TILE + 2, this.cursor[1] * TILE + 2, TILE - 4, TILE - 4);
      }
      if (this.sketch !== null) {
        this.drawLineThrough(context, this.sketch.cells, "#f0a434", 7);
        context.strokeRect(...this.sketch.cells.at(-1).map((one) => one * TILE + 3), TILE - 6, TILE - 6);
      }
      canvas.dataset.drawn = `${this.view.seed}/${this.view.mode === "show" ? this.view.steps : this.moment}`;
    },
    // The way of a walk: gone so far, still to go, and in another colour what a person chose.
    drawWay(context, agent) {
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
    // Cells that labels speak of, with the first letter of what they say.
    drawPlaces(context, frame) {
      if (!this.view.corner) return;
      Object.assign(context, { strokeStyle: "#7fb2ff", fillStyle: "#7fb2ff", lineWidth: 2.5, font: "700 20px sans-serif", textAlign: "center", textBaseline: "middle" });
      for (const { name, x, y } of this.view.places) {
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
        const share = (value - low) / Math.max(high - low, NARROWEST * high, Number.MIN_VALUE);
        if (cell === frame.agent) return;
        context.fillStyle = `hsl(${44 - 24 * share} 92% ${78 - 58 * share}% / 82%)`;
        context.fillRect((cell % frame.columns) * TILE, Math.floor(cell / frame.columns) * TILE, TILE, TILE);
      });
    },

    // The drawing of the automaton, elsewhere on the page, shows where it stands.
    tellState() {
      let [before, here] = [null, null];
      if (this.view.mode === "show") [before, here] = !this.hasFrame ? [null, null] : (this.view.states.length > 1 ? this.view.states : [null, this.view.states[0] ?? null]);
      else if (this.view.episode) [before, here] = [this.moment ? this.view.episode.moments[this.moment - 1].state : null, this.now.state];
      else if (this.view.question) [before, here] = [this.moment ? this.view.question.states[this.moment - 1] : null, this.view.question.states[this.moment]];
      window.studioState = { before, here };
      window.dispatchEvent(new CustomEvent("studio:state"));
    },
  },
};
