// Charts: shows the value at the pointer, or the one chosen with the arrow keys. If scripts are off, the table below a
// chart has the values.

const { lang } = document.documentElement;
const shortTime = new Intl.DateTimeFormat(lang === 'en' ? undefined : lang, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

// The formats of the labels of a time axis: weekday and hour if the axis has at most four days, otherwise the date.
const ofHours = new Intl.DateTimeFormat(lang === 'en' ? undefined : lang, {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const ofDays = new Intl.DateTimeFormat(lang === 'en' ? undefined : lang, { day: 'numeric', month: 'short' });
const FEW_DAYS_MS = 4 * 86_400_000;

function showLocalTimes(axis) {
  const labels = [...axis.querySelectorAll('[data-time]')];
  const times = labels.map(({ dataset }) => Number(dataset.time));
  const format = times.at(-1) - times[0] > FEW_DAYS_MS ? ofDays : ofHours;
  for (const [index, label] of labels.entries()) label.textContent = format.format(times[index]);
}

/** The texts of a chart's points. Times are in the visitor's time zone, with UTC beside them. */
function textsOf({ texts, from, step }) {
  return texts.split('\n').map((text, index) => {
    if (!from) return text;
    const [utc, ...value] = text.split(': ');
    const at = Number(from) + index * Number(step);
    return `${shortTime.format(at)} (${utc} UTC): ${value.join(': ')}`;
  });
}

function makeReadable(plot) {
  const texts = textsOf(plot.dataset);
  const isLine = plot.dataset.place === 'line';
  const last = texts.length - 1;
  const mark = plot.querySelector('.read');
  const reader = plot.querySelector('.chart-reader');
  const value = plot.querySelector('.chart-value');
  const hint = value.textContent;

  const hide = () => {
    value.classList.remove('reading');
    value.textContent = hint;
    mark.removeAttribute('width');
  };
  const read = (index) => {
    const column = 100 / texts.length;
    const middle = isLine ? (100 * index) / last || (last === 0 ? 50 : 0) : (index + 0.5) * column;
    mark.setAttribute('x', `${isLine ? middle : index * column}%`);
    mark.setAttribute('width', isLine ? '2' : `${column}%`);
    plot.style.setProperty('--at', `${middle}%`);
    value.classList.add('reading');
    value.textContent = texts[index];
    reader.value = index;
    // Screen readers read this text when the value of a range input changes.
    reader.setAttribute('aria-valuetext', texts[index]);
  };
  const readAt = ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    const share = Math.min(Math.max((clientX - left) / width, 0), 1);
    read(isLine ? Math.round(share * last) : Math.min(Math.floor(share * texts.length), last));
  };

  reader.value = last;
  reader.setAttribute('aria-valuetext', texts[last]);
  reader.hidden = false;
  reader.addEventListener('input', () => read(Number(reader.value)));
  reader.addEventListener('focus', () => read(Number(reader.value)));
  reader.addEventListener('blur', hide);
  plot.addEventListener('pointerdown', readAt);
  plot.addEventListener('pointermove', readAt);
  plot.addEventListener('pointerleave', ({ pointerType }) => {
    // If a finger is lifted, `pointerleave` is sent too: then the value stays visible.
    if (pointerType === 'mouse' && document.activeElement !== reader) hide();
  });
}

/** On a server's page: opens the panel of the address, for example `#latency`, by the radio button of its tab. */
function openPanel() {
  const figure = location.hash.slice(1);
  const tab = [...document.querySelectorAll('.figure-tabs input')].find(({ value }) => value === figure);
  if (!tab || tab.checked) return;
  tab.checked = true;
  document.getElementById('figures').scrollIntoView();
}

openPanel();
addEventListener('hashchange', openPanel);

for (const plot of document.querySelectorAll('.chart-plot')) makeReadable(plot);
for (const axis of document.querySelectorAll('.chart-times:has([data-time])')) showLocalTimes(axis);
