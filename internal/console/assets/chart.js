// The charts. Each is drawn from the table beside it, so that both always agree. Without JavaScript the
// tables are there.
"use strict";
(() => {
  const lagos = 3600; // Nigeria has no summer time
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const tones = ["--accent", "--reversed", "--ok", "--unknown", "--idle"];
  const short = (n) => n >= 1e9 ? +(n / 1e9).toFixed(1) + "bn" : n >= 1e6 ? +(n / 1e6).toFixed(1) + "m" : n >= 1e3 ? +(n / 1e3).toFixed(1) + "k" : String(n);

  const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const label = (at, days) => days ? at.getUTCDate() + " " + months[at.getUTCMonth()] : at.toISOString().slice(11, 16);

  const read = (figure) => {
    const rows = [...figure.querySelectorAll("tbody tr")];
    return {
      at: rows.map((r) => Number(r.querySelector("th").dataset.at)),
      running: rows.findIndex((r) => "running" in r.querySelector("th").dataset),
      series: [...figure.querySelectorAll("thead th")].slice(1).map((head, i) => ({
        name: head.textContent.trim(), draw: head.dataset.draw,
        values: rows.map((r) => Number(r.querySelectorAll("td")[i].dataset.value)),
        links: rows.map((r) => r.querySelectorAll("td")[i].querySelector("a[href]")?.href),
      })),
    };
  };

  // Bars are drawn by hand. The running hour or day is lighter, and nothing happened is a gap. A sum below
  // zero is a bar downwards.
  const bars = (data, tone, base, tops) => (u, from, low, high) => {
    const least = 2 * devicePixelRatio, width = Math.max(least, Math.abs(u.valToPos(data.at[0] + data.step, "x", true) - u.valToPos(data.at[0], "x", true)) * 0.72);
    for (let i = low; i <= high; i++) {
      if (tops[i] === base[i]) continue;
      const x = u.valToPos(data.at[i], "x", true), top = u.valToPos(Math.max(tops[i], base[i]), "y", true), foot = u.valToPos(Math.min(tops[i], base[i]), "y", true);
      u.ctx.globalAlpha = i === data.running ? 0.45 : 1;
      u.ctx.fillStyle = tone;
      u.ctx.fillRect(Math.round(x - width / 2), Math.round(Math.min(top, foot - least)), Math.round(width), Math.max(least, Math.round(foot - top)));
    }
    u.ctx.globalAlpha = 1;
    return null;
  };

  // linkAt returns the address of the bar below a pointer: that of the cell of the table. Between bars of a stack and on a
  // bar that is only some points high, the nearest bar of the hour counts.
  const linkAt = (u, data, tops, event) => {
    const box = u.over.getBoundingClientRect(), x = u.posToVal(event.clientX - box.left, "x"), y = u.posToVal(event.clientY - box.top, "y");
    const i = Math.round((x - data.at[0]) / data.step);
    let best, far = Infinity;
    data.series.forEach((s, k) => {
      const [foot, top] = tops[k] ? [tops[k].base[i], tops[k].tops[i]] : [];
      if (!s.links[i] || foot === undefined || foot === top) return;
      const away = Math.max(Math.min(foot, top) - y, y - Math.max(foot, top), 0);
      if (away < far) [best, far] = [s.links[i], away];
    });
    return best;
  };

  const draw = (figure) => {
    const box = figure.querySelector("[data-canvas]"), data = read(figure);
    const naira = figure.dataset.plot === "naira", days = figure.dataset.step === "day";
    data.step = days ? 86400 : 3600;
    box.replaceChildren();
    if (data.at.length === 0 || data.series.length === 0 || figure.clientWidth === 0) return;
    const series = [{}], values = [data.at], drawn = [];
    let below = data.at.map(() => 0);
    data.series.forEach((s, i) => {
      const tone = colour(s.draw === "line" ? "--muted" : tones[i % tones.length]);
      const tops = s.draw === "stack" ? s.values.map((n, k) => n + below[k]) : s.values;
      const base = s.draw === "stack" ? below : data.at.map(() => 0);
      drawn.push(s.draw === "line" ? undefined : { base, tops });
      series.push(s.draw === "line"
        ? { label: s.name, stroke: tone, width: 1, points: { show: false } }
        : { label: s.name, stroke: tone, fill: tone, points: { show: false }, paths: bars(data, tone, base, tops) });
      values.push(s.draw === "line" ? tops.map((n) => n || null) : tops);
      if (s.draw === "stack") below = tops;
    });
    const axis = { stroke: colour("--muted"), font: "12px system-ui, sans-serif", grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const plot = new uPlot({
      width: figure.clientWidth, height: 150, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: () => [data.at[0] - data.step / 2, data.at[data.at.length - 1] + data.step / 2] }, y: { range: (u, low, high) => [Math.min(low, 0) * 1.05, Math.max(high, 1) * 1.05] } },
      axes: [
        { ...axis, size: 24, grid: { show: false },
          splits: () => data.at.filter((t, i) => days ? i % Math.ceil(data.at.length * 56 / figure.clientWidth) === 0 : ((t + lagos) / 3600) % 6 === 0),
          values: (u, ts) => ts.map((t) => label(new Date((t + lagos) * 1000), days)) },
        { ...axis, size: naira ? 64 : 40, incrs: naira ? undefined : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10000, 100000],
          values: (u, ns) => ns.map((n) => (n < 0 ? "−" : "") + (naira ? "₦" : "") + short(Math.abs(n))) },
      ],
      series,
    }, values, box);
    plot.over.addEventListener("mousemove", (event) => plot.over.classList.toggle("leads", Boolean(linkAt(plot, data, drawn, event))));
    plot.over.addEventListener("click", (event) => {
      const to = linkAt(plot, data, drawn, event);
      if (to) location.assign(to);
    });
    figure.querySelector(".keys")?.remove();
    if (data.series.length > 1 || data.series[0].draw === "stack") {
      const keys = document.createElement("ul");
      keys.className = "keys small muted";
      data.series.forEach((s, i) => {
        const one = document.createElement("li"), mark = document.createElement("span");
        mark.className = s.draw === "line" ? "key line" : "key";
        mark.style.setProperty("background", colour(s.draw === "line" ? "--muted" : tones[i % tones.length]));
        one.append(mark, s.name);
        keys.append(one);
      });
      box.after(keys);
    }
  };

  const all = () => document.querySelectorAll("[data-plot]").forEach(draw);
  let wait = 0;
  addEventListener("resize", () => { clearTimeout(wait); wait = setTimeout(all, 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  document.addEventListener("htmx:afterSettle", all);
  all();
})();
