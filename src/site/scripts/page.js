// What a page can do with a script that it could not without: copy a text with one press.
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy]') : null;
  const text = button?.parentElement?.querySelector('code')?.textContent;
  const said = button?.firstChild;
  if (!text || !said) return;
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = 'Copied';
  } catch {
    // No permission, or no https: the person copies the selected text with the keyboard.
    getSelection()?.selectAllChildren(button.parentElement.querySelector('code'));
    said.textContent = 'Selected';
  }
  setTimeout(() => {
    said.textContent = 'Copy';
  }, 2_000);
});
