// Scripts for all pages. If scripts are off, every page works as well.

// Copy buttons: a click copies the text of the attribute `data-copy`. If it is empty: the text beside the button.
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

// A link to share opens the dialog of the system. If the browser has no such dialog: the link goes to the part of the
// page with addresses and codes to copy.
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('[data-share]') : null;
  if (!link || !navigator.share) return;
  event.preventDefault();
  const url = document.querySelector('link[rel="canonical"]')?.href ?? location.href;
  // The promise is rejected if the user closes the dialog.
  navigator.share({ title: link.dataset.share, url }).catch(() => undefined);
});

// The switch between light and dark. If the user has not chosen, the page follows the system.
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
    // If the browser stores nothing for this site: the choice holds for this page.
  }
});
systemIsDark.addEventListener('change', showTheme);
showTheme();
// The switch between cards and the compact list. The stylesheet follows `data-list`, which is the stored choice. If
// `data-list` is not set, the stylesheet follows the checked radio button.
for (const choice of document.querySelectorAll('[name="list-view"]')) {
  const { dataset } = document.documentElement;
  const kind = choice.id.replace('list-', '');
  if (dataset.list) choice.checked = dataset.list === kind;
  choice.addEventListener('change', () => {
    dataset.list = kind;
    try {
      localStorage.setItem('list', kind);
    } catch {
      // If the browser stores nothing for this site: the choice holds for this page.
    }
  });
}

// In lists, changes the link “Vote” of servers for which this browser has voted in the last 24 hours.
function votedServers() {
  try {
    return JSON.parse(localStorage.getItem('voted-servers')) ?? {};
  } catch {
    // If the browser stores nothing for this site: no server counts as voted for.
    return {};
  }
}

function quietVoted() {
  const voted = votedServers();
  for (const link of document.querySelectorAll('[data-voted-text] a.vote')) {
    const { next } = voted[link.pathname.replace(/\/vote$/, '')] ?? {};
    const isVoted = Date.parse(next) > serverTime.now();
    const { dataset, classList, firstChild } = link;
    if (isVoted === classList.contains('voted')) continue;
    classList.toggle('voted', isVoted);
    dataset.text ??= firstChild.textContent;
    firstChild.textContent = isVoted ? link.closest('[data-voted-text]').dataset.votedText : dataset.text;
  }
}

// On the home page, links to vote for the servers whose next vote is due, after those of the user's account.
const dueList = document.querySelector('.due-now ul');
function listDue() {
  for (const item of dueList?.querySelectorAll('[data-stored]') ?? []) item.remove();
  for (const [path, { name, username, next }] of dueList ? Object.entries(votedServers()) : []) {
    const isListed = [...dueList.querySelectorAll('a')].some(({ pathname }) => pathname === `${path}/vote`);
    if (isListed || !(Date.parse(next) <= serverTime.now())) continue;
    const [item, link, text] = ['li', 'a', 'bdi'].map((tag) => document.createElement(tag));
    item.dataset.stored = '';
    text.textContent = name;
    link.href = `${path}/vote?${new URLSearchParams({ username })}`;
    link.append(text);
    item.append(link);
    dueList.append(item);
  }
}

function showVotes() {
  quietVoted();
  listDue();
}

const followVotes = () => Object.keys(votedServers()).length > 0 && serverTime.follow(showVotes);
followVotes();
addEventListener('pageshow', ({ persisted }) => persisted && followVotes());

// Disables the button of a sent form, so that a double click does not send it twice. The timeout is needed because the
// browser first has to read the form with the button.
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

// Parts of a page that htmx refreshes. While the tab is hidden, they are not refreshed; when it becomes visible again,
// they are refreshed at once. An answer is used only if it is successful and not redirected.
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
    // If nothing has changed, the answer is 204, and htmx replaces nothing.
    event.target.classList.remove('stale');
    return;
  }
  event.preventDefault();
  // If the user was signed out or the page is gone: reload to show that.
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
function showLocalTimes() {
  for (const time of document.querySelectorAll('time[data-local]')) {
    time.title ||= time.textContent;
    time.textContent = localTime.format(new Date(time.dateTime));
  }
  for (const zone of document.querySelectorAll('[data-zone]')) {
    zone.textContent = zone.dataset.zone.replace('{zone}', localTime.resolvedOptions().timeZone);
  }
}

showLocalTimes();
document.addEventListener('htmx:after:swap', showLocalTimes);
document.addEventListener('inbox:shown', showLocalTimes);

// On a phone the orders of a list scroll sideways: the current one stands first.
const order = document.querySelector('.sort-tabs [aria-current]');
if (order) order.parentElement.scrollLeft = order.offsetLeft - order.parentElement.offsetLeft;

// Browsers have service workers only on sites with HTTPS and on localhost. If it cannot be installed, the site works
// without it.
navigator.serviceWorker?.register(new URL('../service-worker.js', import.meta.url)).catch(() => undefined);
