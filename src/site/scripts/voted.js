// The script of the page after a vote and of the vote page. It stores the vote in this browser, lists the other servers
// for which this browser has voted, and shows the time until the next vote.

const DAY_MS = 24 * 3_600_000;
const MOST_REMEMBERED = 12;
/** After the time of the next vote. */
const FORGOTTEN_AFTER_MS = 29 * DAY_MS;
const { lang } = document.documentElement;

function stored(storage, key) {
  try {
    return JSON.parse(storage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

/** The stored servers as pairs of path and entry. */
const storedServers = () => Object.entries(stored(localStorage, 'voted-servers'));
const isFresh = ([, { next }]) => serverTime.now() - Date.parse(next) < FORGOTTEN_AFTER_MS;

const store = (servers) => localStorage.setItem('voted-servers', JSON.stringify(Object.fromEntries(servers)));

/**
 * Stores the server with the time of the next vote. If `keepsName`, also stores the player's name to fill it in; it is
 * false if the name is in the user's account or Steam confirmed it. Only the newest servers stay stored.
 */
function remember({ path, kind, username, ...voted }, keepsName) {
  const others = storedServers().filter(([other]) => other !== path);
  store([[path, { ...voted, username }], ...others].slice(0, MOST_REMEMBERED));
  serverTime.follow(forgetOld);
  if (!keepsName) return;
  const players = { ...stored(localStorage, 'player-names'), [kind]: username };
  localStorage.setItem('player-names', JSON.stringify(players));
}

/** Not before the server's time is known: by a clock that is a month ahead, all servers would be too old. */
function forgetOld() {
  const all = storedServers();
  const fresh = all.filter(isFresh);
  if (fresh.length < all.length) store(fresh);
}

/** Stores the vote of this page, if scripts/vote.js has noted that this tab sent its form. */
function rememberVote() {
  const page = document.querySelector('[data-voted]');
  if (!page) return;
  const voted = JSON.parse(page.dataset.voted);
  const sent = stored(sessionStorage, 'sent-vote');
  if (sent.path !== `${voted.path}/vote`) return;
  // The heading gets the focus, so that screen readers read the result after the form was sent.
  page.querySelector('h1').focus();
  try {
    sessionStorage.removeItem('sent-vote');
    remember(voted, sent.keepsName);
    // For scripts/reminders.js.
    page.dataset.remembered = '';
  } catch {
    // If the browser stores nothing for this site: the vote is not remembered.
  }
}

/** Creates an element. Children that are texts are not parsed as HTML. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const picture = (src, attributes) => make('img', { ...attributes, src, alt: '', loading: 'lazy' });
const largestUnit = (ms) =>
  ms >= 3_600_000 ? [Math.round(ms / 3_600_000), 'hour'] : [Math.max(1, Math.round(ms / 60_000)), 'minute'];

/** The list item of a server. If the cooldown is over, it has a link to vote; otherwise, the time that is left. */
function rowOf([path, { name, username, next, banner, icon, look, initials }], texts) {
  const left = Date.parse(next) - serverTime.now();
  const inText = new Intl.RelativeTimeFormat(lang).format(...largestUnit(Math.max(0, left)));
  const link = `${path}/vote?${new URLSearchParams({ username })}`;
  const forReaders = make('span', { class: 'for-readers' }, ` ${name}`);
  const isDue = !(left > 0);
  return make(
    'li',
    { class: isDue ? 'due-row' : 'due-row waits' },
    make(
      'a',
      {
        class: banner ? 'banner' : `banner plain ${look}`,
        href: path,
        tabindex: '-1',
        'aria-hidden': 'true',
      },
      banner ? picture(banner, {}) : make('span', {}, initials),
    ),
    icon
      ? picture(icon, { class: 'icon', width: '48', height: '48' })
      : make('span', { class: `icon plain ${look}`, 'aria-hidden': 'true' }, make('span', {}, initials)),
    make(
      'div',
      { class: 'what' },
      make('h3', {}, make('a', { href: path }, make('bdi', {}, name))),
      make('p', { class: 'meta' }, isDue ? texts.due : texts.voted),
    ),
    isDue
      ? make('a', { class: 'button vote', href: link }, texts.vote, forReaders)
      : make('p', { class: 'wait' }, inText),
  );
}

/** Lists the other servers for which this browser has voted, ordered by the time of the next vote. */
function listVoted() {
  const part = document.querySelector('[data-voted-list]');
  if (!part) return;
  const list = part.querySelector('ul');
  const texts = JSON.parse(list.dataset.texts);
  const here = location.pathname.replace(/\/vote(\/[^/]*)?$/, '');
  const others = storedServers().filter((server) => server[0] !== here && isFresh(server));
  const dueAt = ([, { next }]) => Math.max(serverTime.now(), Date.parse(next) || 0);
  others.sort((one, other) => dueAt(one) - dueAt(other));
  list.replaceChildren(...others.map((other) => rowOf(other, texts)));
  part.hidden = others.length === 0;
}

const twoDigits = (number) => String(number).padStart(2, '0');

/** Shows the time that is left, as a text and as a ring. When it is over, shows the link to vote. */
function countDown(panel) {
  const left = Date.parse(panel.dataset.nextVote) - serverTime.now();
  const seconds = Math.max(0, Math.ceil(left / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  panel.querySelector('[data-left]').textContent =
    `${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}`;
  panel.querySelector('.fill').setAttribute('stroke-dasharray', `${(100 * Math.max(0, left)) / DAY_MS} 100`);
  const isDue = left <= 0;
  panel.querySelector('.due').hidden = !isDue;
  // If the listing is paused at that time: there is no reminder.
  panel.querySelector('.calendar')?.toggleAttribute('hidden', isDue);
}

rememberVote();
if (storedServers().length > 0) serverTime.follow(listVoted);

const panels = document.querySelectorAll('[data-next-vote]');
let nextSecond;

function countAll() {
  clearTimeout(nextSecond);
  for (const panel of panels) countDown(panel);
  nextSecond = setTimeout(countAll, 1_000);
}

if (panels.length > 0) serverTime.follow(countAll);
