import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ask } from '../support/api-description.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';
import { startWeb, type WebProcess } from '../support/web-process.ts';

let tallyport: TestDeps;
let server: TestServer;
beforeAll(async () => {
  tallyport = await startApp();
  server = await tallyport.addServer();
});
afterAll(() => tallyport.close());

/** A web process that continues for `ms` after the signal, and a client with keep-alive connections. */
async function startWithDelay(ms: number) {
  const web = await startWeb({ ...tallyport.env, SHUTDOWN_DELAY_MS: String(ms) });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const get = (path: string) =>
    new Promise<{ status: number; connection: string | undefined; body: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${server.token}` };
      request(`${web.url}${path}`, { agent, headers }, async (answer) => {
        const body = await text(answer);
        resolve({ status: answer.statusCode ?? 0, connection: answer.headers.connection, body });
      })
        .on('error', reject)
        .end();
    });
  return { web, get, info: () => get(`/api/v1/servers/${server.serverId}/info`) };
}

const isReady = async (get: (path: string) => Promise<{ status: number }>) => (await get('/readyz')).status;

test('a stopping web process is not ready, answers for a while, and closes connections', async () => {
  const { web, get, info } = await startWithDelay(60_000);
  // On a busy machine a new process may refuse a request.
  await expect.poll(info).toMatchObject({ status: 200, connection: 'keep-alive' });

  web.child.kill('SIGTERM');
  await expect.poll(() => isReady(get)).toBe(503);
  const notReady = await get('/readyz');
  expect(JSON.parse(notReady.body)).toMatchObject({ error: 'This process is stopping.', ready: false });
  // On new connections and on open ones.
  for (let n = 0; n < 3; n += 1) expect(await info()).toMatchObject({ status: 200, connection: 'close' });
  const voted = await ask(`${web.url}/api/v1/servers/${server.serverId}/vote`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'Steve' }),
  });
  expect([voted.status, voted.headers.get('connection')]).toEqual([200, 'close']);

  // A second signal ends the delay.
  await expect
    .poll(() => {
      web.child.kill('SIGTERM');
      return hasEnded(web);
    })
    .toBe(true);
  expect(await web.ended).toBe(130);
});

test('after the delay it shuts down in order', async () => {
  const { web } = await startWithDelay(1_000);
  const stoppedAt = performance.now();
  web.child.kill('SIGTERM');
  expect(await web.ended).toBe(0);
  expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(1_000);
});

function hasEnded({ child }: WebProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
