// The timeline's page: draws tracks of slices on a canvas. Times are in nanoseconds from the first event.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const [START, TOOK, NAME, CATEGORY, DEPTH, DETAILS] = [0, 1, 2, 3, 4, 5];
  const GUTTER = 190, RULER = 26, HEAD = 24, BAR = 20, PAD = 5, LEAST = 20;

  const chart = $("chart"), overview = $("overview"), tip = $("tip"), panel = $("panel");
  const text = (number) => data.strings[number];
  let end = 1;
  for (const track of data.tracks) {
    for (const s of track.slices) end = Math.max(end, s[START] + s[TOOK]);
    for (const m of track.moments) end = Math.max(end, m[0]);
  }

  // Where each track lies: a head before each process, devices first, since they are what one looks for.
  const order = data.tracks.map((_, i) => i);
  const rows = [];
  let height = RULER, last = null;
  for (const i of order) {
    const track = data.tracks[i];
    if (track.process !== last) {
      rows.push({ head: track.process, top: height });
      height += HEAD;
      last = track.process;
    }
    const levels = 1 + track.slices.reduce((most, s) => Math.max(most, s[DEPTH]), 0);
    // A level's slices do not overlap, so that those in view are found by halving.
    const byLevel = Array.from({ length: levels }, () => []);
    for (const s of track.slices) byLevel[s[DEPTH]].push(s);
    track.row = { track: i, top: height, height: levels * BAR + 2 * PAD, levels: byLevel };
    rows.push(track.row);
    height += track.row.height;
  }

  let view = { from: 0, to: end };
  let hover = null, selected = null, measure = null, found = null;

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  const hues = { kernel: 140, copy: 212, set: 265, api: 32, task: 350 };
  const colours = new Map();
  function colour(slice) {
    const key = slice[NAME] + "/" + slice[CATEGORY];
    let made = colours.get(key);
    if (!made) {
      let hash = 7;
      for (const c of text(slice[NAME])) hash = (hash * 31 + c.codePointAt(0)) % 9973;
      const spread = text(slice[CATEGORY]) === "api" ? 60 : 40;
      const hue = (hues[text(slice[CATEGORY])] ?? 0) + (hash % spread) - spread / 2;
      const light = (dark() ? 38 : 72) + (hash % 5) * 2 - 4;
      made = `hsl(${hue} ${dark() ? 45 : 62}% ${light}%)`;
      colours.set(key, made);
    }
    return made;
  }

  function time(ns) {
    const size = Math.abs(ns);
    const [value, unit] = size < 1e3 ? [ns, "ns"] : size < 1e6 ? [ns / 1e3, "us"] : size < 1e9 ? [ns / 1e6, "ms"] : [ns / 1e9, "s"];
    return `${+value.toPrecision(4)} ${unit}`;
  }

  const width = () => chart.clientWidth - GUTTER;
  const x = (at) => GUTTER + (at - view.from) / (view.to - view.from) * width();
  const at = (px) => view.from + (px - GUTTER) / width() * (view.to - view.from);

  function clamp(from, to) {
    const span = Math.min(Math.max(to - from, LEAST), end * 1.1);
    const start = Math.min(Math.max(from, -end * 0.05), end * 1.05 - span);
    return { from: start, to: start + span };
  }

  function show(from, to) {
    view = clamp(from, to);
    draw();
    history.replaceState(null, "", `#t=${Math.round(view.from)},${Math.round(view.to)}`);
  }

  function zoom(factor, around = (view.from + view.to) / 2) {
    show(around - (around - view.from) * factor, around + (view.to - around) * factor);
  }

  function sized(canvas, tall) {
    const scale = devicePixelRatio || 1, wide = canvas.clientWidth;
    if (canvas.width !== Math.round(wide * scale) || canvas.height !== Math.round(tall * scale)) {
      canvas.width = Math.round(wide * scale);
      canvas.height = Math.round(tall * scale);
      canvas.style.height = `${tall}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, wide, tall);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    return pen;
  }

  // The first slice of a level that ends after a time.
  function first(level, from) {
    let [low, high] = [0, level.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (level[middle][START] + level[middle][TOOK] < from) low = middle + 1; else high = middle;
    }
    return low;
  }

  function step(span, room) {
    const rough = span / Math.max(room / 110, 1), power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  }

  function draw() {
    const tall = Math.max(height + 12, $("scroll").clientHeight);
    const pen = sized(chart, tall), wide = chart.clientWidth;
    const top = $("scroll").scrollTop;
    const ink = { text: style("--text"), dim: style("--dim"), line: style("--line"), row: style("--row"), head: style("--head"), back: style("--back"), mark: style("--mark") };
    let drawn = 0;
    rows.forEach((row, i) => {
      if (row.head === undefined && i % 2) {
        pen.fillStyle = ink.row;
        pen.fillRect(0, row.top, wide, row.height);
      }
    });
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER, 0, wide - GUTTER, tall);
    pen.clip();
    ruler(pen, ink, tall, top);
    heads(pen, ink, wide);
    for (const row of rows) if (row.head === undefined) drawn += slices(pen, ink, row);
    arrows(pen, ink);
    if (measure) measured(pen, ink, tall, top);
    pen.restore();
    labels(pen, ink);
    overviewOf(ink);
    $("range").textContent = `${time(Math.max(view.from, 0))} to ${time(Math.min(view.to, end))} (${time(view.to - view.from)})`;
    document.body.dataset.drawn = drawn;
    document.body.dataset.view = `${Math.round(view.from)},${Math.round(view.to)}`;
  }

  function ruler(pen, ink, tall, top) {
    const unit = step(view.to - view.from, width());
    pen.strokeStyle = ink.line;
    pen.textAlign = "left";
    for (let tick = Math.ceil(view.from / unit) * unit; tick <= view.to; tick += unit) {
      const px = Math.round(x(tick)) + 0.5;
      pen.beginPath();
      pen.moveTo(px, 0);
      pen.lineTo(px, tall);
      pen.stroke();
      pen.fillStyle = ink.dim;
      pen.fillText(time(tick), px + 4, top + RULER / 2);
    }
  }

  function slices(pen, ink, row) {
    let drawn = 0;
    row.levels.forEach((level, depth) => {
      const y = row.top + PAD + depth * BAR;
      let reached = -1;
      for (let i = first(level, view.from); i < level.length && level[i][START] <= view.to; i++) {
        const s = level[i];
        const left = Math.max(x(s[START]), GUTTER - 2), right = Math.min(x(s[START] + s[TOOK]), GUTTER + width() + 2);
        // What falls into a pixel that is drawn already is not seen.
        if (right < reached + 0.5 && right - left < 1) continue;
        const wide = Math.max(right - left, 1);
        reached = left + wide;
        drawn++;
        pen.globalAlpha = found && !found.has(s[NAME]) ? 0.2 : 1;
        pen.fillStyle = colour(s);
        pen.fillRect(left, y, wide - (wide > 3 ? 0.5 : 0), BAR - 2);
        if (s === selected || s === hover) {
          pen.strokeStyle = s === selected ? ink.mark : ink.text;
          pen.lineWidth = s === selected ? 2 : 1;
          pen.strokeRect(left + 0.5, y + 0.5, wide - 1, BAR - 3);
          pen.lineWidth = 1;
        }
        if (wide > 24) {
          pen.fillStyle = ink.text;
          pen.textAlign = "left";
          pen.fillText(fitted(pen, text(s[NAME]), wide - 8), left + 4, y + BAR / 2 - 1);
        }
      }
    });
    pen.globalAlpha = 1;
    pen.fillStyle = ink.dim;
    for (const [when] of data.tracks[row.track].moments) {
      const px = x(when), low = row.top + row.height - PAD + 3;
      if (px < GUTTER || px > GUTTER + width()) continue;
      pen.beginPath();
      pen.moveTo(px, low - 7);
      pen.lineTo(px - 4, low);
      pen.lineTo(px + 4, low);
      pen.fill();
    }
    return drawn;
  }

  const widths = new Map();
  function fitted(pen, words, room) {
    const size = (part) => {
      if (!widths.has(part)) widths.set(part, pen.measureText(part).width);
      return widths.get(part);
    };
    if (size(words) <= room) return words;
    const count = Math.floor(words.length * room / size(words)) - 1;
    return count > 1 ? words.slice(0, count) + "…" : "";
  }

  // Arrows that have an end in the slice.
  function arrowsOf(slice) {
    const owner = data.tracks.findIndex((track) => track.slices.includes(slice));
    const within = (track, when) => track === owner && when >= slice[START] && when <= slice[START] + slice[TOOK];
    const device = data.tracks[owner]?.device;
    return data.arrows.filter(([from, left, to, reached]) => device ? to === owner && reached === slice[START] : within(from, left));
  }

  function arrows(pen, ink) {
    const few = selected ? arrowsOf(selected) : hover ? arrowsOf(hover) : [];
    pen.strokeStyle = pen.fillStyle = ink.mark;
    for (const [from, left, to, reached] of few) {
      const [a, b] = [data.tracks[from].row, data.tracks[to].row];
      const [x1, x2] = [x(left), x(reached)];
      const down = b.top > a.top;
      const [y1, y2] = [down ? a.top + a.height - PAD : a.top + PAD, down ? b.top + PAD : b.top + b.height - PAD];
      const bend = Math.max(Math.abs(y2 - y1) / 2, 12) * (down ? 1 : -1);
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x2, y2);
      pen.lineTo(x2 - 4, y2 - (down ? 7 : -7));
      pen.lineTo(x2 + 4, y2 - (down ? 7 : -7));
      pen.fill();
    }
    pen.lineWidth = 1;
  }

  function measured(pen, ink, tall, top) {
    const [a, b] = [Math.min(measure.from, measure.to), Math.max(measure.from, measure.to)];
    pen.fillStyle = ink.mark;
    pen.globalAlpha = 0.15;
    pen.fillRect(x(a), 0, x(b) - x(a), tall);
    pen.globalAlpha = 1;
    pen.textAlign = "center";
    pen.fillText(time(b - a), (x(a) + x(b)) / 2, top + RULER + 10);
    pen.textAlign = "left";
  }

  function heads(pen, ink, wide) {
    pen.fillStyle = ink.head;
    for (const row of rows) if (row.head !== undefined) pen.fillRect(0, row.top, wide, HEAD);
  }

  function labels(pen, ink) {
    const wide = chart.clientWidth;
    pen.textAlign = "left";
    pen.fillStyle = ink.text;
    for (const row of rows) {
      if (row.head === undefined) {
        pen.fillText(fitted(pen, data.tracks[row.track].name, GUTTER - 30), 20, row.top + row.height / 2);
        pen.fillRect(GUTTER - 1, row.top, 0.5, row.height);
      } else {
        pen.fillStyle = ink.head;
        pen.fillRect(0, row.top, GUTTER, HEAD);
        pen.fillStyle = ink.text;
        pen.font = "600 12px system-ui, sans-serif";
        pen.fillText(row.head, 10, row.top + HEAD / 2, wide - 20);
        pen.font = "12px system-ui, sans-serif";
      }
    }
  }

  // How busy each track is, over all the time.
  let density = null;
  function overviewOf(ink) {
    const pen = sized(overview, 44), room = width();
    const count = Math.max(Math.floor(room / 2), 1);
    if (!density || density[0]?.length !== count) {
      density = data.tracks.map((track) => {
        const parts = new Float64Array(count);
        for (const s of track.row.levels[0]) {
          const [a, b] = [s[START] / end * count, (s[START] + s[TOOK]) / end * count];
          for (let i = Math.floor(a); i < Math.min(Math.ceil(b) || 1, count); i++) {
            parts[i] += Math.max(Math.min(b, i + 1) - Math.max(a, i), 0.05);
          }
        }
        return parts;
      });
    }
    const tall = 36 / Math.max(data.tracks.length, 1);
    density.forEach((parts, i) => {
      pen.fillStyle = data.tracks[i].device ? "#2da44e" : "#d29922";
      parts.forEach((part, j) => {
        if (part === 0) return;
        pen.globalAlpha = 0.25 + 0.75 * Math.min(part, 1);
        pen.fillRect(GUTTER + j * 2, 4 + i * tall, 2, Math.max(tall - 1, 1));
      });
    });
    pen.globalAlpha = 1;
    const place = (when) => GUTTER + Math.min(Math.max(when / end, 0), 1) * room;
    pen.strokeStyle = ink.mark;
    pen.strokeRect(place(view.from) + 0.5, 1.5, Math.max(place(view.to) - place(view.from) - 1, 2), 41);
    pen.fillStyle = ink.dim;
    pen.fillText(`all: ${time(end)}`, 10, 22);
  }

  function under(event) {
    const box = chart.getBoundingClientRect(), [px, py] = [event.clientX - box.left, event.clientY - box.top];
    if (px < GUTTER) return null;
    const row = rows.find((row) => row.head === undefined && py >= row.top && py < row.top + row.height);
    const level = row?.levels[Math.floor((py - row.top - PAD) / BAR)];
    if (!level) return null;
    const slack = 2 * (view.to - view.from) / width(), when = at(px);
    let best = null;
    for (let i = first(level, when - slack); i < level.length && level[i][START] <= when + slack; i++) {
      const s = level[i];
      if (when >= s[START] && when <= s[START] + s[TOOK]) return s;
      best = best ?? s;
    }
    return best;
  }

  const details = (s) => {
    const list = [["begins", time(s[START])], ["takes", time(s[TOOK])]];
    for (let i = 0; i < s[DETAILS].length; i += 2) list.push([text(s[DETAILS][i]), text(s[DETAILS][i + 1])]);
    return list;
  };

  function element(name, words) {
    const made = document.createElement(name);
    made.textContent = words;
    return made;
  }

  function tell(event, s) {
    tip.hidden = !s;
    if (!s) return;
    tip.replaceChildren(element("b", text(s[NAME])), ...details(s).slice(1, 9).map(([name, value]) => element("div", `${name}: ${value}`)));
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
  }

  function select(s) {
    selected = s;
    if (s) {
      const list = document.createElement("dl");
      for (const [name, value] of details(s)) list.append(element("dt", name), element("dd", value));
      panel.replaceChildren(element("b", text(s[NAME])), list);
    }
    draw();
  }

  let drag = null;
  chart.addEventListener("pointerdown", (event) => {
    const px = event.clientX - chart.getBoundingClientRect().left;
    chart.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, y: event.clientY, view, top: $("scroll").scrollTop, moved: false, measures: event.shiftKey };
    if (event.shiftKey) measure = { from: at(px), to: at(px) };
  });
  chart.addEventListener("pointermove", (event) => {
    if (!drag) {
      const s = under(event);
      tell(event, s);
      if (s !== hover) { hover = s; draw(); }
      return;
    }
    const moved = event.clientX - drag.x;
    drag.moved ||= Math.abs(moved) + Math.abs(event.clientY - drag.y) > 3;
    if (!drag.moved) return;
    tip.hidden = true;
    if (drag.measures) {
      measure.to = at(event.clientX - chart.getBoundingClientRect().left);
      draw();
    } else {
      chart.classList.add("drag");
      const by = moved / width() * (drag.view.to - drag.view.from);
      $("scroll").scrollTop = drag.top - (event.clientY - drag.y);
      show(drag.view.from - by, drag.view.to - by);
    }
  });
  chart.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) { measure = null; select(under(event)); }
    drag = null;
    chart.classList.remove("drag");
  });
  chart.addEventListener("pointerleave", () => { tip.hidden = true; if (hover) { hover = null; draw(); } });
  chart.addEventListener("dblclick", (event) => {
    const s = under(event);
    if (s) show(s[START] - s[TOOK] * 0.2, s[START] + s[TOOK] * 1.2);
  });
  chart.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = (event.deltaX || event.deltaY) / width() * (view.to - view.from);
      show(view.from + by, view.to + by);
    } else {
      zoom(1.0015 ** event.deltaY, at(event.clientX - chart.getBoundingClientRect().left));
    }
  }, { passive: false });

  let pans = false;
  const center = (event) => {
    const when = (event.clientX - overview.getBoundingClientRect().left - GUTTER) / width() * end, half = (view.to - view.from) / 2;
    show(when - half, when + half);
  };
  overview.addEventListener("pointerdown", (event) => { pans = true; overview.setPointerCapture(event.pointerId); center(event); });
  overview.addEventListener("pointermove", (event) => { if (pans) center(event); });
  overview.addEventListener("pointerup", () => { pans = false; });

  addEventListener("keydown", (event) => {
    if (event.target === $("search")) {
      if (event.key === "Escape") { event.target.value = ""; find(); event.target.blur(); }
      return;
    }
    const by = (view.to - view.from) * 0.2;
    const act = {
      w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => show(view.from - by, view.to - by), d: () => show(view.from + by, view.to + by),
      ArrowLeft: () => show(view.from - by, view.to - by), ArrowRight: () => show(view.from + by, view.to + by),
      0: () => show(0, end), Escape: () => { measure = null; select(null); }, "/": () => { event.preventDefault(); $("search").focus(); },
    }[event.key];
    if (act && !event.ctrlKey && !event.metaKey) act();
  });
  $("fit").onclick = () => show(0, end);
  $("in").onclick = () => zoom(0.5);
  $("out").onclick = () => zoom(2);

  function find() {
    const wanted = $("search").value.trim().toLowerCase();
    found = wanted ? new Set(data.strings.flatMap((name, i) => name.toLowerCase().includes(wanted) ? [i] : [])) : null;
    const count = found ? data.tracks.reduce((sum, track) => sum + track.slices.filter((s) => found.has(s[NAME])).length, 0) : 0;
    $("hits").textContent = found ? `${count} found` : "";
    draw();
  }
  $("search").addEventListener("input", find);
  $("scroll").addEventListener("scroll", draw);
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours.clear(); draw(); });

  const asked = /^#t=(-?\d+),(-?\d+)$/.exec(location.hash);
  if (asked) view = clamp(+asked[1], +asked[2]);
  document.body.dataset.slices = data.tracks.reduce((sum, track) => sum + track.slices.length, 0);
  draw();
})();
