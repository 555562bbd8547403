// What the console's pages do with JavaScript, beside htmx. Each page works without it.
"use strict";
(() => {
  // Copying a reference. The button says so for two seconds.
  document.addEventListener("click", (e) => {
    const button = e.target.closest("button[data-copy]");
    if (!button) return;
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      const word = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = word; }, 2000);
    });
  });

  // A form that has been sent is not sent again. The number in the form is the guard; this is courtesy.
  document.addEventListener("submit", (e) => {
    if (e.target.method !== "post") return;
    setTimeout(() => e.target.querySelectorAll("button").forEach((b) => { b.disabled = true; }), 0);
  });
  window.addEventListener("pageshow", () => document.querySelectorAll("form button[disabled]").forEach((b) => { b.disabled = false; }));
  // Back to a review asks the server whether it was sent meanwhile. The browser may have kept the page as it was.
  window.addEventListener("pageshow", (e) => { if (e.persisted && document.querySelector("[data-once]")) location.reload(); });

  // Countdowns. They count from the server's time, because the clock of this machine may be wrong.
  const began = performance.now();
  const at = Date.parse(document.documentElement.dataset.now);
  const words = (s) => s < 60 ? s + " s" : s < 3600 ? Math.floor(s / 60) + " min" + (s % 60 ? " " + s % 60 + " s" : "")
    : s < 86400 ? Math.floor(s / 3600) + " h" + (Math.floor(s % 3600 / 60) ? " " + Math.floor(s % 3600 / 60) + " min" : "")
    : Math.floor(s / 86400) + " d" + (Math.floor(s % 86400 / 3600) ? " " + Math.floor(s % 86400 / 3600) + " h" : "");
  const tick = () => {
    const now = at + performance.now() - began;
    document.querySelectorAll("[data-until]").forEach((one) => {
      const left = Math.max(0, Math.round((Date.parse(one.dataset.until) - now) / 1000));
      if (left === 0 && one.textContent !== "now" && one.closest("main .clock")) setTimeout(reload, 3000);
      one.textContent = left === 0 ? "now" : "in " + words(left);
    });
    document.querySelectorAll("[data-since]").forEach((one) => {
      const past = Math.max(0, Math.floor((now - Date.parse(one.dataset.since)) / 1000));
      one.textContent = past < 60 ? past + " s" : words(past - past % 60);
    });
  };
  if (!Number.isNaN(at)) setInterval(tick, 1000);

  // A page that waits for something loads its main part again when its stream says so, and when a
  // countdown is over. It does not while somebody reads closely: with a selection, an open menu or focus in
  // a form. One stream is open, and none while the tab is hidden.
  // A refused form is shown on its page, at the address to which it was sent. The page says its own address then.
  const page = document.getElementById("main").dataset.page || location.pathname + location.search;
  let source = null, paused = false, due = false, loaded = performance.now();

  // A stream that cannot be had is replaced by asking every ten seconds. A page whose question fails too is old. A stream ends by
  // itself after 50 seconds, so one of a minute has died.
  let opened = 0, heard = performance.now(), fresh = heard, asked = heard;
  const isCut = () => performance.now() - heard > 5000;
  const isOld = () => isCut() && performance.now() - fresh > 30000;
  const clock = (then) => new Date(at + then - began + 3600000).toISOString().slice(11, 19);
  const utc = (then) => new Date(at + then - began).toISOString();
  let changed = null; // when the page was last seen to have changed
  const watch = () => {
    const now = performance.now();
    if (paused || document.hidden || !document.querySelector("[data-live]")) { heard = now; return; }
    if (source?.readyState === EventSource.OPEN && now - opened < 60000) heard = fresh = now;
    if (now - asked >= 10000 && (isCut() || document.querySelector("main [data-asks]"))) {
      asked = now;
      if (isCut()) {
        source?.close();
        source = null;
        listen();
      }
      reload();
    }
    sign();
  };
  document.addEventListener("htmx:afterSwap", () => { fresh = performance.now(); });
  const busy = () => paused || document.hidden || String(getSelection()) !== "" || document.querySelector("main details[open]:not(.filters)")
    || document.activeElement?.closest("main form");
  const sign = () => {
    const one = document.querySelector("[data-live]");
    if (!one) return;
    const word = one.querySelector("[data-live-word]");
    const cut = "Not live since " + clock(heard);
    word.textContent = paused ? "Paused" : due ? "Out of date" : isOld() ? cut + ", old since " + clock(fresh) : isCut() ? cut + ", asks every 10 s" : "Live";
    const when = one.querySelector("[data-live-at]");
    if (changed !== null) {
      when.textContent = "changed " + clock(changed);
      when.dateTime = utc(changed);
      when.title = utc(changed).replace("T", " ").slice(0, 19) + " UTC";
    }
    one.classList.toggle("late", paused || due || isCut());
    one.querySelector("[data-live-pause]").textContent = paused ? "Go on" : "Pause";
  };
  // The words of the page without those that go on by themselves.
  const content = () => {
    const copy = document.getElementById("main").cloneNode(true);
    copy.querySelectorAll("[data-until], [data-since], [data-live]").forEach((one) => one.remove());
    return copy.textContent;
  };
  const reload = () => {
    due = true;
    if (busy() || performance.now() - loaded < 1000) return sign();
    due = false;
    loaded = performance.now();
    const before = document.querySelector("main h1 ~ .chip")?.textContent, was = content();
    const held = document.activeElement?.closest("main a[href], main [data-live-pause]");
    const again = held && (held.matches("a") ? `main a[href="${CSS.escape(held.getAttribute("href"))}"]` : "main [data-live-pause]");
    htmx.ajax("GET", page, { target: "#main", select: "#main", swap: "outerHTML" }).then(() => {
      if (content() !== was) changed = performance.now();
      const after = document.querySelector("main h1 ~ .chip");
      if (after && after.textContent !== before) {
        after.classList.add("flash");
        document.getElementById("said").textContent = document.querySelector("main h1").textContent + ": " + after.textContent;
      }
      if (again && document.activeElement === document.body) document.querySelector(again)?.focus();
      listen();
    });
  };
  // New rows of a list do not push the others. Their number stands above, as a link that loads them.
  const newer = (n) => {
    const bar = document.querySelector("[data-newer]");
    if (!bar) return;
    bar.hidden = n === "0";
    bar.querySelector("a").textContent = n === "" ? "The list has other rows now" : n + " newer";
  };
  const listen = () => {
    const one = document.querySelector("[data-live]");
    if (one) one.hidden = false;
    sign();
    const wanted = one?.dataset.live || document.querySelector("[data-newer]")?.dataset.newer;
    const address = wanted && !paused && !document.hidden ? wanted : null;
    if (source && source.address === address) return;
    source?.close();
    source = null;
    if (!address) return;
    source = new EventSource(address);
    source.address = address;
    source.addEventListener("open", () => { opened = performance.now(); });
    source.addEventListener("changed", reload);
    source.addEventListener("newer", (e) => newer(e.data));
  };
  document.addEventListener("visibilitychange", listen);
  document.addEventListener("click", (e) => {
    if (!e.target.closest("[data-live-pause]")) return;
    paused = !paused;
    listen();
    if (!paused && due) reload();
  });
  setInterval(() => { if (due) reload(); watch(); }, 1000);
  document.addEventListener("DOMContentLoaded", listen);

  // Keys. They never do an act, and do nothing while somebody types.
  const typing = (e) => e.target.closest("input, textarea, select, [contenteditable]") || e.ctrlKey || e.metaKey || e.altKey;
  const help = document.getElementById("keys"), on = document.getElementById("keys-on");
  const off = () => localStorage.getItem("keys") === "off"; // of this browser
  if (help) {
    on.checked = !off();
    on.addEventListener("change", () => { localStorage.setItem("keys", on.checked ? "on" : "off"); });
    const open = document.querySelector("[data-keys]");
    open.hidden = false;
    open.addEventListener("click", () => help.showModal());
    help.querySelector("[data-close]").addEventListener("click", () => help.close());
  }
  // A page with a secret is shown once. A browser that has kept it shows what the program answers now.
  addEventListener("pageshow", (e) => { if (e.persisted && document.querySelector("[data-once]")) location.reload(); });
  let chord = -Infinity;
  document.addEventListener("keydown", (e) => {
    const box = document.querySelector(".search input[type=search]");
    if (box && e.key === "k" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); box.focus(); return; }
    if (e.key === "Escape" && document.activeElement === box) box.blur();
    if (typing(e) || off() || help?.open) return;
    if (e.key === "?") { help?.showModal(); return; }
    if (e.key === "/" && box) { e.preventDefault(); box.focus(); return; }
    if (e.key === "g") { chord = performance.now(); return; }
    if (performance.now() - chord < 1500) {
      chord = -Infinity;
      const to = document.querySelector(`.side a[data-key="${CSS.escape(e.key)}"]`);
      if (to) to.click();
      return;
    }
    const rows = [...document.querySelectorAll("[data-row] a, tbody th a")];
    const here = rows.indexOf(document.activeElement);
    if (e.key === "j" && rows.length) rows[Math.min(here + 1, rows.length - 1)].focus();
    if (e.key === "k" && rows.length) rows[Math.max(here - 1, 0)].focus();
    if (e.key === "f") { const d = document.querySelector("details.filters"); if (d) d.open = true; document.querySelector("form.filters select, form.filters input")?.focus(); e.preventDefault(); }
    if (e.key === ".") document.querySelector("[data-live-pause]")?.click();
    if (e.key === "c") document.querySelector("button[data-copy]")?.click();
  });
})();
