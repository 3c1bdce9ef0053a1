// The page of a setup link: sends the code of the address's fragment, which the browser itself never sends.

const form = document.querySelector('[data-setup-code]');

function sendCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!code || !form) return;
  // The code leaves the address, so that neither the history nor a screenshot has it.
  history.replaceState(null, '', location.pathname);
  form.elements.code.value = code;
  form.requestSubmit();
}

// If the page is open already, a link that is pasted into its address changes only the fragment.
addEventListener('hashchange', sendCode);
sendCode();
