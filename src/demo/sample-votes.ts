import type { ObjectId } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';
import { newVoteId } from '../votes/cast/cast-vote.ts';
import { usernameKey } from '../votes/username.ts';
import { noDelivery, type Vote } from '../votes/vote.ts';
import { type CastSample, seedOf } from './sample-days.ts';
import { type Outage, outagesOf, sampleDelivery } from './sample-deliveries.ts';
import { chance } from './sample-players.ts';
import type { Sample } from './samples.ts';

/** The rest of the votes of a server with a token come from the API. */
const SHARE_OF_PAGE = 0.7;

type Cast = {
  serverId: ObjectId;
  sample: Sample;
  /** Null if the server has none: its votes are counted and not forwarded. */
  listener: Listener | null;
  /** Of a plugin that casts votes; null if all are cast on the page. */
  tokenId: ObjectId | null;
  now: Date;
};

/** As if players had cast them: numbered by player, and each with the story of its delivery. */
export function sampleVotes({ serverId, sample, listener, tokenId, now }: Cast, casts: CastSample[]): Vote[] {
  const cast = new Map<string, { votes: number; onPage: number }>();
  const outages = outagesOf(sample, now);
  const waited = new Map<Outage, number>();
  return casts
    .toSorted((a, b) => a.votedAt.getTime() - b.votedAt.getTime())
    .map(({ username, votedAt }, index) => {
      const before = cast.get(username) ?? { votes: 0, onPage: 0 };
      const isApi = tokenId !== null && chance(seedOf(sample) + index * 1.7) > SHARE_OF_PAGE;
      const so = { votes: before.votes + 1, onPage: before.onPage + (isApi ? 0 : 1) };
      cast.set(username, so);
      const outage = outages.find(({ from, to }) => from <= votedAt && (!to || votedAt < to)) ?? null;
      const place = (outage && waited.get(outage)) ?? 0;
      if (outage) waited.set(outage, place + 1);
      const draw = chance(seedOf(sample) + votedAt.getTime() / 997);
      return {
        _id: newVoteId(votedAt),
        serverId,
        username,
        usernameKey: usernameKey(username),
        seq: so.votes,
        ...(so.onPage > 0 ? { pageVotes: so.onPage } : {}),
        votedAt,
        tokenId: isApi ? tokenId : null,
        source: isApi ? 'api' : 'web',
        delivery: listener ? sampleDelivery(listener, { votedAt, draw, outage, place }) : noDelivery(),
      };
    });
}
