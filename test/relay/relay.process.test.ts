import { describe, expect, test } from 'vitest';
import { HAS_JAVA, relayBench } from './relay-process.ts';

describe.skipIf(!HAS_JAVA)('the relay', () => {
  test('hands votes to a Votifier v2, tells the listing, and logs one line a vote', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    await expect.poll(() => vote.state).toBe('delivered');
    const many = Array.from({ length: 60 }, (_, index) => bench.api.cast(`Player${index}`));
    await expect.poll(() => many.filter(({ state }) => state === 'delivered').length).toBe(60);

    expect(bench.received()).toEqual(['Alice', ...many.map(({ username }) => username)]);
    expect(bench.listener.votes[0]).toMatchObject({
      protocol: 'v2',
      serviceName: 'Tallyport',
      address: '0.0.0.0',
      timestamp: Date.parse(vote.votedAt),
      uuid: vote.id,
    });
    expect(bench.api.calls[0]?.headers['user-agent']).toMatch(
      /^tallyport-relay\/\d+\.\d+\.\d+ \(Java [\d._]+; standalone\)$/,
    );
    expect(relay.lines.filter((line) => line.includes(vote.id))).toEqual([
      expect.stringMatching(/Z vote .+ of Alice: delivered$/),
    ]);
    expect(await relay.stop()).toBe(0);
    expect(relay.lines.at(-1)).toMatch(/stopped$/);
    expect(bench.api.refusedBodies).toBe(0);
  });
});
