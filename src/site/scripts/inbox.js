// The inbox: keys for its buttons, and forms that do not load a new page. If scripts are off, all forms work as usual.

const inbox = () => document.querySelector('[data-inbox]');
const said = document.querySelector('[data-said]');

const items = () => [...document.querySelectorAll('[data-item]')];
const linkOf = (item) => item.querySelector('.it');
// The item of the pane: the target of the address, or the first one.
const current = () => items().find((item) => item.matches(':target')) ?? items()[0];

// Whether the keys are on. The choice is stored in this browser.
const areKeysOn = () => {
  try {
    return localStorage.getItem('inbox-keys') !== 'off';
  } catch {
    return true;
  }
};

function show() {
  inbox().dataset.keysAre = areKeysOn() ? 'on' : 'off';
  for (const hint of document.querySelectorAll('[data-keys]')) {
    hint.hidden = false;
    hint.querySelector('[data-keys-on]').checked = areKeysOn();
  }
  for (const button of document.querySelectorAll('[data-pick-all]')) button.hidden = false;
  showPicked();
  showCurrent();
}

function showCurrent() {
  for (const item of items()) {
    if (item === current()) linkOf(item).setAttribute('aria-current', 'true');
    else linkOf(item).removeAttribute('aria-current');
  }
}

addEventListener('hashchange', showCurrent);

const boxesOf = (form) =>
  [...form.elements].filter(({ name, type }) => name === 'item' && type === 'checkbox');
const pickedOf = (form) => boxesOf(form).filter(({ checked }) => checked);
const bulks = () => [...document.querySelectorAll('.bulk')];

function showPicked() {
  for (const form of bulks()) {
    const line = form.querySelector('[data-picked]');
    line.textContent = line.dataset.picked.replace('{n}', pickedOf(form).length);
  }
}

document.addEventListener('change', ({ target }) => {
  if (target.matches('[data-keys-on]')) {
    try {
      localStorage.setItem('inbox-keys', target.checked ? 'on' : 'off');
    } catch {
      // If the browser stores nothing for this site: the keys stay on.
    }
    show();
  }
  if (target.matches('.pick input')) showPicked();
});

// The event comes before the boxes are cleared.
document.addEventListener('reset', () => setTimeout(showPicked));

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return;
  const form = target.closest('[data-pick-all]')?.form;
  if (form) {
    for (const box of boxesOf(form)) box.checked = true;
    showPicked();
  }
});

// Opens the pane of an item. Its address replaces the present one, so that Back leaves the inbox.
function open(item) {
  if (!item) return;
  location.replace(`#${item.id}`);
  linkOf(item).focus({ preventScroll: true });
  linkOf(item).parentElement.scrollIntoView({ block: 'nearest' });
  showCurrent();
}

// Clicks the button that belongs to a key. If items are selected, it is the button for these; otherwise, the button of
// the current item. If the decision needs a reason or cannot be undone: opens its form instead.
function press(key) {
  const chosen = bulks().filter((form) => pickedOf(form).length > 0);
  if (chosen.length > 1) {
    said.textContent = 'Items of different kinds are selected. Use the buttons of a kind.';
    return;
  }
  const place = chosen[0] ?? current();
  const pressed = place?.querySelector(`[data-press="${key}"]`)?.querySelector('summary, button, a');
  if (!pressed) return;
  if (!pressed.matches('summary')) return pressed.click();
  pressed.parentElement.open = true;
  const needed = pressed.parentElement.querySelector('[required], [name="reason"]');
  const field = needed ?? pressed.parentElement;
  (field.matches('textarea') ? field : field.querySelector('textarea, button'))?.focus();
}

const isOnLine = (target) => target === document.body || target.matches('.it');

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, altKey, metaKey } = event;
  // As in other forms of many lines: sends the reason that is being written.
  if (key === 'Enter' && (ctrlKey || metaKey) && target.matches('[data-inbox] textarea'))
    return target.closest('details, form').querySelector('[type="submit"]:not([hidden])').click();
  if (ctrlKey || altKey || metaKey || !areKeysOn()) return;
  if (key === 'Escape') return closeForm(target);
  if (target.matches('textarea, select, input:not([type="checkbox"]), [contenteditable]')) return;
  // Without this, Enter in a check box would send the form for the selected items.
  if (key === 'Enter' && target.matches('.pick input')) return event.preventDefault();
  if (key === 'j') open(current()?.nextElementSibling);
  else if (key === 'k') open(current()?.previousElementSibling);
  else if (key === 'a' || key === 'x') press(key);
  else if (key === ' ' && isOnLine(target)) current()?.querySelector('.pick input')?.click();
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
// opens the item that is now at the same position.
let isSending = false;

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!form.closest('[data-inbox]')) return;
  event.preventDefault();
  if (isSending) return;
  isSending = true;
  const at = items().indexOf(current());
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
  document.querySelector('.rail')?.replaceChildren(...page.querySelector('.rail').childNodes);
  show();
  document.dispatchEvent(new Event('inbox:shown'));
  const all = items();
  const next = all[Math.max(0, Math.min(at, all.length - 1))];
  if (next) open(next);
  else inbox().querySelector('[aria-current]')?.focus();
  said.textContent = [
    inbox().querySelector('[data-result]')?.textContent.trim(),
    all.length === 0 ? inbox().querySelector('.empty, .nothing')?.textContent.trim() : '',
  ]
    .filter(Boolean)
    .join(' ');
}

show();
