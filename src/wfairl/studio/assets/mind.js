// What was understood, and what it rests on: automaton, propositions, demonstrations, corrections, files.
export default {
  props: { json: String },
  emits: ["do"],
  data: () => ({ name: "", said: "", kind: "never", first: "", second: "", law: "law" }),
  template: `
    <div class="mind">
      <section class="card" aria-labelledby="understood">
        <div class="head">
          <h2 id="understood">What it understands</h2>
          <p v-if="view.model && view.model.weight !== null" class="outcome" :data-success="view.model.weight > 0.8" :title="'its share of the posterior among the automata that were kept'">{{ percent(view.model.weight) }} sure</p>
        </div>
        <p v-if="!view.is_current && !view.is_busy" class="behind-hint"><span>This is behind what was shown.</span><button type="button" class="quiet" @click="tell({ do: 'learn' })">Understand now</button></p>
        <template v-if="view.model">
          <p class="sentence">{{ view.model.sentence }}</p>
          <div class="automaton scroll" ref="drawing" tabindex="0" role="group" aria-label="The automaton" v-html="view.model.svg"></div>
          <ul class="edges" aria-label="Edges of the automaton">
            <li v-for="edge in view.model.edges" :key="edge.source + edge.text + edge.leads">
              <span class="edge-text"><b>{{ edge.source }}</b> → <b>{{ edge.leads }}</b> on <i>{{ edge.text }}</i><span v-if="edge.is_new" class="badge">new</span></span>
              <span class="bar" role="img" :aria-label="edge.certainty === null ? 'certainty unknown' : percent(edge.certainty) + ' certain'"><span :style="{ width: percent(edge.certainty ?? 0) }"></span></span>
              <span class="number">{{ edge.certainty === null ? "?" : percent(edge.certainty) }}</span>
              <span class="behind">{{ edge.behind.length ? "shown by " + edge.behind.map((one) => "#" + one).join(" ") : "shown by none" }}</span>
              <button type="button" class="quiet" :aria-label="'Not this edge: ' + edge.source + ' on ' + edge.text" @click="tell({ do: 'edge', source: edge.source, text: edge.text, law: law === 'law' })">Not this</button>
            </li>
          </ul>
          <p v-if="view.model.gone.length" class="hint">No longer: <s v-for="one in view.model.gone" :key="one">{{ one }}</s></p>
          <details v-if="view.model.apart.length"><summary>Words that tell old and new apart</summary>
            <ul class="opinions"><li v-for="one in view.model.apart" :key="one">{{ one }}</li></ul></details>
          <p v-if="view.model.untested.length" class="hint">Not tested by any demonstration: {{ view.model.untested.join("; ") }}.</p>
          <details v-if="view.model.alternatives.length"><summary>What else it might be</summary>
            <ul class="opinions"><li v-for="one in view.model.alternatives" :key="one.text">{{ one.weight < 0.005 ? "under 1%" : percent(one.weight) }} <code>{{ one.text }}</code></li></ul></details>
          <div class="actions">
            <button type="button" @click="tell({ do: 'try' })">Try ten new scenes</button>
            <button type="button" @click="tell({ do: 'cost' })">{{ view.has_cost ? "Learn the cost again" : "Learn what steps cost" }}</button>
          </div>
          <ol v-if="view.tried.length" class="tried" aria-label="New scenes">
            <li v-for="one in view.tried" :key="one.seed"><button type="button" :data-success="one.outcome === 'success'" :aria-label="'Scene ' + one.seed + ': ' + one.outcome + ' in ' + one.steps + ' steps. Watch it'" @click="tell({ do: 'watch', seed: one.seed })">{{ one.outcome === "success" ? "✓" : "✗" }}</button></li>
            <li class="hint">{{ view.tried.filter((one) => one.outcome === "success").length }} of {{ view.tried.length }} done</li>
          </ol>
        </template>
        <p v-else-if="view.is_busy && view.demonstrations.length" class="hint">One moment…</p>
        <p v-else class="hint">Nothing yet. {{ view.propositions.names.length ? "Show the task once, and say that it was right." : "First say what matters in this world, then show the task once." }}</p>
      </section>

      <section class="card" aria-labelledby="labels">
        <h2 id="labels">What labels can say</h2>
        <ul class="rows">
          <li v-for="one in view.propositions.names" :key="one.name"><span><b>{{ one.name }}</b> <span class="hint">{{ one.text }}</span></span>
            <button v-if="view.propositions.invented" type="button" class="quiet" :aria-label="'Forget ' + one.name" @click="tell({ do: 'forget', name: one.name })">Forget</button></li>
          <li v-if="!view.propositions.names.length" class="hint">Nothing yet: say what matters in this world.</li>
        </ul>
        <form v-if="view.propositions.invented" class="form" @submit.prevent="propose">
          <label><span>Name</span><input v-model="name" maxlength="40" autocomplete="off" placeholder="corner"></label>
          <label><span>It holds when the agent is</span><select v-model="said" aria-label="What it is about">
            <option value="">on a cell I choose</option>
            <option v-for="(one, i) in view.propositions.menu" :key="i" :value="String(i)">{{ one.text }}</option></select></label>
          <button type="submit">{{ said === "" ? "Choose the cell" : "Add" }}</button>
        </form>
      </section>

      <section class="card" aria-labelledby="demonstrations">
        <h2 id="demonstrations">Demonstrations</h2>
        <ul class="rows">
          <li v-for="one in view.demonstrations" :key="one.number">
            <span><b>#{{ one.number }}</b> scene {{ one.seed }}, {{ one.steps }} steps, {{ one.right ? "right" : "wrong" }} <span class="hint">{{ { rule: "says the rule", environment: "says the environment", person: "you said so" }[one.judge] }}</span>
              <span v-if="one.outlier >= 0.5" class="badge warn">looks wrong, {{ percent(one.outlier) }}</span></span>
            <button type="button" class="quiet" :aria-label="'Remove demonstration ' + one.number" @click="tell({ do: 'drop', demonstration: one.number - 1 })">Remove</button></li>
          <li v-if="!view.demonstrations.length" class="hint">None yet.</li>
        </ul>
        <p v-if="view.answers.length" class="hint">{{ view.answers.length }} {{ view.answers.length === 1 ? "answer" : "answers" }} given.</p>
        <fieldset class="choose-judge"><legend>Who says that it was right?</legend>
          <label v-for="one in view.judges" :key="one"><input type="radio" name="judge" :value="one" :checked="view.judge === one" @change="tell({ do: 'judge', by: one })"> {{ { rule: "the task's rule", environment: "the environment", person: "I do" }[one] }}</label>
        </fieldset>
      </section>

      <section class="card" aria-labelledby="correct">
        <h2 id="correct">Correct it</h2>
        <ul class="rows" v-if="view.corrections.length">
          <li v-for="(one, i) in view.corrections" :key="i"><span><b>{{ one.sentence }}</b> <span class="hint">{{ one.law ? "law" : "evidence" }}</span></span>
            <button type="button" class="quiet" :aria-label="'Withdraw: ' + one.sentence" @click="tell({ do: 'withdraw', correction: i })">Withdraw</button></li>
        </ul>
        <form class="form" @submit.prevent="correct">
          <label><span>Rule</span><select v-model="kind"><option value="never">never</option><option value="before">in this order</option></select></label>
          <label><span>{{ kind === "never" ? "Proposition" : "First" }}</span><select v-model="first" required><option value="" disabled>choose</option><option v-for="one in view.propositions.names" :key="one.name">{{ one.name }}</option></select></label>
          <label v-if="kind === 'before'"><span>Then</span><select v-model="second" required><option value="" disabled>choose</option><option v-for="one in view.propositions.names" :key="one.name">{{ one.name }}</option></select></label>
          <label><span>It is</span><select v-model="law"><option value="law">law</option><option value="evidence">evidence</option></select></label>
          <button type="submit" :disabled="!view.model">Correct</button>
        </form>
        <p class="hint correct-hint">{{ law === "law" ? "Law holds whatever is shown." : "Evidence counts for all that was shown so far, and yields to what is shown later." }} <i>Not this</i> beside an edge is taken in the same way.</p>
      </section>

      <section class="card" aria-labelledby="keep">
        <h2 id="keep">Keep</h2>
        <p class="hint">Ordinary files that every <code>wfairl</code> command reads.</p>
        <p class="downloads"><a v-for="one in files" :key="one.file" :href="'/download/' + session + '/' + one.file">{{ one.text }}</a></p>
        <template v-if="view.model">
          <p class="hint for-tools">The automaton alone, for other tools:</p>
          <p class="downloads"><a v-for="one in ['svg', 'png', 'dot', 'hoa', 'ltlf', 'rm', 'py']" :key="one" :href="'/download/' + session + '/task.' + one">{{ { rm: "reward machine", py: "Python", ltlf: "LTLf" }[one] ?? one.toUpperCase() }}</a>
            <a :href="'/download/' + session + '/scene.prism'">PRISM, in the scene on the stage</a></p>
        </template>
      </section>
    </div>`,
  computed: {
    view() { return JSON.parse(this.json); },
    session: () => location.pathname.split("/").pop(),
    files() {
      if (!this.view.demonstrations.length) return [{ file: "journal.jsonl", text: "journal" }];
      const learned = this.view.model ? [{ file: "task.json", text: "task model" }, { file: "report.html", text: "report page" }, { file: "repeat.py", text: "script" }] : [];
      const invented = this.view.task_file ? [{ file: this.view.task_file, text: "task" }] : [];
      return [{ file: "demos.safetensors", text: "demonstrations" }, ...invented, ...learned, { file: "session.zip", text: "everything" }];
    },
  },
  mounted() { window.addEventListener("studio:state", this.mark); this.mark(); },
  unmounted() { window.removeEventListener("studio:state", this.mark); },
  updated() { this.mark(); },
  methods: {
    tell(message) { this.$emit("do", message); },
    percent: (share) => `${Math.round(100 * share)}%`,
    propose() {
      const name = this.name.trim();
      if (this.said === "") window.dispatchEvent(new CustomEvent("studio:pick", { detail: { name } }));
      else {
        const chosen = this.view.propositions.menu[Number(this.said)];
        this.tell({ do: "proposition", name: name || chosen.text, is: chosen.is });
      }
      this.name = "";
    },
    correct() {
      const correction = this.kind === "never" ? { kind: "never", proposition: this.first } : { kind: "before", first: this.first, second: this.second };
      this.tell({ do: "correct", correction, law: this.law === "law" });
    },
    // Where the automaton stands, the edge that was taken last, and how certain each edge is.
    mark() {
      const drawing = this.$refs.drawing;
      const picture = drawing?.querySelector("svg");
      if (!picture) return;
      picture.style.maxWidth = `${picture.viewBox.baseVal.width}px`;
      picture.style.minWidth = `${0.66 * picture.viewBox.baseVal.width}px`;
      const { before, here } = window.studioState ?? { before: null, here: null };
      for (const one of drawing.querySelectorAll("[data-state]")) one.classList.toggle("here", Number(one.dataset.state) === here);
      for (const one of drawing.querySelectorAll("[data-source]")) {
        const [source, target] = [Number(one.dataset.source), Number(one.dataset.target)];
        one.classList.toggle("just-taken", before !== null && before !== here && source === before && target === (here < 0 ? this.view.model.states : here));
        const edges = this.view.model.edges.filter((edge) => edge.source === source && edge.target === target);
        const certainty = Math.max(0, ...edges.map((edge) => edge.certainty ?? 1));
        one.classList.toggle("unsure", certainty < 0.7);
        one.classList.toggle("fresh", edges.some((edge) => edge.is_new));
      }
    },
  },
};
