// Hands what a job found to the scene, which shows it in the mode of that name; it is sent only when it changes.
export default {
  props: { part: String, json: String },
  template: "<i hidden></i>",
  watch: { json() { this.publish(); } },
  mounted() { this.publish(); },
  methods: {
    publish() {
      window.studio.feeds[this.part] = Object.freeze(JSON.parse(this.json));
      window.dispatchEvent(new CustomEvent("studio:feed"));
    },
  },
};
