// The running job, visible wherever the page is scrolled to.
export default {
  props: { json: String },
  emits: ["do"],
  template: `
    <div class="progress" role="status" :class="{ idle: !view.job }">
      <template v-if="view.job"><span class="spinner" aria-hidden="true"></span>
        <span>{{ view.job.activity.charAt(0).toUpperCase() + view.job.activity.slice(1) }}…<template v-if="view.job.seconds >= 1"> {{ view.job.seconds }} s</template></span>
        <button type="button" class="quiet" @click="stop">Stop<kbd aria-hidden="true">Esc</kbd></button></template>
    </div>`,
  computed: { view() { return JSON.parse(this.json); } },
  mounted() { window.addEventListener("keydown", this.onKey); },
  unmounted() { window.removeEventListener("keydown", this.onKey); },
  methods: {
    stop() { window.studio.send(this.$emit, { do: "cancel" }); },
    // The scene hears the key, too: if it leads back there, or ends a choice, it stops no job.
    onKey(event) { if (event.key === "Escape" && this.view.job) setTimeout(() => event.defaultPrevented || this.stop()); },
  },
};
