// The service worker of the site. It stores only the page that says that the device is offline, and shows it instead of
// any page that is opened without a connection.

const OFFLINE = new URL('offline', registration.scope);

addEventListener('install', (event) => {
  event.waitUntil(
    caches.open('offline').then((cache) => cache.add(new Request(OFFLINE, { cache: 'reload' }))),
  );
});

// With a connection, the browser sends the request itself: requests of service workers have no `Sec-Fetch-Dest: document`,
// without which pages of signed-in users are not compressed.
addEventListener('fetch', (event) => {
  const { mode, method } = event.request;
  if (mode !== 'navigate' || method !== 'GET' || navigator.onLine) return;
  event.respondWith(caches.match(OFFLINE).then((page) => page ?? Response.error()));
});
