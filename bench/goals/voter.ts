/** Casts votes for the servers of `storm.ts`, at a steady pace, and tells its parent how many rounds of votes it has cast. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { SECOND, systemClock } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { castVote } from '../../test/support/casting.ts';

const { VOTER = '', FIRST, VOTES, SECONDS, TOKEN_ID, SERVER_IDS = '' } = process.env;
const opened = await openAppDeps(loadConfig(process.env) as ConnectedConfig, 'voter');
const serverIds = SERVER_IDS.split(',').map((id) => new ObjectId(id));
const tokenId = new ObjectId(TOKEN_ID);
process.send?.('ready');
const [offsetMs] = await once(process, 'message');
const deps = { ...opened, clock: systemClock(Number(offsetMs)) };
const [first, votes] = [Number(FIRST), Number(VOTES)];
const everyMs = (Number(SECONDS) * SECOND) / votes;
const began = performance.now() - first * everyMs;
for (let n = first; n < votes; n += 1) {
  const early = began + n * everyMs - performance.now();
  if (early > 0) await pause(early);
  // A name that an earlier process has voted with is refused by its cooldown.
  await Promise.all(
    serverIds.map((serverId) => castVote(deps, { serverId, tokenId, username: `v${VOTER}-${n}` })),
  );
  process.send?.(n + 1);
}
await deps.close();
process.disconnect?.();
