// The service worker of reminders. It shows a reminder, opens the page of reminders when it is pressed, and stops the
// reminders when “Stop reminders” is pressed. It sees no requests of pages.

const page = (path) => new URL(path, self.registration.scope).href;

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
