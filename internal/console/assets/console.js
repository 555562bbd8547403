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
      one.textContent = left === 0 ? "now" : "in " + words(left);
    });
    document.querySelectorAll("[data-since]").forEach((one) => {
      const past = Math.max(0, Math.floor((now - Date.parse(one.dataset.since)) / 1000));
      one.textContent = past < 60 ? past + " s" : words(past - past % 60);
    });
  };
  if (!Number.isNaN(at)) setInterval(tick, 1000);

  // Keys. They never do an act, and do nothing while somebody types.
  const typing = (e) => e.target.closest("input, textarea, select, [contenteditable]") || e.ctrlKey || e.metaKey || e.altKey;
  let chord = 0;
  document.addEventListener("keydown", (e) => {
    const box = document.querySelector(".search input");
    if (box && e.key === "k" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); box.focus(); return; }
    if (e.key === "Escape" && document.activeElement === box) box.blur();
    if (typing(e)) return;
    if (e.key === "/" && box) { e.preventDefault(); box.focus(); return; }
    if (e.key === "g") { chord = performance.now(); return; }
    if (performance.now() - chord < 1500) {
      chord = 0;
      const to = document.querySelector(`.side a[data-key="${CSS.escape(e.key)}"]`);
      if (to) to.click();
      return;
    }
    const rows = [...document.querySelectorAll("[data-row] a, tbody th a")];
    const here = rows.indexOf(document.activeElement);
    if (e.key === "j" && rows.length) rows[Math.min(here + 1, rows.length - 1)].focus();
    if (e.key === "k" && rows.length) rows[Math.max(here - 1, 0)].focus();
    if (e.key === "f") document.querySelector("form.filters input, form.filters select")?.focus();
    if (e.key === "c") document.querySelector("button[data-copy]")?.click();
  });
})();
