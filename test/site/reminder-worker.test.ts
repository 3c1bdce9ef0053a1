import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { expect, test } from 'vitest';

type Listener = (event: object) => void;

/** The service worker in a browser that has the given subscription. */
function openWorker(endpoint: string | null = 'https://push.example/abc') {
  const listeners = new Map<string, Listener>();
  const did: unknown[][] = [];
  const subscription = endpoint && { endpoint, unsubscribe: async () => did.push(['unsubscribe']) };
  const self = {
    addEventListener: (name: string, listener: Listener) => listeners.set(name, listener),
    registration: {
      scope: 'https://listing.example/games/',
      showNotification: async (...shown: unknown[]) => did.push(['show', ...shown]),
      pushManager: { getSubscription: async () => subscription },
    },
    clients: { openWindow: async (href: string) => did.push(['open', href]) },
  };
  const fetch = async (href: string, { body }: { body: URLSearchParams }) =>
    did.push(['post', href, String(body)]);
  vm.runInNewContext(readFileSync('src/site/scripts/service-worker.js', 'utf8'), {
    self,
    fetch,
    URL,
    URLSearchParams,
  });
  return {
    names: [...listeners.keys()],
    async dispatch(name: string, event: object) {
      const waits: Promise<unknown>[] = [];
      listeners.get(name)?.({ ...event, waitUntil: (promise: Promise<unknown>) => waits.push(promise) });
      await Promise.all(waits);
      return did;
    },
  };
}

const click = (action: string) => ({ action, notification: { close: () => undefined } });

test('the service worker has the offline page, messages and presses of notifications, and nothing else', () => {
  expect(openWorker().names).toEqual(['install', 'fetch', 'push', 'notificationclick']);
});

test('it shows the texts of the message, with a button that stops reminders', async () => {
  const texts = { title: 'Du kannst wieder abstimmen', body: 'Text', lang: 'de', stop: 'Abstellen' };
  const [shown] = await openWorker().dispatch('push', { data: { json: () => texts } });
  expect(JSON.parse(JSON.stringify(shown))).toEqual([
    'show',
    texts.title,
    { body: 'Text', lang: 'de', tag: 'vote-again', actions: [{ action: 'stop', title: 'Abstellen' }] },
  ]);
});

test('it shows a notification even for a message that it cannot read, because browsers demand one', async () => {
  const [shown] = await openWorker().dispatch('push', { data: null });
  expect(shown?.[1]).toBe('You can vote again');
});

test('a press opens the page of reminders, below the path of the site', async () => {
  expect(await openWorker().dispatch('notificationclick', click(''))).toEqual([
    ['open', 'https://listing.example/games/reminders'],
  ]);
});

test('one press stops the reminders, at the site and in the browser', async () => {
  expect(await openWorker().dispatch('notificationclick', click('stop'))).toEqual([
    ['post', 'https://listing.example/games/reminders/stop', 'endpoint=https%3A%2F%2Fpush.example%2Fabc'],
    ['unsubscribe'],
  ]);
  expect(await openWorker(null).dispatch('notificationclick', click('stop'))).toEqual([]);
});
