export default {
  props: { json: String },
  emits: ["do"],
  data: () => ({ isRenaming: false, name: "" }),
  computed: { view() { return JSON.parse(this.json); } },
  methods: {
    startRenaming() {
      this.isRenaming = true;
      this.name = this.view.title;
      this.$nextTick(() => this.$refs.name.select());
    },
    rename() {
      this.isRenaming = false;
      this.$emit("do", { do: "name", name: this.name.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") });
    },
  },
  template: `
    <header class="top">
      <a class="skip" href="#scene">Skip to the scene</a>
      <p class="kind"><a href="../">wfairl studio</a></p>
      <div class="title-line">
        <form v-if="isRenaming" class="renaming" @submit.prevent="rename"><input ref="name" v-model="name" maxlength="60" aria-label="Name of the task" @keydown.esc="isRenaming = false"><button type="submit">Rename</button></form>
        <h1 v-else>{{ view.title }} <button v-if="view.invented" type="button" class="quiet" @click="startRenaming">Rename</button></h1>
        <p class="saved"><span class="dot" aria-hidden="true"></span>Every step is saved in <b>{{ view.session }}</b></p>
      </div>
      <p class="subtitle">{{ view.summary }}</p>
    </header>`,
};
