export default {
  props: { view: Object },
  template: `
    <header class="top">
      <a class="skip" href="#stage">Skip to the stage</a>
      <p class="kind"><a href="/">wfairl studio</a></p>
      <div class="title-line">
        <h1>{{ view.title }}</h1>
        <p class="saved"><span class="dot" aria-hidden="true"></span>Every step is saved in <b>{{ view.session }}</b></p>
      </div>
      <p class="subtitle">{{ view.summary }}</p>
    </header>`,
};
