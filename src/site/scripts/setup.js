// The script of the page behind a setup link. It sends the code, which is in the fragment of the address: browsers do not
// send fragments to the server.

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
