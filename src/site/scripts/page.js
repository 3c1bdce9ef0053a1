// What a page can do with a script that it could not without.

// Copy a text with one press.
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy]') : null;
  const text = button?.parentElement?.querySelector('code')?.textContent;
  const said = button?.firstChild;
  if (!text || !said) return;
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = 'Copied';
  } catch {
    // No permission, or no https: the user copies the selected text with the keyboard.
    getSelection()?.selectAllChildren(button.parentElement.querySelector('code'));
    said.textContent = 'Selected';
  }
  setTimeout(() => {
    said.textContent = 'Copy';
  }, 2_000);
});

// Parts that refresh themselves (htmx asks for them anew): not in a tab that nobody sees, at once when it is seen
// again, and only by a whole answer of the page itself.
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
  // Signed out meanwhile, or what is shown is gone: the page itself says so.
  if (raw.redirected || raw.status === 404) location.reload();
  else event.target.classList.add('stale');
});

document.addEventListener('htmx:error', ({ target }) => {
  if (target instanceof Element && target.matches('[data-live]')) target.classList.add('stale');
});
