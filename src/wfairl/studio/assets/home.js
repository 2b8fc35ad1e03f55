export default {
  props: { json: String },
  template: `
    <main class="home" id="content">
      <header class="top">
        <p class="kind">wfairl studio</p>
        <h1>Show a task, watch it being understood, ask why</h1>
        <p class="subtitle">Demonstrate a task two or three times. The studio infers an automaton for what you were doing,
          plans with it in scenes that it has never seen, and explains its choices.</p>
      </header>
      <section v-if="view.sessions.length" aria-labelledby="sessions">
        <h2 id="sessions">Continue a session</h2>
        <ul class="cards">
          <li v-for="one in view.sessions" :key="one.name">
            <a :href="'/session/' + one.name"><b>{{ one.name }}</b><span>{{ one.changed }}</span></a>
          </li>
        </ul>
      </section>
      <section aria-labelledby="invent">
        <h2 id="invent">Invent a task of your own</h2>
        <p class="hint">Choose a world, then click to define what matters in it.</p>
        <ul class="cards">
          <li v-for="one in view.environments" :key="one">
            <a :href="'/begin/' + one"><b>{{ one.replace("MiniGrid-", "").replace(/-v\\d+$/, "") }}</b><span>{{ one }}</span></a>
          </li>
        </ul>
        <form class="form other" @submit.prevent="go"><label><span>Another environment</span><select v-model="other"><option v-for="one in view.others" :key="one">{{ one }}</option></select></label><button type="submit">Start</button></form>
      </section>
      <section aria-labelledby="tasks">
        <h2 id="tasks">Demonstrate an existing task</h2>
        <ul class="cards">
          <li v-for="one in view.tasks" :key="one.name">
            <a :href="'/begin/' + one.name"><b>{{ one.name }}</b><span>{{ one.summary }}</span></a>
          </li>
        </ul>
      </section>
    </main>`,
  data() { return { other: JSON.parse(this.json).others[0] }; },
  computed: { view() { return JSON.parse(this.json); } },
  methods: { go() { location.href = `/begin/${this.other}`; } },
  mounted() { document.documentElement.dataset.ready = ""; },
};
