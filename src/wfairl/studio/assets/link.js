// What all parts of a page share: one queue of messages to the server, and whether the server is there.
// NiceGUI holds an event back until the server knows the page, each event by itself: a later key could overtake it.
window.studio = {
  unsent: [],
  state: { previous: null, current: null },
  feeds: {},
  isLost: () => Boolean(window.did_handshake && !window.socket?.connected),
  send(emit, message) {
    if (this.isLost()) { window.dispatchEvent(new CustomEvent("studio:lost")); return; }  // it would not be saved
    if (this.unsent.push([emit, message]) === 1) this.sendAll();
  },
  sendAll() {
    if (window.did_handshake) this.unsent.splice(0).forEach(([emit, message]) => emit("do", message));
    else setTimeout(() => this.sendAll(), 10);
  },
};
