import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPlatform, type TestPlatform, ask } from '../support/platform.ts';
let p: TestPlatform;
beforeAll(async () => { p = await startPlatform(process.env['DEBUG_LOG'] ? { LOG_LEVEL: 'debug' } : {}); });
afterAll(() => p.close());
test('smoke', async () => {
  const s = await p.addServer();
  for (const run of [
    () => p.vote(s, ' Steve '), () => p.vote(s, 'steve'), () => p.vote(s, 'Alex', {'idempotency-key': 'k1'}), () => p.vote(s, 'Alex', {'idempotency-key': 'k1'}), () => p.vote(s, 'Alexa', {'idempotency-key': 'k1'}),
    () => p.call(s, 'check-vote?username=STEVE'), () => p.call(s, 'check-vote?username=a&username=b'), () => p.call(s, 'check-vote?username=%zz'),() => p.call(s, 'check-vote'),
    () => p.report(s, {online_players: 3, max_players: -1, latency_ms: 2.3456, motd: '§a\nx'}), () => p.report(s, {online_players: 3, max_players: -1}), () => p.report(s, {}),() => p.report(s, []),
    () => p.call(s, 'info'), () => p.call(s, 'reviews'), () => p.call(s, 'reviews?limit=0&page=x'), () => p.call(s, 'reviews?limit=999&page=99999999999999999999999'),
    () => p.call({...s, token: 'x'}, 'info'), () => p.call(s, 'vote'), () => p.call(s, 'vote', {method: 'OPTIONS'}), () => p.call(s, 'nope'), () => p.call(s, 'info', {method:'HEAD'}),
    () => p.call(s, 'vote', {method: 'POST', body: 'a=b'}), () => p.call(s, 'vote', {method: 'POST', body: '{', headers: {'content-type': 'application/json; charset=utf-8'}}),
    () => p.call(s, 'vote', {method: 'POST', body: '{}', headers: {'content-type': 'application/problem+json'}}),
    () => p.call(s, 'vote', {method: 'POST'}),
    () => p.call(s, 'vote', {method: 'POST', headers: {'content-type': 'application/json'}}),
    () => p.vote(s, 'x'.repeat(17000)), () => p.vote(s, 'Eve', {'idempotency-key': 'a b'}),
    () => ask(p.url + '/healthz'), () => ask(p.url + '/readyz'), () => ask(p.url + '/operator'), () => ask(p.url + '/%zz'),() => ask(p.url + '/docs/'),
  ]) {
    const a = await run();
    console.log(a.status, JSON.stringify(Object.fromEntries([...a.headers].filter(([k]) => /rate|retry|vote-id|allow|www|type|connection/.test(k) && !/x-/.test(k)))), a.text.slice(0, 900));
  }
  const doc = await ask(p.url + '/openapi.json');
  await (await import('node:fs/promises')).writeFile('/tmp/openapi.json', JSON.stringify(doc.body, null, 1));
  expect(1).toBe(1);
});
