// What the person waits for, in sight wherever the page is scrolled to.
export default {
  props: { json: String },
  emits: ["do"],
  template: `
    <div class="thinking" role="status" :class="{ idle: !view.job }">
      <template v-if="view.job"><span class="spinner" aria-hidden="true"></span>
        <span>{{ view.job.what.charAt(0).toUpperCase() + view.job.what.slice(1) }}…<template v-if="view.job.seconds >= 1"> {{ view.job.seconds }} s</template><template v-if="view.job.reports > 2">, step {{ view.job.reports }}</template></span>
        <button type="button" class="quiet" @click="stop">Stop<kbd>Esc</kbd></button></template>
    </div>`,
  computed: { view() { return JSON.parse(this.json); } },
  mounted() { window.addEventListener("keydown", this.pressed); },
  unmounted() { window.removeEventListener("keydown", this.pressed); },
  methods: {
    stop() { this.$emit("do", { do: "cancel" }); },
    pressed(event) { if (event.key === "Escape" && this.view.job && !event.defaultPrevented) this.stop(); },
  },
};
