// The keyboard of the inbox, and decisions without a new page. Every form also works without this script.

const inbox = () => document.querySelector('[data-inbox]');
const said = document.querySelector('[data-said]');

// The things that j and k step through: items, or rows of tables.
const entries = () => [...document.querySelectorAll('[data-item], [data-rows] tbody tr')];
const targetOf = (entry) => entry.querySelector('.pick input, a');
const currentIndex = () => entries().findIndex((entry) => entry.contains(document.activeElement));

// Whether the keys are on. The choice is stored in this browser.
const areKeysOn = () => {
  try {
    return localStorage.getItem('inbox-keys') !== 'off';
  } catch {
    return true;
  }
};

function show() {
  for (const hint of document.querySelectorAll('[data-keys]')) {
    hint.hidden = false;
    hint.querySelector('[data-keys-on]').checked = areKeysOn();
  }
  for (const button of document.querySelectorAll('[data-pick-all]')) button.hidden = false;
  showPicked();
}

function boxes() {
  return [...document.querySelectorAll('.pick input')];
}

function showPicked() {
  const picked = boxes().filter(({ checked }) => checked).length;
  for (const line of document.querySelectorAll('[data-picked]')) {
    line.textContent = picked > 0 ? line.dataset.some.replace('{n}', picked) : line.dataset.none;
  }
}

document.addEventListener('change', ({ target }) => {
  if (target.matches('[data-keys-on]')) {
    try {
      localStorage.setItem('inbox-keys', target.checked ? 'on' : 'off');
    } catch {
      // If the browser stores nothing for this site: the keys stay on.
    }
  }
  if (target.matches('.pick input')) showPicked();
});

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element && target.closest('[data-pick-all]'))) return;
  const all = boxes();
  const isAll = all.every(({ checked }) => checked);
  for (const box of all) box.checked = !isAll;
  showPicked();
});

function step(by) {
  const all = entries();
  if (all.length === 0) return;
  const at = currentIndex();
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  targetOf(all[next])?.focus();
  all[next].scrollIntoView({ block: 'nearest' });
}

// Presses the control of a key: that of the selected items if there are any, or else that of the current item. If a
// decision needs a reason or cannot be undone: its form opens instead.
function press(key) {
  const isMany = boxes().some(({ checked }) => checked);
  const place = isMany ? document : entries()[currentIndex()];
  const control = place?.querySelector(isMany ? `[data-press-many="${key}"]` : `[data-press="${key}"]`);
  const pressed = control?.querySelector('summary, button');
  if (!pressed) return;
  if (pressed.matches('button')) return pressed.click();
  pressed.parentElement.open = true;
  pressed.parentElement.querySelector('textarea, button')?.focus();
}

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, altKey, metaKey } = event;
  if (ctrlKey || altKey || metaKey || !areKeysOn()) return;
  const isText = target.matches('textarea, select, input:not([type="checkbox"]), [contenteditable]');
  if (key === 'Escape') return closeForm(target);
  if (isText) return;
  // Enter in a check box would send the form of the selected items.
  if (key === 'Enter' && target.matches('.pick input')) return event.preventDefault();
  if (key === 'j') step(1);
  else if (key === 'k') step(-1);
  else if (key === 'a' || key === 'x') press(key);
  else return;
  event.preventDefault();
});

// Escape leaves a form that a key opened.
function closeForm(target) {
  const details = target.closest('[data-inbox] details.confirm[open]');
  if (!details) return;
  details.open = false;
  details.querySelector('summary').focus();
}

// Sends a decision, shows the answer in place, says the result, and focuses what is now at the same place.
let isSending = false;

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!form.closest('[data-inbox]')) return;
  event.preventDefault();
  if (isSending) return;
  isSending = true;
  const at = Math.max(currentIndex(), 0);
  // A button may be named like a property of the form, such as `action`, so attributes are read.
  const data = new URLSearchParams(new FormData(form, submitter));
  fetch(form.getAttribute('action'), { method: 'POST', body: data, headers: { accept: 'text/html' } })
    .then(async (answer) => showAnswer(answer, await answer.text(), at))
    .catch(() => HTMLFormElement.prototype.submit.call(form))
    .finally(() => {
      isSending = false;
    });
});

function showAnswer(answer, text, at) {
  const page = new DOMParser().parseFromString(text, 'text/html');
  const fresh = page.querySelector('[data-inbox]');
  // If the answer is another page, such as the list of blocks or the sign-in: open it.
  if (!fresh && answer.ok) return location.assign(answer.url);
  if (!fresh) {
    document.querySelector('main').replaceWith(page.querySelector('main'));
    document.querySelector('main').focus();
    return;
  }
  history.replaceState(null, '', answer.url);
  inbox().replaceWith(fresh);
  show();
  document.dispatchEvent(new Event('inbox:shown'));
  const all = entries();
  const next = all[Math.min(at, all.length - 1)];
  (next ? targetOf(next) : inbox().querySelector('[aria-current]'))?.focus();
  said.textContent = [
    inbox().querySelector('[data-result]')?.textContent.trim(),
    all.length === 0 ? inbox().querySelector('.empty')?.textContent.trim() : '',
  ]
    .filter(Boolean)
    .join(' ');
}

show();
