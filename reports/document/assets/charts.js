
"use strict";
(() => {
  const drawn = [];
  const style = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (value) => {
    if (value === 0) return "0";
    const size = Math.abs(value);
    const prefixes = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e4, " k", 1e3]];
    for (const [least, prefix, unit] of prefixes) {
      if (size >= least) return String(+(value / (unit || least)).toPrecision(3)) + prefix;
    }
    return String(+value.toPrecision(4));
  };
  // The same of a size, whose prefixes are powers of 1024.
  const size_number = (value) => {
    const power = Math.min(4, Math.floor(Math.log2(Math.max(1, value)) / 10));
    const text = String(+(value / 1024 ** power).toPrecision(4));
    return power === 0 ? text : `${text} ${"KMGT"[power - 1]}i`;
  };
  // A logarithmic axis of base 2 is a linear one of logarithms.
  const scaled = (value, logarithmic) =>
    value === null ? null : logarithmic ? Math.log2(value) : value;
  // 1, 2 and 5 times powers of ten from one to the other; over many decades the powers alone.
  const round_numbers = (least, most) => {
    const steps = Math.log10(most / least) > 4 ? [1] : [1, 2, 5];
    const numbers = [];
    for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; ++power) {
      numbers.push(...steps.map((step) => step * 10 ** power));
    }
    return numbers.filter((value) => value >= least && value <= most);
  };
  const axis = (title, logarithmic, written = number) => ({
    type: "linear",
    title: { display: title !== "", text: title, color: style("--soft") },
    grid: { color: style("--rule"), borderColor: style("--rule") },
    ticks: {
      color: style("--soft"),
      maxRotation: 0,
      ...(logarithmic ? { stepSize: 1, autoSkip: true } : {}),
      // Twelve digits: 2 to the power of a logarithm is a little off.
      callback: (value) => written(logarithmic ? +(2 ** value).toPrecision(12) : value),
    },
  });
  const common = (legend) => ({
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    plugins: {
      legend: {
        display: legend,
        position: "bottom",
        labels: {
          color: style("--ink"),
          boxWidth: 14,
          filter: (item, data) => !data.datasets[item.datasetIndex].unnamed,
        },
      },
    },
  });

  function lines(spec) {
    const options = common(true);
    options.interaction = { mode: "index", intersect: false };
    const x_number = spec.binary_x ? size_number : number;
    options.scales = {
      x: axis(spec.x_title, spec.logarithmic_x, x_number),
      y: axis(spec.y_title, spec.logarithmic_y),
    };
    Object.assign(options.plugins.legend.labels, { usePointStyle: true, boxHeight: 7 });
    if (spec.logarithmic_y) {
      options.scales.y.ticks.autoSkip = false;
      options.scales.y.afterBuildTicks = (scale) => {
        const values = round_numbers(2 ** scale.min, 2 ** scale.max);
        if (values.length > 1) scale.ticks = values.map((value) => ({ value: Math.log2(value) }));
      };
    } else {
      options.scales.y.beginAtZero = spec.from_zero;
    }
    options.plugins.tooltip = {
      filter: (item) => !item.dataset.unnamed,
      callbacks: {
        title: (items) => items.length
          ? `${spec.x_title}: ${x_number(spec.x[items[0].dataIndex])}` : "",
        label: (item) => `${item.dataset.label}: ${
          number(spec.series[item.datasetIndex].values[item.dataIndex])}`,
      },
    };
    let isInBand = false;
    const datasets = spec.series.map((series) => {
      const colour = style(`--series-${series.colour % 14 + 1}`);
      const isPoints = series.style === "points";
      const isLow = series.style === "band_low";
      const isHigh = isInBand;
      isInBand = isLow;
      return {
        label: series.name,
        unnamed: isLow || isHigh,
        data: series.values.map((value, i) => ({
          x: scaled(spec.x[i], spec.logarithmic_x),
          y: scaled(value, spec.logarithmic_y),
        })),
        borderColor: isLow || isHigh ? "transparent" : colour,
        backgroundColor: isHigh ? colour + "33" : colour,
        fill: isHigh ? "-1" : false,
        borderDash: series.style === "dashed" ? [6, 5] : [],
        borderWidth: 2,
        showLine: !isPoints,
        pointStyle: isPoints ? "rectRot" : series.style === "dashed" ? "line" : "circle",
        pointRadius: isPoints ? 6 : isLow || isHigh || series.style === "dashed" ? 0 : 3,
        spanGaps: true,
      };
    });
    return { type: "line", data: { datasets }, options };
  }

  // A line across all bars, with its name.
  const limit = (series) => ({
    id: "limit",
    afterDatasetsDraw: (chart) => {
      const { ctx, chartArea, scales } = chart;
      const x = scales.x.getPixelForValue(series.values[0]);
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = style("--ink");
      ctx.setLineDash([6, 5]);
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.font = "12px system-ui, sans-serif";
      ctx.textAlign = x > (chartArea.left + chartArea.right) / 2 ? "right" : "left";
      ctx.fillText(series.name, x, chartArea.top - 4);
      ctx.restore();
    },
  });

  // A label in lines of at most 18 characters, for phones.
  const broken = (label) => label.split(" ").reduce((lines, word) => {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + word.length < 18) {
      lines[lines.length - 1] = last + " " + word;
    } else {
      lines.push(word);
    }
    return lines;
  }, []);

  function bars(spec) {
    const stacked = spec.kind === "stacked_bars";
    const parts = spec.series.filter((series) => series.style !== "dashed");
    const limits = spec.series.filter((series) => series.style === "dashed");
    const options = common(stacked);
    options.indexAxis = "y";
    options.scales = { x: axis(spec.x_title, false), y: axis(spec.y_title, false) };
    options.scales.x.stacked = options.scales.y.stacked = stacked;
    options.scales.x.suggestedMax = Math.max(0, ...limits.map((series) => series.values[0])) * 1.02;
    if (spec.x_title.startsWith("% of")) {
      const lengths = spec.labels.map((unused, i) =>
        (stacked ? parts : parts.slice(0, 1)).reduce((sum, one) => sum + (one.values[i] || 0), 0));
      // Shares of a whole are shown beside the whole, unless nothing could be seen of them.
      if (Math.max(...lengths) >= 20) options.scales.x.max = 100;
      else options.scales.x.title.text += ", the axis ends behind the longest bar";
    }
    options.scales.y.type = "category";
    options.scales.y.ticks = {
      color: style("--soft"),
      autoSkip: false,
      callback: (unused, index) =>
        innerWidth < 600 ? broken(spec.labels[index]) : spec.labels[index],
    };
    options.scales.y.grid = { display: false };
    options.layout = { padding: { top: limits.length ? 18 : 0 } };
    options.interaction = { mode: "index", axis: "y", intersect: false };
    options.plugins.tooltip = {
      callbacks: {
        label: (item) => `${item.dataset.label}: ${number(item.raw)} ${spec.x_title}`,
      },
    };
    const datasets = parts.map((series) => ({
      label: series.name,
      data: series.values,
      backgroundColor: style(`--series-${series.colour % 14 + 1}`),
      barPercentage: 0.85,
    }));
    return {
      type: "bar",
      data: { labels: spec.labels, datasets },
      options,
      plugins: limits.map(limit),
    };
  }

  function draw(canvas, spec) {
    const chart = new Chart(canvas, spec.kind === "lines" ? lines(spec) : bars(spec));
    chart.shownIndex = -1;
    return chart;
  }

  function show(chart, index) {
    const items = chart.data.datasets.map((unused, i) => ({ datasetIndex: i, index }));
    chart.shownIndex = index;
    chart.setActiveElements(items);
    chart.tooltip.setActiveElements(items, { x: 0, y: 0 });
    chart.update();
  }

  function on_key(event) {
    const entry = drawn.find((one) => one.canvas === event.target);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!entry || !step) return;
    event.preventDefault();
    const count = entry.chart.data.datasets[0].data.length;
    show(entry.chart, (entry.chart.shownIndex + step + count) % count);
  }

  function draw_all() {
    for (const entry of drawn) {
      if (entry.chart) entry.chart.destroy();
      entry.chart = draw(entry.canvas, entry.spec);
    }
  }

  for (const data of document.querySelectorAll("script[data-chart]")) {
    const canvas = document.getElementById(data.dataset.chart);
    canvas.addEventListener("keydown", on_key);
    drawn.push({ canvas, spec: JSON.parse(data.textContent) });
  }
  draw_all();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw_all);
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    draw_all();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    draw_all();
  });
})();
