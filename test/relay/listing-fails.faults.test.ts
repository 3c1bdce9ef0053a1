import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DeliveryCall } from '../support/fake-delivery-api.ts';
import { HAS_JAVA, relayBench } from './relay-process.ts';

const answer = (call: DeliveryCall, status: number, body: string, headers: Record<string, string> = {}) => {
  call.response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  return true;
};

const cut = (call: DeliveryCall) => {
  call.response.destroy();
  return true;
};

describe.skipIf(!HAS_JAVA)('a listing that fails', () => {
  test('loses no vote and repeats none: cut connections, errors, wrong and huge answers', async () => {
    const bench = await relayBench();
    const { api } = bench;
    const relay = bench.start();
    const first = api.cast('First');
    await expect.poll(() => first.state).toBe('delivered');
    const failures: [string, (call: DeliveryCall) => boolean | Promise<boolean>][] = [
      ['Error500', (call) => answer(call, 500, 'oops')],
      ['AbsurdTime', (call) => answer(call, 429, '{"next_allowed_at": "+999999999-12-31T00:00:00Z"}')],
      ['WrongJson', (call) => answer(call, 200, '{"deliveries": [')],
      ['NoObject', (call) => answer(call, 200, '[]')],
      ['Cut', cut],
      [
        'CutHalf',
        async (call) => {
          const { body } = await call.answer();
          const text = JSON.stringify(body);
          call.response.writeHead(200, { 'content-length': text.length });
          call.response.write(text.slice(0, -10), () => call.response.destroy());
          return true;
        },
      ],
      [
        'AnswerLost',
        async (call) => {
          await call.answer();
          return cut(call);
        },
      ],
      ['Huge', (call) => answer(call, 200, `{"deliveries": [], "x": "${'x'.repeat(1_100_000)}"}`)],
      ['Deep', (call) => answer(call, 200, '['.repeat(100_000))],
    ];
    for (const path of ['take', 'done'] as const) {
      for (const [name, fail] of failures) {
        // The first request of this kind fails.
        let failed = false;
        api.intercept = (call) => {
          if (failed || call.path !== path) return false;
          failed = true;
          return fail(call);
        };
        const vote = api.cast(`${path}${name}`);
        await expect.poll(() => [failed, vote.state]).toEqual([true, 'delivered']);
        expect(vote.timeline).toEqual(['taken 1', 'delivered']);
      }
    }
    expect(bench.received().toSorted()).toEqual(api.votes.map(({ username }) => username).toSorted());
    await relay.says('the listing cannot be reached');
    expect(relay.lines.join('\n')).not.toContain('an error in the relay');
    expect(api.refusedBodies).toBe(0);
  });

  test('names what the owner must change, and goes on when the configuration is right', async () => {
    const bench = await relayBench();
    bench.writeConfig([`server=${bench.api.url}`, 'key=wrong']);
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    await relay.says('the key was refused: it is not whole, was revoked or has expired');
    const refusals: [number, string][] = [
      [403, 'the key may not fetch votes'],
      [404, 'check server= in tallyport-relay.properties'],
      [422, 'choose "My server fetches its votes"'],
      [400, 'does not understand the relay'],
    ];
    for (const [index, [status, words]] of refusals.entries()) {
      bench.api.intercept = (call) => answer(call, status, '{"error": "…", "code": "fetch-not-set"}');
      bench.writeConfig([`server=${bench.api.url}`, `key=${bench.api.key}`, ...Array(index + 1).fill('#')]);
      await relay.says(words);
    }
    bench.api.intercept = undefined;
    bench.writeConfig();
    await expect.poll(() => vote.state).toBe('delivered');
  });

  test('refuses one outcome as malformed: the relay gives up that one, and tells the others', async () => {
    const bench = await relayBench();
    const { api } = bench;
    const relay = bench.start();
    const first = api.cast('First');
    await expect.poll(() => first.state).toBe('delivered');
    api.paused = true;
    const votes = ['Alice', 'Bob', 'Carol'].map((name) => api.cast(name));
    const bad = votes[1]?.id ?? '';
    api.intercept = (call) =>
      call.path === 'done' && JSON.stringify(call.body).includes(bad) && answer(call, 400, '{}');
    api.paused = false;
    api.cast('Dave');
    await relay.says(`vote ${bad}: the listing could not be told "delivered"`);
    await expect.poll(() => votes.map(({ state }) => state)).toEqual(['delivered', 'taken', 'delivered']);
    expect(relay.lines.filter((line) => line.includes('could not be told'))).toHaveLength(1);
    await expect.poll(bench.readJournal).toContain(` settled ${bad} 1 `);
  });

  test('gives elements that are no votes: one line says how many, and the votes among them arrive', async () => {
    const bench = await relayBench();
    const { api } = bench;
    const times = ['+999999999-12-31T23:59:59Z', '-999999999-01-01T00:00:00Z', 'soon'];
    let given: unknown[] = [];
    api.intercept = async (call) => {
      if (call.path === 'done' || given.length > 0) return false;
      const { deliveries } = (await call.answer()).body as { deliveries: object[] };
      const wrong = times.map((voted_at) => ({ ...deliveries[0], voted_at }));
      given = [...wrong, ...Array(400_000).fill(1), ...deliveries];
      return answer(call, 200, JSON.stringify({ deliveries: given }));
    };
    const vote = api.cast('Alice');
    const relay = bench.start();
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'delivered']);
    expect(relay.lines.filter((line) => line.includes('!'))).toEqual([
      expect.stringMatching(
        /! votes of the listing cannot be read: 400003, the first one because voted_at is no time$/,
      ),
    ]);
  });

  test('does not send the key to another address', async () => {
    const bench = await relayBench();
    const asked: unknown[] = [];
    const other = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/take`;
    bench.api.intercept = (call) => answer(call, 307, '', { location });
    const relay = bench.start();
    await relay.says(`the listing is at another address (${location})`);
    expect(asked).toEqual([]);
  });

  test('is asked again when it says: Retry-After and next_allowed_at', async () => {
    const bench = await relayBench();
    const times: number[] = [];
    const soon = () => new Date(Date.now() + 3_000).toISOString();
    bench.api.intercept = (call) => {
      times.push(Date.now());
      if (times.length === 1)
        return answer(call, 429, '{"code": "too-many-requests"}', { 'retry-after': '3' });
      if (times.length === 2) return answer(call, 429, `{"next_allowed_at": "${soon()}"}`);
      if (times.length === 3) return answer(call, 503, '{}', { 'retry-after': '3' });
      return false;
    };
    const relay = bench.start();
    const vote = bench.api.cast('Alice');
    await expect.poll(() => vote.state).toBe('delivered');
    await relay.says('the listing asks the relay to wait (429)');
    const pauses = times.slice(1, 4).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThan(2_900);
  });

  test('that answers at once with nothing is not asked without a pause', async () => {
    const bench = await relayBench();
    bench.api.intercept = (call) => answer(call, 200, '{"deliveries": [], "paused": true}');
    const relay = bench.start();
    await relay.says('the delivery of votes is paused at the listing');
    await expect.poll(() => bench.api.calls.length).toBeGreaterThan(3);
    const asked = bench.api.calls.length;
    expect(asked).toBeLessThan(10);
    bench.api.intercept = undefined;
    const vote = bench.api.cast('Alice');
    await expect.poll(() => vote.state).toBe('delivered');
    await relay.says('the delivery of votes goes on');
  });
});
