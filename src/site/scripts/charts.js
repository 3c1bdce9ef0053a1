// Charts: shows the value under the pointer or the finger, and at the arrow keys. Without this script, a chart has the
// browser's tooltips and a table.

const { lang } = document.documentElement;
const shortTime = new Intl.DateTimeFormat(lang === 'en' ? undefined : lang, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** The text of a tip. If it has a time: in the visitor's time zone, with UTC beside it. */
function textOf(tip) {
  const text = tip.querySelector('title').textContent;
  if (!tip.dataset.at) return text;
  const [utc, ...value] = text.split(': ');
  return `${shortTime.format(Number(tip.dataset.at))} (${utc} UTC): ${value.join(': ')}`;
}

function makeReadable(plot) {
  const tips = [...plot.querySelectorAll('.tips rect')];
  const texts = tips.map(textOf);
  const reader = plot.querySelector('.chart-reader');
  const value = plot.querySelector('.chart-value');
  const hint = value.textContent;

  const read = (index) => {
    plot.querySelector('.tips .read')?.classList.remove('read');
    const tip = tips[index];
    value.classList.toggle('reading', tip !== undefined);
    value.textContent = texts[index] ?? hint;
    if (!tip) return;
    tip.classList.add('read');
    const middle = tip.x.baseVal.valueInSpecifiedUnits + tip.width.baseVal.valueInSpecifiedUnits / 2;
    plot.style.setProperty('--at', `${middle}%`);
    reader.value = index;
    // Screen readers read the text of a range input when its value changes.
    reader.setAttribute('aria-valuetext', texts[index]);
  };

  // Otherwise the browser would show its own tooltip too.
  for (const tip of tips) tip.querySelector('title').remove();
  reader.value = tips.length - 1;
  reader.setAttribute('aria-valuetext', texts.at(-1));
  reader.hidden = false;
  reader.addEventListener('input', () => read(Number(reader.value)));
  reader.addEventListener('focus', () => read(Number(reader.value)));
  reader.addEventListener('blur', () => read(-1));
  const readAt = ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    const at = (100 * (clientX - left)) / width;
    const next = tips.findIndex((tip) => tip.x.baseVal.valueInSpecifiedUnits > at);
    read(next === -1 ? tips.length - 1 : Math.max(next - 1, 0));
  };
  plot.addEventListener('pointerdown', readAt);
  plot.addEventListener('pointermove', readAt);
  plot.addEventListener('pointerleave', ({ pointerType }) => {
    // A finger leaves when it is lifted: its value stays.
    if (pointerType === 'mouse' && document.activeElement !== reader) read(-1);
  });
}

for (const plot of document.querySelectorAll('.chart-plot')) makeReadable(plot);
for (const text of document.querySelectorAll('.chart-times [data-time]')) {
  text.textContent = shortTime.format(Number(text.dataset.time));
}
