import { realpathSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import { describe, expect, inject, test } from 'vitest';
import { readPushKey } from '../../src/reminders/read-push-key.ts';
import { listen, testCertificate, trustTestAuthority } from '../support/fake-http-listener.ts';
import { PUSH_HOST } from '../support/fake-push-service.ts';
import { reminderBench } from './reminded.ts';

/** The parts of `web-push-testing` that are used here. */
type PushApi = { notifyUrl: string };
type PushServer = { _app: RequestListener; setRequestHandlers(): void };
type Subscribed = { endpoint: string; keys: { p256dh: string; auth: string }; clientHash: string };

/**
 * The package `web-push-testing` 1.2.2 behind the tests' certificate. It decrypts, and refuses a VAPID token that is not
 * signed by the key with which the browser subscribed, or has expired. It does not look at the token's audience and
 * subject: the fake push service does.
 */
async function startForeignPushService() {
  trustTestAuthority();
  const ofPackage = createRequire(realpathSync(inject('webPushTesting') ?? ''));
  const { PushApiModel } = ofPackage('../PushApiModel.js') as { PushApiModel: new () => PushApi };
  const Server = ofPackage('../server.js') as new (model: PushApi, port: number) => PushServer;
  const model = new PushApiModel();
  const service = new Server(model, 0);
  service.setRequestHandlers();
  const pem = testCertificate('votes');
  const port = await listen(https.createServer({ key: pem, cert: pem }, service._app));
  model.notifyUrl = `https://${PUSH_HOST}:${port}/notify/`;
  const post = (path: string, body: object = {}) =>
    fetch(`https://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const dataOf = async (answer: Response) => ((await answer.json()) as { data: unknown }).data;
  return {
    async subscribe(applicationServerKey: string) {
      const options = { userVisibleOnly: 'true', applicationServerKey };
      const { endpoint, keys, clientHash } = (await dataOf(await post('/subscribe', options))) as Subscribed;
      return { endpoint, ...keys, clientHash };
    },
    expire: ({ clientHash }: { clientHash: string }) => post(`/expire-subscription/${clientHash}`),
    async messagesOf({ clientHash }: { clientHash: string }) {
      const data = await dataOf(await post('/get-notifications', { clientHash }));
      return (data as { messages: string[] }).messages.map((message): unknown => JSON.parse(message));
    },
  };
}

describe.runIf(inject('webPushTesting'))('a push service that others wrote', () => {
  test('takes the reminder, decrypts it, and has its text', async () => {
    const service = await startForeignPushService();
    const bench = await reminderBench();
    const browser = await service.subscribe(await readPushKey(bench.deps));
    expect(await bench.keep(browser, [await bench.vote(0, 'Steve')])).toMatchObject({ kind: 'kept' });
    bench.nextDay();
    expect(await bench.send()).toEqual(['sent']);
    expect(await service.messagesOf(browser)).toEqual([
      {
        lang: 'de',
        title: 'Du kannst wieder abstimmen',
        body: expect.stringContaining('nächste Stimme'),
        stop: 'Erinnerungen abstellen',
      },
    ]);
  });

  test('does not know an expired subscription any more, which is then forgotten', async () => {
    const service = await startForeignPushService();
    const bench = await reminderBench();
    const publicKey = await readPushKey(bench.deps);
    const [expired, other] = [await service.subscribe(publicKey), await service.subscribe(publicKey)];
    const vote = await bench.vote(0, 'Steve');
    for (const browser of [expired, other]) await bench.keep(browser, [vote]);
    await service.expire(expired);
    bench.nextDay();
    expect((await bench.send()).toSorted()).toEqual(['gone', 'sent']);
    expect(await service.messagesOf(expired)).toEqual([]);
    expect(await bench.deps.reminders.countDocuments()).toBe(1);
  });

  test('refuses a message to a browser that subscribed with the key of another site', async () => {
    const service = await startForeignPushService();
    const [bench, otherSite] = [await reminderBench(), await reminderBench()];
    const browser = await service.subscribe(await readPushKey(otherSite.deps));
    await bench.keep(browser, [await bench.vote(0, 'Steve')]);
    bench.nextDay();
    expect(await bench.send()).toEqual(['refused']);
    expect(await service.messagesOf(browser)).toEqual([]);
  });
});
