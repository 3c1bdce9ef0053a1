import type { Collection } from 'mongodb';
import { anyOf } from '../batching/find-together.ts';
import type { Together } from '../batching/lanes.ts';
import { sendRepeatable } from '../batching/write-together.ts';
import { REPLICATED } from '../mongo.ts';
import {
  newRaise,
  plainRaise,
  RAISES_KEPT,
  type Raise,
  raiseCounter,
  raiseUnusual,
  totalWith,
} from './raise-counter.ts';
import type { Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import { countVotesOfMonth, monthOf } from './vote-figures.ts';

/** A vote to be counted. */
type Counted = Pick<Vote, 'serverId' | 'votedAt'>;

/** One raise of a batch; `places` are those of its votes there. */
type Group = { raise: Raise; places: number[] };

/**
 * Counts votes: one increment for each server, day and batch. Each gets its own number (design rule 8): every raise
 * is noted on the counter in its order, and where several are made in one command, what the month had come to with
 * each is read afterwards.
 */
export const countVotesTogether: Together<Collection<VoteCounter>, Counted, number> = {
  most: 200,
  async ask(voteCounters, votes) {
    const groups = groupsOf(votes);
    const [only] = groups;
    const totals =
      only && groups.length === 1
        ? [await raiseCounter(voteCounters, only.raise)]
        : await raiseMany(
            voteCounters,
            groups.map(({ raise }) => raise),
          );
    const numbers = votes.map((): number | Error => new Error('its counter was not raised'));
    groups.forEach(({ places }, g) => {
      const total = totals[g];
      places.forEach((place, i) => {
        if (typeof total === 'number') numbers[place] = total - places.length + 1 + i;
        else if (total) numbers[place] = total;
      });
    });
    return numbers;
  },
};

function groupsOf(votes: Counted[]): Group[] {
  const groups = new Map<string, Group>();
  votes.forEach(({ serverId, votedAt }, place) => {
    const raise = newRaise(serverId, votedAt);
    const key = `${serverId.toHexString()} ${raise.month} ${raise.day}`;
    const group = groups.get(key);
    if (group) {
      group.raise.votedAt.push(votedAt);
      group.places.push(place);
    } else groups.set(key, { raise, places: [place] });
  });
  return [...groups.values()];
}

/** What each raise's month has come to with it. */
async function raiseMany(
  voteCounters: Collection<VoteCounter>,
  raises: Raise[],
): Promise<(number | Error)[]> {
  const began = performance.now();
  const { errors } = await sendRepeatable(voteCounters, raises.map(plainRaise), REPLICATED);
  const counters = await voteCounters
    .find(
      {
        serverId: anyOf(raises.map(({ serverId }) => serverId)),
        month: anyOf([...new Set(raises.map(({ month }) => month))]),
      },
      { projection: { serverId: 1, month: 1, days: 1, raises: 1, 'recount.id': 1 } },
    )
    .toArray();
  const byMonth = new Map(
    counters.map((counter) => [`${counter.serverId.toHexString()} ${counter.month}`, counter]),
  );
  const found = raises.map(async (raise, r): Promise<number | Error> => {
    const counter = byMonth.get(`${raise.serverId.toHexString()} ${raise.month}`);
    const total = counter && totalWith(raise, counter);
    if (total !== undefined) return total;
    const error = errors.get(r);
    if (error) return error;
    // Made, and pushed out by others since: a second time would count it twice.
    const full = counter?.raises && counter.raises.length >= RAISES_KEPT && !counter.recount;
    return full ? new Error('its number was overwritten') : raiseUnusual(voteCounters, raise, began);
  });
  return Promise.all(found.map((total) => total.catch((error: Error) => error)));
}

/** How many votes servers have in the months of some votes, from the votes themselves: once for each. */
export const monthsTogether: Together<Collection<Vote>, Counted, number> = {
  most: 200,
  async ask(votes, wanted) {
    const counts = new Map<string, Promise<number>>();
    const numbers = wanted.map(({ serverId, votedAt }) => {
      const key = `${serverId.toHexString()} ${monthOf(votedAt)}`;
      const count = counts.get(key) ?? countVotesOfMonth(votes, serverId, votedAt);
      counts.set(key, count);
      return count.catch((error: Error) => error);
    });
    return Promise.all(numbers);
  },
};
