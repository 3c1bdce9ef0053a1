// The script of the vote form. It fills in the player's name that this browser remembers (scripts/voted.js stores it
// after a vote). For visitors it gets a challenge, solves it in a web worker, then sends the form. On a server's page,
// it shows when this browser can vote again.

const names = document.querySelector('form[data-name-kind]');
const form = document.querySelector('form[data-vote]');
const texts = JSON.parse(form?.dataset.texts ?? '{}');

/** The value that the browser stores under a key; an empty object if it stores none, or nothing for this site. */
function stored(storage, key) {
  try {
    return JSON.parse(storage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

function fillInName() {
  const { username } = names.elements;
  // If Steam has confirmed a SteamID: the field is hidden, and there is no name to enter.
  if (!username || username.type === 'hidden') return;
  const { nameKind, remember } = names.dataset;
  const isNamed = new URLSearchParams(location.search).has('username');
  if (remember !== undefined && !username.value && !isNamed) {
    username.value = stored(localStorage, 'player-names')[nameKind] ?? '';
    // On the vote page, if this browser has voted: loads the page with the name, which shows the time that is left.
    const { pathname } = new URL(names.action);
    const next = stored(localStorage, 'voted-servers')[pathname.replace(/\/vote$/, '')]?.next;
    const name = username.value;
    const isHere = name && pathname === location.pathname;
    if (isHere && next)
      serverTime.follow(() => {
        if (Date.parse(next) > serverTime.now() && username.value === name)
          location.replace(`?${new URLSearchParams({ username: name })}`);
      });
  }
  offerToForget(username);
}

function forgetVoted() {
  try {
    localStorage.removeItem('voted-servers');
  } catch {
    // If the browser stores nothing for this site: there is nothing to forget.
  }
}

/** Shows the button “Not Steve?” below a name that was filled in. If a user is signed in, the HTML has this button. */
function offerToForget(username) {
  const part = names.querySelector('[data-forget]');
  if (!part) return;
  const button = part.querySelector('button');
  part.hidden = !username.value;
  // The name is in a `bdi` element, because it may be written from right to left.
  const name = document.createElement('bdi');
  name.textContent = username.value;
  const [before, after] = button.dataset.text.split('{name}');
  button.replaceChildren(before, name, after);
  button.addEventListener('click', () => {
    try {
      localStorage.removeItem('player-names');
    } catch {
      // If the browser stores nothing for this site: there is nothing to forget.
    }
    forgetVoted();
    username.value = '';
    part.hidden = true;
    username.focus();
  });
}

/**
 * Stores a note that this tab sends the form, and whether the browser may store the player's name. The page after the
 * vote stores the vote only if it finds this note, because anybody may open the link of that page. If the vote is
 * refused: the next page has this script too, which calls this function without a path to remove the note.
 */
function noteSent(path) {
  try {
    sessionStorage.removeItem('sent-vote');
    const keepsName = names?.dataset.remember !== undefined;
    if (path) sessionStorage.setItem('sent-vote', JSON.stringify({ path, keepsName }));
  } catch {
    // If the browser stores nothing for this site: the vote is not remembered.
  }
}

let shownAgain;

/**
 * On a server's page, during the cooldown: shows the time until the next vote. While the document has `data-voted`,
 * which scripts/theme.js sets before the page is drawn, the stylesheet shows this time instead of the form.
 */
function showVoted() {
  clearTimeout(shownAgain);
  const time = document.querySelector('.voted-here [data-left]');
  const { dataset } = document.documentElement;
  const { next } = stored(localStorage, 'voted-servers')[location.pathname] ?? {};
  const left = Date.parse(next) - serverTime.now();
  if (!(left > 0)) {
    delete dataset.voted;
    return;
  }
  dataset.voted = '';
  const minutes = Math.ceil(left / 60_000);
  time.textContent = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  shownAgain = setTimeout(showVoted, Math.min(left, 10_000));
}

function followVoted() {
  const isStored = stored(localStorage, 'voted-servers')[location.pathname];
  if (isStored && document.querySelector('.voted-here [data-left]')) serverTime.follow(showVoted);
}

noteSent();
if (names) fillInName();
followVoted();
// If the form needs no proof, because the account is established: the browser sends it. Only the note is stored here.
if (names && !form) names.addEventListener('submit', () => noteSent(new URL(names.action).pathname));
document.querySelector('#forget-name')?.addEventListener('submit', forgetVoted);

const say = (text, tone = '') => {
  const progress = form.querySelector('[data-progress]');
  progress.textContent = text;
  progress.className = `small ${tone}`;
};

/** Shows an error above the field of the name, as the server's HTML does. If the text is empty, removes the error. */
function sayAtName(text) {
  const { username } = form.elements;
  const hint = `${username.id}-hint`;
  const id = `${username.id}-error`;
  form.querySelector(`#${id}`)?.remove();
  username.ariaInvalid = text ? 'true' : null;
  username.setAttribute('aria-describedby', text ? `${hint} ${id}` : hint);
  if (!text) return;
  const error = document.createElement('p');
  Object.assign(error, { id, className: 'error', textContent: text });
  username.before(error);
}

/** The server sent no challenge, but a refusal. If the reason is the value of a field, `field` names this field. */
class Refused extends Error {
  constructor({ error, field }) {
    super(error);
    this.field = field;
  }
}

/** Gets the challenge for the entered name. If the server refuses, throws a `Refused` with a message for the player. */
async function challengeFor(body) {
  const response = await fetch(form.dataset.challenge, {
    method: 'POST',
    body,
    headers: { accept: 'application/json' },
  });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer);
  return answer;
}

function solve(challenge) {
  const worker = new Worker(form.dataset.solver, { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }) => (data ? resolve(data) : reject(new Error(texts.slow))));
    worker.addEventListener('error', () => reject(new Error(texts.failed)));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, no window
    worker.postMessage(challenge);
  }).finally(() => worker.terminate());
}

/**
 * Shows why the vote was not sent. The disabled button has lost the focus, so the field or button to use next gets it.
 */
function sayWhyNot(error) {
  const button = form.querySelector('button.vote');
  const isAboutName = error.field === 'username' && form.elements.username.type !== 'hidden';
  const sentence = error instanceof TypeError ? texts.unreachable : error.message;
  button.disabled = false;
  if (isAboutName) sayAtName(sentence);
  say(isAboutName ? '' : sentence, 'error');
  if (isAboutName) form.elements.username.focus();
  else if (document.activeElement === document.body) button.focus();
}

async function vote() {
  const button = form.querySelector('button.vote');
  button.disabled = true;
  if (form.elements.username.type !== 'hidden') sayAtName('');
  try {
    if (!globalThis.crypto?.subtle) throw new Error(texts.insecure);
    say(texts.proving);
    // A random secret. If the browser's network changes between the request for the challenge and the vote: the secret
    // shows that both requests come from the same page.
    form.elements.session.value = crypto.randomUUID();
    const challenge = await challengeFor(new URLSearchParams(new FormData(form)));
    const solution = await solve(challenge);
    form.elements.proof.value = btoa(JSON.stringify({ challenge, solution }));
    say(texts.voting);
    noteSent(new URL(form.action).pathname);
    form.submit();
  } catch (error) {
    sayWhyNot(error);
  }
}

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  void vote();
});

// If the Back button of the browser shows the form again: removes the old proof, because it is valid for one vote only.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) followVoted();
  if (!form) return;
  form.elements.proof.value = '';
  form.querySelector('button.vote').disabled = false;
  say('');
  // If the server asked for another proof, because the browser's network has changed or the proof has expired: vote
  // again automatically, once.
  if (form.dataset.again !== undefined && !persisted) void vote();
});
