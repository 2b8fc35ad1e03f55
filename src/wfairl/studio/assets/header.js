export default {
  props: { json: String },
  emits: ["do"],
  data: () => ({ isRenaming: false, name: "", isLost: false, timer: null }),
  computed: { view() { return JSON.parse(this.json); } },
  mounted() { this.timer = setInterval(() => { this.isLost = window.studio.isLost(); }, 200); },
  unmounted() { clearInterval(this.timer); },
  methods: {
    skip() { document.querySelector(".view").focus(); },
    startRenaming() {
      this.isRenaming = true;
      this.name = this.view.title;
      this.$nextTick(() => this.$refs.name.select());
    },
    rename() {
      this.isRenaming = false;
      const name = this.name.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
      if (name !== this.view.title) window.studio.send(this.$emit, { do: "name", name });
      this.skip();
    },
  },
  watch: { "view.title"(title) { document.title = `${title} · wfairl studio`; } },
  template: `
    <header class="top">
      <a class="skip" href="#scene" @click.prevent="skip">Skip to the scene</a>
      <p class="kind"><a href="../">wfairl studio</a></p>
      <div class="title-line">
        <form v-if="isRenaming" class="renaming" @submit.prevent="rename"><input ref="name" v-model="name" maxlength="60" aria-label="Name" @keydown.esc.stop="isRenaming = false"><button type="submit">Rename</button></form>
        <h1 v-else>{{ view.title }} <button type="button" class="quiet" @click="startRenaming">Rename</button></h1>
        <p class="saved" role="status" :class="{ lost: isLost || view.is_deleted }"><span class="dot" aria-hidden="true"></span>
          <template v-if="isLost"><b>Not connected: nothing is saved now.</b> If this stays so, run <code>wfairl studio</code> again and open the address that it prints.</template>
          <template v-else-if="view.is_deleted"><b>This session was deleted: nothing is saved.</b> <a href="../">The first page</a> brings it back.</template>
          <template v-else>Every step is saved in <b>{{ view.session }}</b></template></p>
      </div>
      <p class="subtitle">{{ view.summary }}</p>
    </header>`,
};
