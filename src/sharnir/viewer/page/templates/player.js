// Time: it runs, stops, is set by hand; the keyboard does it all.
class Player {
  constructor(range, changed) {
    [this.first, this.last] = range;
    this.changed = changed;
    this.time = this.first;
    this.playing = false;
    this.speed = 1;
    this.loop = true;
    this.stamp = null;
    this.painted = 0;
    this.patience = 0;                                                   // ms between two pictures of the clock while it plays
    if (this.last > this.first) this.controls();
  }

  controls() {
    const find = (id) => document.getElementById(id);
    [this.button, this.slider, this.clock] = [find("play"), find("time"), find("clock")];
    Object.assign(this.slider, { min: this.first, max: this.last, step: "any" });
    this.digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10((this.last - this.first) / 10))));
    this.button.addEventListener("click", () => this.toggle());
    this.slider.addEventListener("input", () => { this.seek(Number(this.slider.value)); });
    find("speed").addEventListener("change", (e) => { this.speed = Number(e.target.value); });
    find("loop").addEventListener("change", (e) => { this.loop = e.target.checked; });
    document.addEventListener("keydown", (e) => this.key(e));
  }

  key(e) {
    const field = e.target.closest("select, input:not(#time), [role=tab], summary"), step = e.shiftKey ? 0.5 : 1 / 30;
    const button = e.target.closest("button");
    if (field || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === " " && !(button && button !== this.button)) this.toggle();
    else if (e.key === "ArrowLeft") this.seek(this.time - step);
    else if (e.key === "ArrowRight") this.seek(this.time + step);
    else if (e.key === "Home") this.seek(this.first);
    else if (e.key === "End") this.seek(this.last);
    else return;
    e.preventDefault();
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }
  play() {
    if (!this.button) return;
    if (this.time >= this.last) this.time = this.first;
    this.playing = true;
    this.stamp = null;
    this.show();
  }
  pause() { this.playing = false; this.show(); }
  seek(t) { this.time = Math.min(this.last, Math.max(this.first, t)); this.show(); }

  // Called with every frame of the screen.
  tick(stamp) {
    if (!this.playing) return;
    const passed = this.stamp === null ? 0 : Math.min(0.25, (stamp - this.stamp) / 1000);   // a page in the background waits
    this.stamp = stamp;
    this.time += passed * this.speed;
    if (this.time > this.last) {
      if (this.loop) this.time = this.first + (this.time - this.last) % (this.last - this.first);
      else { this.time = this.last; this.playing = false; }
    }
    this.show(this.playing && stamp - this.painted < this.patience);
    if (stamp - this.painted >= this.patience) this.painted = stamp;
  }

  show(unpainted = false) {
    if (this.button && !unpainted) {
      this.slider.value = this.time;
      this.slider.style.setProperty("--share", `${100 * (this.time - this.first) / (this.last - this.first)}%`);
      this.slider.setAttribute("aria-valuetext", `${this.time.toFixed(this.digits)} seconds`);
      this.clock.textContent = this.time.toFixed(this.digits);
      const label = this.playing ? "Pause" : "Play";
      if (this.button.getAttribute("aria-label") !== label) {
        this.button.setAttribute("aria-label", label);
        this.button.dataset.playing = this.playing;
      }
    }
    this.changed();
  }
}
