/**
 * `node bench/api/journal.ts [SECONDS]`: the cost, on a standalone mongod, of using only journaled votes for refusals and
 * check-vote. It calls both in this process, for votes of 5 hours ago and for votes of the last seconds, with and without
 * the wait for the journal.
 */
import { ObjectId } from 'mongodb';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { CastDeadline } from '../../src/votes/cast/cast-deadline.ts';
import { castVote } from '../../src/votes/cast/cast-vote.ts';
import { checkVote } from '../../src/votes/cast/cooldown.ts';
import { usernameKey } from '../../src/votes/username.ts';
import { startMongod } from '../../test/support/services.ts';

const SECONDS = Number(process.argv[2] ?? 3);

const mongod = await startMongod({ binary: await findMongod(ownEnvironment(), console.log), onDisk: true });
const config = loadConfig({
  NODE_ENV: 'test',
  LOG_LEVEL: 'error',
  MONGODB_URI: `${mongod.uri}/journal`,
  REDIS_URL: 'redis://127.0.0.1:1',
  SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
}) as ConnectedConfig;
const deps = await openAppDeps(config, 'bench');
await migrateDatabase(deps.mongo);
const without = { ...deps, durability: { confirm: async () => undefined } };
const serverId = new ObjectId();
const cast = (on: AppDeps, username: string) => {
  const request = { serverId, username, usernameKey: usernameKey(username), tokenId: new ObjectId() };
  return castVote(on, request, new CastDeadline(MINUTE));
};
const old = { ...deps, clock: { now: () => after(new Date(), -5 * HOUR) } };
await cast(old, 'old');

const KINDS: [string, (on: AppDeps, username: string) => Promise<unknown>][] = [
  ['check-vote', (on, username) => checkVote(on, serverId, username)],
  ['refusal', cast],
];
console.log('call, vote, connections: without the wait → with it (calls/s; median and 99th of 100, ms)');
for (const [call, ask] of KINDS) {
  for (const age of ['old', 'young'] as const) {
    for (const connections of [1, 50]) {
      const figures: string[] = [];
      for (const on of [without, deps]) {
        // A young vote: it is not certain that the journal was flushed since the vote was cast.
        const username = age === 'old' ? 'old' : `young${Math.random()}`;
        if (age === 'young') await cast(deps, username);
        figures.push(await measure(connections, () => ask(on, username)));
      }
      console.log(`${call}, ${age}, ${connections}: ${figures.join(' → ')}`);
    }
  }
}
await deps.close();
await mongod.stop();

async function measure(connections: number, ask: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  const began = performance.now();
  const until = began + 1_000 * SECONDS;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        const startedAt = performance.now();
        await ask();
        times.push(performance.now() - startedAt);
      }
    }),
  );
  const perSecond = (1_000 * times.length) / (performance.now() - began);
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  return `${perSecond.toFixed(0)}/s (${at(0.5)}; ${at(0.99)})`;
}
