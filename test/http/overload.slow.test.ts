import { setTimeout as pause } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerError } from '../../src/http/http-errors.ts';
import { putVotesFirst, refuseOverload } from '../../src/http/requests.ts';

/** Votes are refused at four times this delay of the event loop. */
const MOST_DELAY_MS = 60;
let app: FastifyInstance;
let blockMs = 0;

beforeAll(async () => {
  app = Fastify();
  app.setErrorHandler(answerError);
  await refuseOverload(app, MOST_DELAY_MS);
  app.get('/healthz', async () => 'ok');
  app.get('/page', async () => 'page');
  app.get('/file', { config: { isFile: true } }, async () => 'file');
  await app.register(async (api) => {
    putVotesFirst(api);
    api.get('/vote', async () => 'vote');
  });
  await app.ready();
  // The first two seconds do not count.
  await pause(2_100);
  const busy = async () => {
    const until = performance.now() + blockMs;
    while (performance.now() < until);
    await pause(1);
    if (blockMs >= 0) void busy();
  };
  void busy();
});
afterAll(() => {
  blockMs = -1;
  return app.close();
});

const answers = async () =>
  Promise.all(
    ['/healthz', '/file', '/vote', '/page'].map(async (url) => (await app.inject({ url })).statusCode),
  );

test('an overloaded process refuses pages first, votes later, files and its health never', async () => {
  expect(await answers()).toEqual([200, 200, 200, 200]);
  blockMs = 150;
  await expect.poll(answers).toEqual([200, 200, 200, 503]);
  blockMs = 500;
  await expect.poll(answers).toEqual([200, 200, 503, 503]);
  blockMs = 0;
  await expect.poll(answers).toEqual([200, 200, 200, 200]);
});
