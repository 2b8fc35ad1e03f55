// The first page: sessions to continue, tasks to begin.
export default {
  props: { json: String },
  template: `
    <div class="home" id="content">
      <header class="top">
        <p class="kind">wfairl studio</p>
        <h1>Show a task, watch it being understood, ask why</h1>
        <p class="subtitle">Demonstrate a task two or three times. The studio infers what you were doing, plans with it in
          scenes that it has never seen, and explains its choices.</p>
      </header>
      <div role="status" aria-live="polite"><p v-if="notice" class="notice">{{ notice }} <button v-if="latest" ref="undo" type="button" class="quiet" @click="restore(latest)">Undo</button></p></div>
      <section v-if="sessions.length" aria-labelledby="sessions">
        <h2 id="sessions">Continue where you were</h2>
        <form class="form search" role="search" @submit.prevent><label><span>Search {{ sessions.length }} {{ sessions.length === 1 ? "session" : "sessions" }}</span><input type="search" v-model="wanted" autocomplete="off"></label></form>
        <ul class="cards">
          <li v-for="one in found" :key="one.name" class="session">
            <a :href="'session/' + one.name"><b>{{ one.title }}</b><span>{{ one.name }}, {{ one.changed }}</span></a>
            <button type="button" class="quiet" :aria-label="'Delete the session ' + one.title" @click="remove(one)">Delete</button>
          </li>
          <li v-if="!found.length" class="hint">No session has this in its name.</li>
        </ul>
      </section>
      <details v-if="deleted.length" class="deleted"><summary>Deleted sessions</summary>
        <ul class="rows"><li v-for="one in deleted" :key="one"><span>{{ one }}</span><button type="button" class="quiet" :aria-label="'Bring back ' + one" @click="restore(one)">Bring back</button></li></ul></details>
      <section aria-labelledby="invent">
        <h2 id="invent">Invent a task of your own</h2>
        <p class="hint">Choose a world, then click to define what matters in it.</p>
        <ul class="cards">
          <li v-for="(text, one) in view.environments" :key="one">
            <button type="button" @click="begin(one)"><b>{{ one.replace(/^MiniGrid-|^wfairl./, "").replace(/-v\\d+$/, "") }}</b><span>{{ text }}</span></button>
          </li>
        </ul>
        <form class="form other" @submit.prevent="begin(other)"><label><span>Another environment</span><select v-model="other"><option v-for="one in view.others" :key="one">{{ one }}</option></select></label><button type="submit">Start</button></form>
      </section>
      <section aria-labelledby="tasks">
        <h2 id="tasks">Demonstrate an existing task</h2>
        <ul class="cards">
          <li v-for="one in view.tasks" :key="one.name">
            <button type="button" @click="begin(one.name)"><b>{{ one.name }}</b><span>{{ one.summary }}</span></button>
          </li>
        </ul>
      </section>
    </div>`,
  data() {
    const view = JSON.parse(this.json);
    return { view, other: view.others[0], sessions: view.sessions, deleted: view.deleted, wanted: "", notice: "", latest: null };
  },
  computed: {
    found() { return this.sessions.filter((one) => `${one.title} ${one.name} ${one.task}`.toLowerCase().includes(this.wanted.trim().toLowerCase())); },
  },
  mounted() { document.documentElement.dataset.ready = ""; },
  methods: {
    async post(path) {
      const answer = await fetch(path, { method: "POST" });
      if (answer.ok) return answer.json();
      this.notice = await answer.text();
      return null;
    },
    async begin(what) {
      const begun = await this.post(`begin/${what}`);
      if (begun) location.href = `session/${begun.session}`;
    },
    async remove(one) {
      if (!(await this.post(`delete/${one.name}`))) return;
      this.sessions = this.sessions.filter((other) => other.name !== one.name);
      [this.notice, this.latest] = [`Deleted ${one.title}.`, one.name];
      this.deleted = [one.name, ...this.deleted];
      this.$nextTick(() => this.$refs.undo.focus());  // the button that was pressed is gone
    },
    async restore(name) {
      if (await this.post(`restore/${name}`)) location.reload();
    },
  },
};
