import { ObjectId } from 'mongodb';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import type { QuarantineCause } from '../../src/votes/exclusions/vote-exclusion.ts';
import { playerHash } from '../../src/votes/web/origin-keys.ts';
import { castVote } from '../support/casting.ts';

/** The servers with things to decide: the sample listing's, by their role there. */
type InboxServers = { harbour: ObjectId; long: ObjectId; rightToLeft: ObjectId };

/** Adds what operators decide about: held votes with their networks, reports, and new servers. */
export async function fillInbox(deps: AppDeps, { harbour, long, rightToLeft }: InboxServers): Promise<void> {
  const farm = { cause: 'network', origin: 'sampleNetworkHash-0123' } as const;
  const network = 'One network voted as more than 6 new players in a day.';
  await hold(deps, harbour, ['Krusty_01', 'Krusty_02', 'Krusty_03', 'xX_Bone_Xx'], {
    ...farm,
    reason: network,
  });
  await hold(deps, long, ['Krusty_01', 'Krusty_04'], { ...farm, reason: network });
  await hold(deps, rightToLeft, ['Mira', 'Tobi', 'Juno'], {
    cause: 'new-players',
    reason: 'Players of more than 20 networks voted for the first time within an hour.',
  });
  await report(deps, harbour, 'fake-figures', 'They have 3 players and 400 votes a day.');
  await report(deps, harbour, 'scam', 'They ask for passwords in the chat.');
  await report(deps, long, 'offensive', '');
  await deps.servers.updateMany({ _id: { $in: [long, rightToLeft] } }, { $set: { isUnseen: true } });
}

type HeldFor = { cause: QuarantineCause; origin?: string; reason: string };

async function hold(
  deps: AppDeps,
  serverId: ObjectId,
  players: string[],
  { reason, ...heldFor }: HeldFor,
): Promise<void> {
  const quarantineId = await openQuarantine(deps, serverId, reason, heldFor);
  for (const username of players) await castVote(deps, { serverId, username, tokenId: null, quarantineId });
  const entries = players.map((name) => ({ serverId, player: playerHash(deps, name.toLowerCase()) }));
  const day = deps.clock.now().toISOString().slice(0, 10);
  await deps.voteOrigins.updateOne(
    { _id: `${heldFor.origin ?? 'sampleOtherNetwork-012'}:${day}` },
    {
      $push: { players: { $each: entries } },
      $set: { kind: 'network', expiresAt: after(deps.clock.now(), 30 * DAY) },
    },
    { upsert: true },
  );
}

async function report(
  deps: AppDeps,
  serverId: ObjectId,
  kind: 'fake-figures' | 'scam' | 'offensive',
  text: string,
): Promise<void> {
  const at = after(deps.clock.now(), -5 * MINUTE);
  await deps.complaints.insertOne({ _id: new ObjectId(), serverId, kind, text, at, isOpen: true });
}
