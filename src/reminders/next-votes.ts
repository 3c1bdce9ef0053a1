import type { UUID } from 'mongodb';
import { after, HOUR, MINUTE } from '../platform/clock.ts';
import { whyOff } from '../votes/cast/cast-from-page.ts';
import { nextVoteAt, readNewestVotes } from '../votes/cast/cooldown.ts';
import { namelessId } from '../votes/nameless.ts';
import type { RemindersDeps } from './deps.ts';
import type { Reminder } from './reminder.ts';
import { afterSilence } from './silent-hours.ts';

/** Votes that become possible within this time are reminded of together, when the last one is. */
const TOGETHER_MS = 30 * MINUTE;

/** Between two reminders of one browser. */
const LEAST_GAP_MS = HOUR;

/**
 * When the players of these votes may vote again, for servers whose vote form works. It reads their newest votes, so a
 * vote in another browser or through a plugin counts too. Votes that lost their name are left out.
 */
export async function readNextVotes(deps: RemindersDeps, voteIds: UUID[]): Promise<Date[]> {
  const now = deps.clock.now();
  const votes = await deps.votes
    .find({ _id: { $in: voteIds } }, { projection: { serverId: 1, usernameKey: 1 } })
    .toArray();
  const named = votes.filter(({ usernameKey }) => namelessId(usernameKey) === null);
  const ids = named.map(({ serverId }) => serverId);
  const servers = await deps.servers
    .find(
      { _id: { $in: ids }, removedAt: null, hiddenAt: null },
      { projection: { webVotes: 1, listingPause: 1 } },
    )
    .toArray();
  const open = new Set(
    servers.filter((server) => !whyOff(deps.config, server, now)).map(({ _id }) => _id.toHexString()),
  );
  const players = new Map(
    named
      .filter(({ serverId }) => open.has(serverId.toHexString()))
      .map(({ serverId, usernameKey }) => [
        `${serverId.toHexString()} ${usernameKey}`,
        { serverId, usernameKey },
      ]),
  );
  const next = await Promise.all(
    [...players.values()].map(async (player) => {
      const { live, imported } = await readNewestVotes(deps, player);
      const ends = [live, imported].flatMap(
        (vote) => vote?.cooldownEndedAt ?? (vote ? nextVoteAt(vote) : []),
      );
      return ends.toSorted((one, other) => other.getTime() - one.getTime())[0];
    }),
  );
  return next.filter((at) => at !== undefined);
}

type Timed = Pick<Reminder, 'timeZone' | 'usedAt' | 'sentAt'>;

/** Whether a vote became possible since this browser voted last: earlier ones were reminded of, or were ignored. */
export function isDue(nextVotes: Date[], { usedAt }: Timed, now: Date): boolean {
  return nextVotes.some((next) => next > usedAt && next <= now);
}

/** When to remind of the next votes, outside of silent hours. Null if none becomes possible. */
export function dueAtOf(nextVotes: Date[], { timeZone, sentAt }: Timed, now: Date): Date | null {
  const later = nextVotes.filter((next) => next > now).map((next) => next.getTime());
  if (later.length === 0) return null;
  const until = Math.min(...later) + TOGETHER_MS;
  const last = Math.max(...later.filter((next) => next <= until));
  const earliest = sentAt ? after(sentAt, LEAST_GAP_MS).getTime() : 0;
  return afterSilence(new Date(Math.max(last, earliest)), timeZone);
}
