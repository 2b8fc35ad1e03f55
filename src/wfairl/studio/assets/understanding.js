// The inferred task and its evidence: automaton, propositions, demonstrations, corrections, downloads.
export default {
  props: { json: String },
  emits: ["do"],
  data: () => ({ name: "", condition: "", kind: "never", first: "", second: "", law: "law" }),
  template: `
    <div class="understanding">
      <section class="card" aria-labelledby="inferred">
        <div class="head">
          <h2 id="inferred">Inferred task</h2>
          <p v-if="view.model && view.model.weight !== null" class="outcome" :data-success="view.model.weight_or_stricter > 0.8" title="probabilities among the tasks considered">{{ percent(view.model.weight) }} exactly this<template v-if="percent(view.model.weight) !== percent(view.model.weight_or_stricter)">, {{ percent(view.model.weight_or_stricter) }} this or stricter</template></p>
        </div>
        <p v-if="!view.is_current && !view.is_busy" class="outdated"><span>Your latest changes are not included yet.</span><button type="button" class="quiet" @click="send({ do: 'learn' })">Update</button></p>
        <template v-if="view.model">
          <p class="sentence">{{ view.model.sentence }}</p>
          <p v-if="view.cost" class="cost"><b>Cost</b> {{ view.cost.text }} <span v-if="!view.cost.is_current" class="hint">Learned before your latest changes.</span></p>
          <div class="automaton scroll" ref="drawing" tabindex="0" role="group" aria-label="The automaton" v-html="view.model.svg"></div>
          <ul class="edges" aria-label="Edges of the automaton">
            <li v-for="edge in view.model.edges" :key="edge.source + edge.text + edge.target_name">
              <span class="edge-text"><b>{{ edge.source }}</b> → <b>{{ edge.target_name }}</b> on <i>{{ edge.text }}</i><span v-if="edge.is_new" class="badge"> new</span></span>
              <span class="bar" role="img" :aria-label="edge.certainty === null ? 'certainty unknown' : percent(edge.certainty) + ' certain'"><span :style="{ width: percent(edge.certainty ?? 0) }"></span></span>
              <span class="number">{{ edge.certainty === null ? "?" : percent(edge.certainty) }}</span>
              <span class="demonstrations">{{ edge.demonstrations.length ? "shown in " + edge.demonstrations.map((one) => "#" + one).join(", ") : "not shown in any demonstration" }}</span>
              <button type="button" class="quiet" :aria-label="'Reject the edge: ' + edge.source + ' on ' + edge.text" @click="send({ do: 'edge', source: edge.source, text: edge.text, law: law === 'law' })">Reject</button>
            </li>
          </ul>
          <p v-if="view.model.enforced" class="hint">{{ view.model.enforced }}: nobody has to learn that.</p>
          <p v-if="view.model.removed.length" class="hint">Removed: <template v-for="(one, i) in view.model.removed" :key="one">{{ i ? "; " : "" }}<s>{{ one }}</s></template></p>
          <details v-if="view.model.differing_words.length"><summary>Words that the old and the new automaton judge differently</summary>
            <ul class="opinions"><li v-for="one in view.model.differing_words" :key="one">{{ one }}</li></ul></details>
          <p v-if="view.model.untested.length" class="hint">Not tested by any demonstration: {{ view.model.untested.join("; ") }}.</p>
          <p v-if="view.model.unforeseen >= 0.01" class="hint">In a new scene the task may ask for something that no demonstration shows: {{ percent(view.model.unforeseen) }}.</p>
          <details v-if="view.model.alternatives.length" :open="view.model.alternatives[0].weight > view.model.weight"><summary>Alternatives{{ view.model.alternatives[0].weight > view.model.weight ? ": one is more probable" : "" }}</summary>
            <ul class="opinions"><li v-for="one in view.model.alternatives" :key="one.text">{{ one.weight < 0.005 ? "under 1%" : percent(one.weight) }} <code>{{ one.text }}</code></li></ul></details>
          <div class="actions">
            <button type="button" @click="send({ do: 'try' })">Try ten new scenes</button>
            <button type="button" @click="send({ do: 'cost' })">{{ view.cost ? "Learn the cost again" : "Learn the cost" }}</button>
          </div>
          <ol v-if="view.trials.length" class="trials" aria-label="New scenes">
            <li v-for="one in view.trials" :key="one.seed"><button type="button" :data-success="one.outcome === 'success'" :aria-label="'Scene ' + one.seed + ': ' + one.outcome + ' in ' + one.steps + ' steps. Watch it'" @click="watchScene(one.seed)">{{ one.outcome === "success" ? "✓" : "✗" }}</button></li>
            <li class="hint">{{ view.trials.filter((one) => one.outcome === "success").length }} of {{ view.trials.length }} succeeded</li>
          </ol>
        </template>
        <p v-else-if="view.is_busy && view.demonstrations.length" class="hint">Working…</p>
        <p v-else class="hint">Nothing yet. {{ view.propositions.names.length ? (view.judge === "person" ? "Demonstrate the task once, and mark it as right." : "Demonstrate the task once: it is saved by itself when it is done.") : "First add propositions (F6 leads there): what matters in this world. Then demonstrate the task once." }}</p>
      </section>

      <section class="card" aria-labelledby="propositions">
        <h2 id="propositions">Propositions</h2>
        <ul class="rows">
          <li v-for="one in view.propositions.names" :key="one.name"><span><b>{{ one.name }}</b> <span class="hint">{{ one.text === one.name ? "" : one.text }}</span></span>
            <button v-if="view.propositions.invented" type="button" class="quiet" :aria-label="'Remove ' + one.name + (one.corrections.length ? ', and with it: ' + one.corrections.join(', ') : '')" :title="one.corrections.length ? 'takes along: ' + one.corrections.join(', ') : null" @click="send({ do: 'forget', name: one.name })">Remove</button></li>
          <li v-if="!view.propositions.names.length" class="hint">None yet: add what matters in this world.</li>
        </ul>
        <form v-if="view.propositions.invented" class="form" @submit.prevent="addProposition">
          <label><span>Name</span><input ref="name" v-model="name" maxlength="40" autocomplete="off" placeholder="corner"></label>
          <label><span>True when</span><select v-model="condition" aria-label="Condition">
            <option value="">on a cell I choose</option>
            <option v-for="(one, i) in view.propositions.menu" :key="i" :value="String(i)">{{ one.text }}</option></select></label>
          <button type="submit" @click="isByKey = $event.detail === 0">{{ condition === "" ? "Choose a cell" : "Add" }}</button>
        </form>
      </section>

      <section class="card" aria-labelledby="demonstrations">
        <h2 id="demonstrations">Demonstrations</h2>
        <ul class="rows">
          <li v-for="one in view.demonstrations" :key="one.number">
            <span><b>#{{ one.number }}</b> scene {{ one.seed }}, {{ one.steps }} {{ one.steps === 1 ? "step" : "steps" }}, {{ one.right ? "right" : "wrong" }} <span class="hint">judged by {{ { rule: "the rule", environment: "the environment", person: "you" }[one.judge] }}</span>
              <span v-if="one.outlier >= 0.5" class="badge warn"> does not fit the inferred task, {{ percent(one.outlier) }}: not counted</span>
              <span v-else-if="one.is_rejected" class="badge warn"> wrong by the inferred task</span></span>
            <button type="button" class="quiet" :aria-label="'Remove demonstration ' + one.number" @click="send({ do: 'drop', demonstration: one.number - 1 })">Remove</button></li>
          <li v-if="!view.demonstrations.length" class="hint">None yet.</li>
        </ul>
        <template v-if="view.answers.length"><h3 id="answers">Answers</h3>
          <ul class="rows" aria-labelledby="answers">
            <li v-for="one in view.answers" :key="one.number"><span><b>{{ one.right === null ? "don't know" : one.right ? "yes" : "no" }}</b> to {{ one.word.join(", then ") || "nothing" }} <span class="hint">scene {{ one.seed }}</span></span>
              <button type="button" class="quiet" :aria-label="'Withdraw answer ' + (one.number + 1)" @click="send({ do: 'unanswer', answer: one.number })">Withdraw</button></li>
          </ul></template>
        <div class="choose-judge" role="group" aria-labelledby="judge"><span id="judge" class="hint">Who judges demonstrations?</span>
          <button v-for="one in view.judges" :key="one" type="button" :aria-pressed="view.judge === one" @click="view.judge === one || send({ do: 'judge', by: one })">{{ { rule: "The task's rule", environment: "The environment", person: "I do" }[one] }}</button>
        </div>
      </section>

      <section class="card" aria-labelledby="correct">
        <h2 id="correct">Corrections</h2>
        <ul class="rows" v-if="view.corrections.length">
          <li v-for="(one, i) in view.corrections" :key="i"><span><b>{{ one.sentence }}</b> <span class="hint">{{ one.law ? "law" : "evidence" }}</span></span>
            <button type="button" class="quiet" :aria-label="'Withdraw: ' + one.sentence" @click="send({ do: 'withdraw', correction: i })">Withdraw</button></li>
        </ul>
        <form class="form" @submit.prevent="correct">
          <label><span>Rule</span><select v-model="kind"><option value="never">never</option><option value="before">in this order</option></select></label>
          <label><span>{{ kind === "never" ? "Proposition" : "First" }}</span><select v-model="first" required><option value="" disabled>choose</option><option v-for="one in view.propositions.names" :key="one.name">{{ one.name }}</option></select></label>
          <label v-if="kind === 'before'"><span>Then</span><select v-model="second" required><option value="" disabled>choose</option><option v-for="one in view.propositions.names" :key="one.name">{{ one.name }}</option></select></label>
          <label><span>Applied as</span><select v-model="law"><option value="law">law</option><option value="evidence">evidence</option></select></label>
          <button type="submit" :disabled="!view.model">Add correction</button>
        </form>
        <p v-if="!view.model" class="hint correct-hint">Once a task is inferred from a demonstration, you can correct it here.</p>
        <p v-else class="hint correct-hint">{{ law === "law" ? "A law holds whatever the demonstrations show." : "Evidence outweighs the demonstrations so far; later ones can outweigh it." }} <i>Reject</i> beside an edge is applied in the same way.</p>
      </section>

      <section class="card" aria-labelledby="downloads">
        <h2 id="downloads">Downloads</h2>
        <p class="hint">Files for the other <code>wfairl</code> commands:</p>
        <p class="downloads"><a v-for="one in files" :key="one.file" @click.prevent="fetchFile" :href="'../download/' + session + '/' + one.file">{{ one.text }}</a></p>
        <template v-if="view.model">
          <p class="hint for-tools">The automaton for other tools:</p>
          <p class="downloads"><a v-for="one in ['svg', 'png', 'dot', 'hoa', 'ltlf', 'rm', 'py']" :key="one" @click.prevent="fetchFile" :href="'../download/' + session + '/task.' + one">{{ { rm: "reward machine", py: "Python", ltlf: "LTLf" }[one] ?? one.toUpperCase() }}</a>
            <a @click.prevent="fetchFile" :href="'../download/' + session + '/scene.prism'">PRISM, in the current scene</a></p>
        </template>
      </section>
    </div>`,
  computed: {
    view() { return JSON.parse(this.json); },
    session: () => location.pathname.split("/").pop(),
    files() {
      if (!this.view.demonstrations.length) return [{ file: "journal.jsonl", text: "journal" }];
      const learned = this.view.model ? [{ file: "task.json", text: "task model" }, { file: "report.html", text: "report" }, { file: "repeat.py", text: "script" }] : [];
      const invented = this.view.task_file ? [{ file: this.view.task_file, text: "task" }] : [];
      return [{ file: "demos.safetensors", text: "demonstrations" }, ...invented, ...learned, { file: "minari.zip", text: "Minari data set" }, { file: "session.zip", text: "all files" }];
    },
  },
  watch: {
    view({ propositions: { names } }) {  // one that was removed is not chosen any more
      for (const chosen of ["first", "second"]) if (!names.some((one) => one.name === this[chosen])) this[chosen] = "";
    },
  },
  mounted() { window.addEventListener("studio:state", this.markState); this.markState(); },
  unmounted() { window.removeEventListener("studio:state", this.markState); },
  updated() { this.markState(); },
  methods: {
    send(message) { window.studio.send(this.$emit, message); },
    watchScene(seed) { window.dispatchEvent(new CustomEvent("studio:watch", { detail: seed })); },
    // A file that cannot be made says why, and the page stays.
    async fetchFile(event) {
      const answer = await fetch(event.currentTarget.href).catch(() => null);
      if (!answer?.ok) { window.dispatchEvent(new CustomEvent("studio:notice", { detail: answer ? await answer.text() : "Not connected." })); return; }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = /filename="(.+)"/.exec(answer.headers.get("content-disposition"))[1];
      link.click();
      URL.revokeObjectURL(link.href);
    },
    percent: (share) => `${Math.round(100 * share)}%`,
    addProposition() {
      const name = this.name.trim();
      const after = () => this.isByKey && this.$refs.name.focus();  // for the next one; after a click, keys are those of the scene
      if (this.condition === "") window.dispatchEvent(new CustomEvent("studio:pick", { detail: { name, after } }));
      else {
        const chosen = this.view.propositions.menu[Number(this.condition)];
        this.send({ do: "proposition", name: name || chosen.text, is: chosen.is });
        after();
      }
      this.name = this.condition = "";
    },
    correct() {
      const correction = this.kind === "never" ? { kind: "never", proposition: this.first } : { kind: "before", first: this.first, second: this.second };
      this.send({ do: "correct", correction, law: this.law === "law" });
    },
    // Mark the current automaton state, the edge that was taken last, and uncertain edges.
    markState() {
      const drawing = this.$refs.drawing;
      const svg = drawing?.querySelector("svg");
      if (!svg) return;
      svg.style.maxWidth = `${svg.viewBox.baseVal.width}px`;
      svg.style.minWidth = `${0.66 * svg.viewBox.baseVal.width}px`;
      const { previous, current } = window.studio.state;
      for (const one of drawing.querySelectorAll("[data-state]")) one.classList.toggle("here", Number(one.dataset.state) === current);
      for (const one of drawing.querySelectorAll("[data-source]")) {
        const [source, target] = [Number(one.dataset.source), Number(one.dataset.target)];
        one.classList.toggle("just-taken", previous !== null && previous !== current && source === previous && target === (current < 0 ? this.view.model.states : current));
        const edges = this.view.model.edges.filter((edge) => edge.source === source && edge.target === target);
        const certainty = Math.max(0, ...edges.map((edge) => edge.certainty ?? 1));
        one.classList.toggle("uncertain", certainty < 0.7);
        one.classList.toggle("new", edges.some((edge) => edge.is_new));
      }
    },
  },
};
