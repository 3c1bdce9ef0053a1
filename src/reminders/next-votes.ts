import type { ObjectId, UUID } from 'mongodb';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { after, HOUR, MINUTE } from '../platform/clock.ts';
import { serverLoader } from '../servers/server-loader.ts';
import { whyOff } from '../votes/cast/cast-from-page.ts';
import { nextVoteAt, readNewestVotes } from '../votes/cast/cooldown.ts';
import { namelessId } from '../votes/nameless.ts';
import type { Vote } from '../votes/vote.ts';
import type { RemindersDeps } from './deps.ts';
import type { Reminder } from './reminder.ts';
import { afterSilence } from './silent-hours.ts';

/** Votes that become possible within this time are reminded of together, when the last one is. */
const TOGETHER_MS = 30 * MINUTE;

/** Between two reminders of one browser. */
const LEAST_GAP_MS = HOUR;

/** From `at` on, a player may vote for the server again. */
export type NextVote = { serverId: ObjectId; at: Date };

const playersOfVotes = findLoader<Vote, UUID>({
  filter: (ids) => ({ _id: anyOf(ids) }),
  nameOf: String,
  keyOf: ({ _id }) => _id,
  options: { projection: { serverId: 1, usernameKey: 1 } },
});

const remindedServers = serverLoader({ removedAt: 1, hiddenAt: 1, webVotes: 1, listingPause: 1 });

/**
 * When the players of these votes may vote again, for servers whose vote form works. It reads their newest votes, so a
 * vote in another browser or through a plugin counts too. Votes that lost their name are left out.
 */
export async function readNextVotes(deps: RemindersDeps, voteIds: UUID[]): Promise<NextVote[]> {
  const now = deps.clock.now();
  const { batcher } = deps;
  const votes = await Promise.all(voteIds.map((id) => batcher.load(playersOfVotes, deps.votes, id)));
  const named = votes.filter((vote) => vote !== null).filter((vote) => namelessId(vote.usernameKey) === null);
  const servers = await Promise.all(
    named.map(({ serverId }) => batcher.load(remindedServers, deps.servers, serverId)),
  );
  const open = new Set(
    servers
      .filter(
        (server) => server && !server.removedAt && !server.hiddenAt && !whyOff(deps.config, server, now),
      )
      .map((server) => server?._id.toHexString()),
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
      return { serverId: player.serverId, ends };
    }),
  );
  return next.flatMap(({ serverId, ends }) =>
    ends.length === 0 ? [] : [{ serverId, at: new Date(Math.max(...ends.map(Number))) }],
  );
}

/** Those that became possible since the player voted last: earlier ones were reminded of, or were ignored. */
export function dueOf(nextVotes: NextVote[], usedAt: Date, now: Date): NextVote[] {
  return nextVotes.filter(({ at }) => at > usedAt && at <= now);
}

/** When to remind of the next votes, but not before `earliest`. Null if none becomes possible. */
export function remindAt(nextVotes: NextVote[], now: Date, earliest: Date = now): Date | null {
  const later = nextVotes.map(({ at }) => at).filter((at) => at > now);
  if (later.length === 0) return null;
  const first = Math.max(Math.min(...later.map(Number)), earliest.getTime());
  const until = after(new Date(first), TOGETHER_MS);
  const last = Math.max(...later.filter((at) => at <= until).map(Number));
  return new Date(Math.max(last, earliest.getTime()));
}

/** As `remindAt`, for a browser: outside of its silent hours, and at least an hour after its last reminder. */
export function dueAtOf(
  nextVotes: NextVote[],
  { timeZone, sentAt }: Pick<Reminder, 'timeZone' | 'sentAt'>,
  now: Date,
): Date | null {
  const at = remindAt(nextVotes, now, sentAt ? after(sentAt, LEAST_GAP_MS) : now);
  return at && afterSilence(at, timeZone);
}
