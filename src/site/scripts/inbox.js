// The inbox: keys for its buttons, and forms that do not load a new page. If scripts are off, all forms work as usual.

const inbox = () => document.querySelector('[data-inbox]');
const said = document.querySelector('[data-said]');

// The elements among which the keys j and k move the focus: items, or rows of tables.
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

// Clicks the button that belongs to a key. If items are selected, it is the button for these; otherwise, the button of
// the current item. If the decision needs a reason or cannot be undone: opens its form instead.
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
  // Without this, Enter in a check box would send the form for the selected items.
  if (key === 'Enter' && target.matches('.pick input')) return event.preventDefault();
  if (key === 'j') step(1);
  else if (key === 'k') step(-1);
  else if (key === 'a' || key === 'x') press(key);
  else return;
  event.preventDefault();
});

// Escape closes a form that a key has opened.
function closeForm(target) {
  const details = target.closest('[data-inbox] details.confirm[open]');
  if (!details) return;
  details.open = false;
  details.querySelector('summary').focus();
}

// Sends the form of a decision without loading a page. Then shows the answer, lets screen readers read the result, and
// focuses the item that is now at the same position.
let isSending = false;

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!form.closest('[data-inbox]')) return;
  event.preventDefault();
  if (isSending) return;
  isSending = true;
  const at = Math.max(currentIndex(), 0);
  // The attribute `action` is read, because a button with the name `action` would replace the property of the form.
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
  // If the answer is not the inbox, but for example the list of blocks or the sign-in page: open that page.
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
