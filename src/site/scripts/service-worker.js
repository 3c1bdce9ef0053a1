// The service worker of the site. It stores only the page that says that the device is offline, and shows it instead of
// any page that is opened without a connection. It shows a reminder, opens the page of reminders when it is pressed, and
// stops the reminders when “Stop reminders” is pressed.

const page = (path) => new URL(path, self.registration.scope).href;

const OFFLINE = page('offline');

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches.open('offline').then((cache) => cache.add(new Request(OFFLINE, { cache: 'reload' }))),
  );
});

// With a connection, the browser sends the request itself: requests of service workers have no `Sec-Fetch-Dest: document`,
// without which pages of signed-in users are not compressed.
self.addEventListener('fetch', (event) => {
  const { mode, method } = event.request;
  if (mode !== 'navigate' || method !== 'GET' || navigator.onLine) return;
  event.respondWith(caches.match(OFFLINE).then((stored) => stored ?? Response.error()));
});

/** The message is encrypted for this browser. Browsers demand that each message shows a notification. */
function textsOf(data) {
  try {
    return data.json();
  } catch {
    return { title: 'You can vote again' };
  }
}

self.addEventListener('push', (event) => {
  const { title, body, lang, stop } = textsOf(event.data);
  const actions = stop ? [{ action: 'stop', title: stop }] : [];
  event.waitUntil(self.registration.showNotification(title, { body, lang, actions, tag: 'vote-again' }));
});

async function stopReminders() {
  const subscription = await self.registration.pushManager.getSubscription();
  if (!subscription) return;
  const body = new URLSearchParams({ endpoint: subscription.endpoint });
  await Promise.allSettled([
    fetch(page('reminders/stop'), { method: 'POST', body }),
    subscription.unsubscribe(),
  ]);
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(event.action === 'stop' ? stopReminders() : self.clients.openWindow(page('reminders')));
});
