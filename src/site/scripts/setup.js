// The script of the page behind a setup link. It sends the form with the code, which is in the fragment of the link.
// Browsers do not send fragments to the server, so the code is not in its logs.

const form = document.querySelector('[data-setup-code]');

function sendCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!code || !form) return;
  // The code is removed from the address bar, so that neither the history nor a screenshot contains it.
  history.replaceState(null, '', location.pathname);
  form.elements.code.value = code;
  form.requestSubmit();
}

// If the page is open already and a setup link is pasted into the address bar, only the fragment changes.
addEventListener('hashchange', sendCode);
sendCode();
