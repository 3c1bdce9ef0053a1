import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock } from '../../platform/clock.ts';
import { retryOnDuplicateKey } from '../../platform/mongo.ts';
import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import { networkKey, playerOfNetworkKey } from './origin-keys.ts';
import { ORIGIN_STORED_DAYS, ORIGIN_STORED_MS } from './vote-origin.ts';

const returningPlayerDefinition = {
  /** The keyed hash of a network and a player. */
  _id: { type: String, required: true },
  /** The UTC days with a vote, `2026-11-21`, for `ORIGIN_STORED_DAYS`. Held votes are left out. */
  days: { type: [String], required: true },
  expiresAt: { type: Date, required: true },
} as const;

/** A player who comes back to a network is more credible than a new name. */
export const returningPlayerSchema = new Schema(returningPlayerDefinition, {
  collection: 'returning_players',
});
returningPlayerSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 3_600 });

export type ReturningPlayer = Omit<InferRawDocType<typeof returningPlayerDefinition>, 'days'> & {
  days: string[];
};

/** A player who voted on so many earlier days from a network is not new there. */
export const EARLIER_DAYS = 3;

type Deps = {
  returningPlayers: Collection<ReturningPlayer>;
  config: { SECRET_KEY: string };
  clock: Clock;
};

/** `player`: as `playerHash` returns it. */
export async function isReturning(deps: Deps, address: string, player: string): Promise<boolean> {
  const today = dayOf(deps.clock.now());
  const found = await deps.returningPlayers.findOne({ _id: idOf(deps, address, player) });
  const earlier = found?.days.filter((day) => day < today && day >= oldest(today)) ?? [];
  return earlier.length >= EARLIER_DAYS;
}

/** Not for held votes: they would make invented names credible. */
export async function noteReturning(deps: Deps, address: string, player: string): Promise<void> {
  const now = deps.clock.now();
  const today = dayOf(now);
  const recent = {
    $filter: { input: { $ifNull: ['$days', []] }, cond: { $gte: ['$$this', oldest(today)] } },
  };
  const update = [
    { $set: { days: { $setUnion: [recent, [today]] }, expiresAt: after(now, ORIGIN_STORED_MS) } },
  ];
  await retryOnDuplicateKey(() =>
    deps.returningPlayers.updateOne({ _id: idOf(deps, address, player) }, update, { upsert: true }),
  );
}

function idOf(deps: Deps, address: string, player: string): string {
  return playerOfNetworkKey(deps, networkKey(deps, address), player);
}

function oldest(today: string): string {
  return addDays(today, -ORIGIN_STORED_DAYS);
}
