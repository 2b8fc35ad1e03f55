// Everything that was done, to go back to and forward again.
export default {
  props: { json: String },
  emits: ["do"],
  template: `
    <section class="card history" aria-labelledby="history">
      <div class="head"><h2 id="history">History</h2>
        <div class="actions">
          <button type="button" :disabled="view.at <= 1" aria-keyshortcuts="U" @click="send({ do: 'undo' })">Undo<kbd aria-hidden="true">U</kbd></button>
          <button type="button" :disabled="view.at >= view.acts" aria-keyshortcuts="Shift+U" @click="send({ do: 'redo' })">Redo<kbd aria-hidden="true">⇧U</kbd></button>
        </div></div>
      <details><summary>{{ view.at - 1 }} {{ view.at === 2 ? "act" : "acts" }}<template v-if="view.at < view.acts">, {{ view.acts - view.at }} undone</template></summary>
        <ol class="moments">
          <li v-for="one in latestFirst" :key="one.at" :class="{ undone: one.at > view.at }"><span>{{ one.text }}</span>
            <button v-if="one.at !== view.at" type="button" class="quiet" :aria-label="(one.at > view.at ? 'Redo up to: ' : 'Go back to: ') + one.text" @click="send({ do: 'history', at: one.at })">{{ one.at > view.at ? "Redo" : "Go back" }}</button>
            <span v-else class="hint">now</span></li>
        </ol></details>
    </section>`,
  computed: {
    view() { return JSON.parse(this.json); },
    latestFirst() { return [...this.view.moments].reverse(); },
  },
  methods: { send(message) { window.studio.send(this.$emit, message); } },
};
