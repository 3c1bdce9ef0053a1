// Enhancements; every page also works without this script.

// Copy buttons: a click copies the button's own text (`data-copy="…"`), or else the text beside the button.
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy]') : null;
  if (!button) return;
  const beside = button.parentElement.querySelector('code');
  const text = button.dataset.copy || beside?.textContent;
  const label = button.querySelector('span:not(.for-readers)') ?? button.firstChild;
  if (!text || !label || button.classList.contains('copied')) return;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = button.dataset.copied;
  } catch {
    // If copying is not possible (no permission, or no HTTPS): show or select the text, so that the user can copy it
    // with the keyboard.
    if (beside) getSelection()?.selectAllChildren(beside);
    label.textContent = beside ? button.dataset.selected : text;
  }
  button.classList.add('copied');
  setTimeout(() => {
    label.textContent = before;
    button.classList.remove('copied');
  }, 2_000);
});

// The switch between light and dark. Without a choice, the page follows the system.
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () =>
  (document.documentElement.dataset.theme ?? (systemIsDark.matches ? 'dark' : '')) === 'dark';

function showTheme() {
  for (const button of document.querySelectorAll('[data-theme-switch]')) {
    button.hidden = false;
    button.ariaPressed = String(isDark());
  }
}

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element && target.closest('[data-theme-switch]'))) return;
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  showTheme();
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // The browser stores nothing for this site: the choice holds for this page.
  }
});
systemIsDark.addEventListener('change', showTheme);
showTheme();

// Prevents that a double click sends a form twice. The button is disabled only after the browser has read the form.
document.addEventListener('submit', ({ target, submitter, defaultPrevented }) => {
  if (defaultPrevented || target.method !== 'post' || !submitter) return;
  setTimeout(() => {
    submitter.disabled = true;
  });
});
// The Back button may restore a page with disabled buttons: enable them again.
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('form[method="post"] button:disabled'))
    button.disabled = false;
});

// Parts of a page that htmx refreshes. They are not refreshed in a hidden tab, but at once when the tab becomes visible
// again. Only a successful answer of the page itself is used.
const liveParts = () => document.querySelectorAll('[data-live]');

document.addEventListener('htmx:config:request', (event) => {
  if (document.hidden && event.target.matches('[data-live]')) event.preventDefault();
});

document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  for (const part of liveParts()) part.dispatchEvent(new Event('seen'));
});

document.addEventListener('htmx:before:response', (event) => {
  const { raw } = event.detail.ctx.response;
  if (!event.target.matches('[data-live]')) return;
  if (raw.ok && !raw.redirected) {
    // If nothing has changed, the answer is 204, and nothing is replaced.
    event.target.classList.remove('stale');
    return;
  }
  event.preventDefault();
  // The user was signed out or the page is gone: reload to show that.
  if (raw.redirected || raw.status === 404) location.reload();
  else event.target.classList.add('stale');
});

document.addEventListener('htmx:error', ({ target }) => {
  if (target instanceof Element && target.matches('[data-live]')) target.classList.add('stale');
});

// Shows times in the visitor's time zone. The UTC time stays in the tooltip.
const { lang } = document.documentElement;
const localTime = new Intl.DateTimeFormat(lang === 'en' ? undefined : lang, {
  dateStyle: 'medium',
  timeStyle: 'short',
});
const shortTime = new Intl.DateTimeFormat(lang === 'en' ? undefined : lang, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

function showLocalTimes() {
  for (const time of document.querySelectorAll('time[data-local]')) {
    time.title ||= time.textContent;
    const format = time.dataset.local === 'short' ? shortTime : localTime;
    time.textContent = format.format(new Date(time.dateTime));
  }
  for (const point of document.querySelectorAll('.chart [data-at]')) {
    const title = point.querySelector('title');
    const [utc, ...value] = title.textContent.split(': ');
    title.textContent = `${shortTime.format(Number(point.dataset.at))} (${utc} UTC): ${value.join(': ')}`;
    delete point.dataset.at;
  }
  for (const zone of document.querySelectorAll('[data-zone]')) {
    zone.textContent = zone.dataset.zone.replace('{zone}', localTime.resolvedOptions().timeZone);
  }
}

showLocalTimes();
document.addEventListener('htmx:after:swap', showLocalTimes);

// On a phone the tabs scroll sideways: scroll the current tab into view.
for (const nav of document.querySelectorAll('.tabs, .site-head nav')) {
  const current = nav.querySelector('[aria-current]');
  if (current)
    nav.scrollLeft = current.offsetLeft - nav.offsetLeft - (nav.clientWidth - current.offsetWidth) / 2;
}

// Shows the value of a touched point below the chart. With a mouse, the tooltip shows it.
function showTouched({ pointerType, clientX, clientY }) {
  if (pointerType === 'mouse') return;
  const mark = document.elementFromPoint(clientX, clientY);
  const chart = mark?.closest('.chart');
  const title = mark?.querySelector(':scope > title') ?? mark?.parentElement?.querySelector(':scope > title');
  const value = chart?.closest('.chart-figure')?.querySelector('.chart-value');
  if (title && value) value.textContent = title.textContent;
}

document.addEventListener('pointerdown', showTouched);
document.addEventListener('pointermove', showTouched);
