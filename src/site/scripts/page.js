// Enhancements; every page also works without this script.

// Copy buttons.
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy]') : null;
  const text = button?.parentElement?.querySelector('code')?.textContent;
  const label = button?.firstChild;
  if (!text || !label) return;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = 'Copied';
  } catch {
    // No permission or no HTTPS: select the text, so that the user can copy it with the keyboard.
    getSelection()?.selectAllChildren(button.parentElement.querySelector('code'));
    label.textContent = 'Selected';
  }
  setTimeout(() => {
    label.textContent = 'Copy';
  }, 2_000);
});

// Parts that htmx refreshes: not in a hidden tab, at once when the tab becomes visible again, and only with a
// successful answer of the page itself.
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
  if (!event.target.matches('[data-live]') || (raw.ok && !raw.redirected)) return;
  event.preventDefault();
  // The user was signed out or the page is gone: reload to show that.
  if (raw.redirected || raw.status === 404) location.reload();
  else event.target.classList.add('stale');
});

document.addEventListener('htmx:error', ({ target }) => {
  if (target instanceof Element && target.matches('[data-live]')) target.classList.add('stale');
});

// Times in the visitor's time zone; the full UTC time stays as the tooltip.
const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

function showLocalTimes() {
  for (const time of document.querySelectorAll('time[data-local]')) {
    time.title ||= time.textContent;
    time.textContent = localTime.format(new Date(time.dateTime));
  }
}

showLocalTimes();
document.addEventListener('htmx:after:swap', showLocalTimes);

// On a phone the tabs scroll sideways: bring the current one into view.
for (const nav of document.querySelectorAll('.tabs, .site-head nav')) {
  const current = nav.querySelector('[aria-current]');
  if (current)
    nav.scrollLeft = current.offsetLeft - nav.offsetLeft - (nav.clientWidth - current.offsetWidth) / 2;
}
