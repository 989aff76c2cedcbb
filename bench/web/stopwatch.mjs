// Runs in a page before anything of the page's own: tells when what a visitor looks for was drawn. All times are milliseconds by
// the page's clock, which begins with the navigation.
globalThis.stopwatch = (() => {
  const patienceMs = 30_000;
  performance.setResourceTimingBufferSize(5_000);

  /** Gives what stands in an element, and how many rows it says to have. */
  const stateOf = (selector) => {
    const element = document.querySelector(selector);
    return `${element?.getAttribute("aria-rowcount")} ${element?.textContent}`;
  };

  const isThere = ({ all, none = [], says = {} }, before) =>
    all.every((selector) => document.querySelector(selector) !== null) &&
    none.every((selector) => document.querySelector(selector) === null) &&
    Object.entries(says).every(([selector, words]) => stateOf(selector).includes(words)) &&
    Object.entries(before).every(([selector, state]) => stateOf(selector) !== state);

  /** Gives the time of the first task after the next frame. */
  const nextFrame = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.addEventListener("message", () => resolve(performance.now()));
        port1.start();
        port2.postMessage(undefined);
      });
    });

  /** Waits until all of a sight is in the page. */
  const appears = (sight, before) =>
    new Promise((resolve, reject) => {
      const observer = new MutationObserver(look);
      const timer = setTimeout(() => {
        observer.disconnect();
        const missing = sight.all.filter((selector) => document.querySelector(selector) === null);
        const text = document.body?.innerText.slice(0, 600);
        reject(new Error(`${location.href} never showed ${JSON.stringify(missing)}, but: ${text}`));
      }, patienceMs);
      function look() {
        if (!isThere(sight, before)) return;
        observer.disconnect();
        clearTimeout(timer);
        resolve();
      }
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      look();
    });

  /** Gives the time when a sight was drawn. */
  const drawn = async (sight, before = {}) => {
    await appears(sight, before);
    return nextFrame();
  };

  let result;

  /** Waits for an event, which comes before those who listen for it know. */
  const once = (type) =>
    new Promise((resolve) => {
      addEventListener(type, resolve, { capture: true, once: true });
    });

  /** Measures from a moment on: until the next frame, with `then` after that event, and until the sight was drawn. */
  const measure = async (begun, sight, then) => {
    const before = Object.fromEntries((sight.differs ?? []).map((selector) => [selector, stateOf(selector)]));
    const next = then === undefined ? nextFrame() : once(then).then(nextFrame);
    const [nextAt, thereAt] = await Promise.all([next, drawn(sight, before)]);
    return { begun, nextMs: nextAt - begun, thereMs: thereAt - begun };
  };

  return {
    drawn,
    /** Begins with the next event of this type, at the time when the browser got to know of it. */
    arm: (type, sight, then) => {
      result = new Promise((resolve, reject) => {
        const begin = (event) => void measure(event.timeStamp, sight, then).then(resolve, reject);
        addEventListener(type, begin, { capture: true, once: true });
      });
    },
    /** Begins now, and does something. */
    begin: (sight, act) => {
      result = measure(performance.now(), sight);
      act();
    },
    /** Gives what was measured last. */
    result: () => result,
    /** Lists the requests of the API that were answered, from a moment on. */
    requests: (since = 0) =>
      performance
        .getEntriesByType("resource")
        .filter(({ name, initiatorType, startTime }) => {
          return initiatorType === "fetch" && name.includes("/api/v2/") && startTime >= since - 1;
        })
        .map(({ name, duration }) => ({ path: name.slice(location.origin.length), ms: duration })),
    /** Gives the times between frames until `end` is called. */
    frames: () => {
      const times = [];
      let isOver = false;
      const note = (time) => {
        times.push(time);
        if (!isOver) requestAnimationFrame(note);
      };
      requestAnimationFrame(note);
      globalThis.stopwatch.endOfFrames = () => {
        isOver = true;
        return times.slice(1).map((time, index) => time - times[index]);
      };
    },
  };
})();
