import { AsyncLocalStorage } from 'node:async_hooks';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putVotesFirst } from '../../src/http/requests.ts';
import { takeTurns } from '../../src/http/turns.ts';

let app: FastifyInstance;
let turn = 0;
let isRunning = true;
/** The turn of the event loop in which each request reached its route, and its address. */
let begun: { turn: number; ip: string }[] = [];
const context = new AsyncLocalStorage<string>();

beforeAll(async () => {
  app = Fastify();
  app.addHook('onRequest', (request, _reply, done) => context.run(request.ip, done));
  takeTurns(app);
  const note = async ({ ip }: { ip: string }) => {
    begun.push({ turn, ip });
    return context.getStore();
  };
  app.get('/page', note);
  await app.register(async (api) => {
    putVotesFirst(api);
    api.get('/vote', note);
  });
  await app.ready();
  const tick = () => {
    turn += 1;
    if (isRunning) setImmediate(tick);
  };
  tick();
});
beforeEach(() => {
  begun = [];
});
afterAll(() => {
  isRunning = false;
  return app.close();
});

const send = (url: string, address: string, times: number) =>
  Array.from({ length: times }, () => app.inject({ url, remoteAddress: address }));
const inEachTurn = () => [...Map.groupBy(begun, (one) => one.turn).values()].map(({ length }) => length);

test('two requests of browsers begin in a turn of the event loop, each in its own context', async () => {
  const answers = await Promise.all(send('/page', '192.0.2.1', 9));
  expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 9 }, () => '192.0.2.1'));
  expect(Math.max(...inEachTurn())).toBe(2);
  expect(inEachTurn().length).toBeGreaterThanOrEqual(5);
  begun = [];
  // The queue is empty again: the next ones wait for nothing.
  await Promise.all(send('/page', '192.0.2.1', 2));
  expect(inEachTurn().length).toBeLessThanOrEqual(2);
});

test('each network gets its share, and requests of programs begin at once', async () => {
  const flood = send('/page', '192.0.2.1', 20);
  const visitor = send('/page', '198.51.100.1', 2);
  const votes = send('/vote', '203.0.113.1', 5);
  const answers = await Promise.all([...flood, ...visitor, ...votes]);
  expect(answers.slice(20, 22).map(({ body }) => body)).toEqual(['198.51.100.1', '198.51.100.1']);
  const order = begun.map(({ ip }) => ip);
  expect(order.lastIndexOf('198.51.100.1')).toBeLessThan(14);
  const programs = begun.filter(({ ip }) => ip === '203.0.113.1');
  expect(new Set(programs.map((one) => one.turn)).size).toBe(1);
});
