// The script of the part “Reminder”, on the page after a vote and on the page of reminders. After a press, it asks the
// browser for a subscription to web push, and sends it with the ids of this browser's votes. After each further vote, it
// sends the ids again, which moves the reminder.

const part = document.querySelector('[data-reminder]');
const settings = JSON.parse(part?.dataset.reminder ?? '{}');

/** The ids of the votes that scripts/voted.js has stored, the newest first. */
function voteIds() {
  try {
    const voted = Object.values(JSON.parse(localStorage.getItem('voted-servers')) ?? {});
    return voted.flatMap(({ vote }) => vote ?? []);
  } catch {
    return [];
  }
}

/** Whether this browser has web push. On iOS, only an installed page has it. */
const canSubscribe = () =>
  isSecureContext &&
  'serviceWorker' in navigator &&
  'PushManager' in globalThis &&
  'Notification' in globalThis;
const needsInstallation = () => navigator.standalone === false && !('PushManager' in globalThis);

const registered = () => navigator.serviceWorker.getRegistration(`${settings.base}/`);
const subscribed = async () => (await registered())?.pushManager.getSubscription();

const post = (path, fields) =>
  fetch(`${settings.base}${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { accept: 'application/json' },
  });

function send(subscription) {
  const { endpoint, keys } = subscription.toJSON();
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return post('/reminders', { endpoint, ...keys, key: settings.key, timeZone, votes: voteIds().join(' ') });
}

async function subscribe() {
  // scripts/page.js registers the service worker.
  const registration = await navigator.serviceWorker.ready;
  // If the site has another key than before, the browser must give up the earlier subscription first.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: settings.key });
}

/** Throws an error with a sentence for the player if the site refuses the subscription. */
async function start() {
  const subscription = await subscribe();
  const response = await send(subscription);
  if (response.ok) return;
  await subscription.unsubscribe();
  throw new Error((await response.json()).error);
}

/** The browser forgets the subscription even if the site cannot be reached: the push service then tells the site. */
async function stop() {
  const subscription = await subscribed();
  if (!subscription) return;
  const told = post('/reminders/stop', { endpoint: subscription.endpoint });
  await subscription.unsubscribe();
  await told.catch(() => undefined);
}

/** After a vote, if the reminder is on. */
async function move(subscription) {
  const response = await send(subscription);
  if (response.status === 409) await start();
}

async function show() {
  const isOn = canSubscribe() && Boolean(await subscribed());
  part.querySelector('[data-on]').hidden = !isOn;
  part.querySelector('[data-off]').hidden = isOn || !canSubscribe() || voteIds().length === 0;
  part.querySelector('[data-install]').hidden = !needsInstallation();
  part.hidden = [...part.querySelectorAll('[data-on], [data-off], [data-install]')].every(
    ({ hidden }) => hidden,
  );
}

/** While the press is carried out, the button is disabled. */
function onPress(selector, carryOut) {
  const button = part.querySelector(`${selector} button`);
  const said = part.querySelector('[data-said]');
  button.addEventListener('click', async () => {
    button.disabled = true;
    said.textContent = '';
    try {
      await carryOut();
    } catch (error) {
      said.textContent = error instanceof DOMException ? settings.failed : error.message;
    }
    button.disabled = false;
    await show();
  });
}

async function begin() {
  await show();
  const subscription = canSubscribe() && (await subscribed());
  if (subscription && document.querySelector('[data-remembered]')) await move(subscription);
}

if (part) {
  onPress('[data-off]', start);
  onPress('[data-on]', stop);
  // If it fails: the reminder stays as it was, and the next vote moves it.
  begin().catch(() => undefined);
}
