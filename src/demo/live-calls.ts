import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { messageOf } from './open-fake-server.ts';
import { type ListedSample, playerOf, sampleLatencyAt, samplePlayersAt } from './sample-days.ts';

export type Caller = ListedSample & { token: string };

/** The API accepts one report per server every five minutes. */
const REPORT_EVERY_MS = 5 * MINUTE + SECOND;

const LONGEST_PAUSE_MS = 4 * SECOND;

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}

/** Casts a vote every few seconds, of a made-up player for one of `callers`. */
export async function castLiveVotes(
  url: string,
  callers: () => Caller[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const all = callers();
    const caller = all[randomInt(Math.max(1, all.length))];
    // Of new names, only some votes a day would count for the rank.
    if (caller) {
      const username = playerOf(caller.sample, randomInt(10_000));
      await post(url, caller, 'vote', { username }, signal);
    }
    await rest(randomInt(LONGEST_PAUSE_MS / 4, LONGEST_PAUSE_MS), signal);
  }
}

/** Reports the status of a server that answers no queries. */
export async function reportLive(url: string, caller: Caller, signal: AbortSignal): Promise<void> {
  const { sample } = caller;
  while (!signal.aborted) {
    const status = {
      online_players: samplePlayersAt(sample, new Date()),
      max_players: sample.activity.slots,
      latency_ms: sampleLatencyAt(sample, new Date()),
      motd: messageOf(sample),
      server_version: sample.version,
    };
    await post(url, caller, 'status', status, signal);
    await rest(REPORT_EVERY_MS, signal);
  }
}

async function post(
  url: string,
  { serverId, token }: Caller,
  endpoint: 'vote' | 'status',
  body: object,
  signal: AbortSignal,
): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const answer = await fetch(`${url}/api/v1/servers/${serverId.toHexString()}/${endpoint}`, request).catch(
    () => undefined,
  );
  await answer?.arrayBuffer().catch(() => undefined);
}
