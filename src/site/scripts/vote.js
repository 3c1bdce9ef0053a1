// The vote form of visitors: gets a challenge, solves it in a worker, then sends the form.

const form = document.querySelector('form[data-vote]');
const texts = JSON.parse(form?.dataset.texts ?? '{}');

const say = (text, tone = '') => {
  const progress = form.querySelector('[data-progress]');
  progress.textContent = text;
  progress.className = `small ${tone}`;
};

/** The challenge for the entered name. Throws an error whose message is for the player. */
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
    // Another network of this browser may send the form: the secret shows that it is the same page.
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

// A proof is for one vote: the browser's Back button shows the form with the old one.
addEventListener('pageshow', ({ persisted }) => {
  if (!form) return;
  form.elements.proof.value = '';
  form.querySelector('button').disabled = false;
  say('');
  // The browser changed its network between challenge and form: it votes again by itself, once.
  if (form.dataset.again !== undefined && !persisted) void vote();
});
