// The script of the vote form for visitors: gets a challenge, solves it in a web worker, then sends the form.

const form = document.querySelector('form[data-vote]');
const texts = JSON.parse(form?.dataset.texts ?? '{}');

const say = (text, tone = '') => {
  const progress = form.querySelector('[data-progress]');
  progress.textContent = text;
  progress.className = `small ${tone}`;
};

/** Gets the challenge for the entered name. If that fails, throws an error whose message is for the player. */
async function challengeFor(body) {
  const response = await fetch(form.dataset.challenge, {
    method: 'POST',
    body,
    headers: { accept: 'application/json' },
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
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

async function vote() {
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    if (!globalThis.crypto?.subtle) throw new Error(texts.insecure);
    say(texts.proving);
    // A random secret. If the form is sent from another network than the challenge was requested from, it shows that
    // both requests come from the same page.
    form.elements.session.value = crypto.randomUUID();
    const challenge = await challengeFor(new URLSearchParams(new FormData(form)));
    const solution = await solve(challenge);
    form.elements.proof.value = btoa(JSON.stringify({ challenge, solution }));
    say(texts.voting);
    form.submit();
  } catch (error) {
    say(error instanceof TypeError ? texts.unreachable : error.message, 'error');
    button.disabled = false;
  }
}

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  void vote();
});

// If the browser's Back button shows the form again, it contains the old proof, which is valid for one vote only.
addEventListener('pageshow', ({ persisted }) => {
  if (!form) return;
  form.elements.proof.value = '';
  form.querySelector('button').disabled = false;
  say('');
  // The server asked for another proof, because the browser's network changed after the challenge: vote again
  // automatically, once.
  if (form.dataset.again !== undefined && !persisted) void vote();
});
