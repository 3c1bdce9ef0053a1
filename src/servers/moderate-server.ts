import type { Filter, ObjectId, UpdateFilter, WithId } from 'mongodb';
import { z } from 'zod';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { readSlice, type Slice } from '../platform/slices.ts';
import { optionalReason, reasonText } from '../platform/text.ts';
import type { ServersDeps } from './deps.ts';
import { nextRank } from './listed-servers.ts';
import { deleteUpload } from './picture-uploads.ts';
import { deleteUnusedPictures, pictureIdsOf } from './pictures.ts';
import { LINKS, PROFILE_PARTS, type Profile, type ProfilePart } from './profile.ts';
import { requestRanks } from './request-ranks.ts';
import type { Server } from './server.ts';

const hiding = z.object({ reason: reasonText, internalReason: optionalReason });

/**
 * Hides a server from the ranking and all public pages; its API still accepts votes. The owner sees the reason; the
 * internal reason is only for operators. A second call changes only the reasons. Null when no such server is listed.
 *
 * @throws {InvalidDocumentError} for an invalid reason
 */
export async function hideServer(
  deps: ServersDeps,
  serverId: ObjectId,
  input: { reason: string; internalReason?: string | undefined },
  by: string,
): Promise<WithId<Server> | null> {
  const { reason, internalReason } = parseInput(hiding, input);
  const { servers, clock } = deps;
  const hidden = await servers.findOneAndUpdate({ _id: serverId, removedAt: null }, [
    {
      $set: {
        hiddenAt: { $ifNull: ['$hiddenAt', clock.now()] },
        hiddenReason: { $literal: reason },
        hiddenInternalReason: internalReason === undefined ? '$$REMOVE' : { $literal: internalReason },
        ranked: null,
      },
    },
    { $unset: 'isUnseen' },
  ]);
  if (!hidden) return null;
  // The rank of hidden servers (see recompute-ranks.ts), at once and not only at the next ranking.
  const rankPosition = await nextRank(servers);
  const server = await servers.findOneAndUpdate(
    { _id: serverId, hiddenAt: { $ne: null } },
    { $set: { rankPosition } },
    { returnDocument: 'after' },
  );
  const details = { reason, ...(internalReason ? { internalReason } : {}) };
  await recordAudit(deps, { by, action: 'server.hide', serverId, details });
  await requestRanks(deps.producer);
  return server;
}

/** Null when no such server is listed. A second call does not change the server. */
export async function unhideServer(deps: ServersDeps, serverId: ObjectId, by: string) {
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null },
    { $set: { hiddenAt: null }, $unset: { hiddenReason: 1, hiddenInternalReason: 1 } },
    { returnDocument: 'after' },
  );
  if (!server) return null;
  await recordAudit(deps, { by, action: 'server.unhide', serverId, details: {} });
  await requestRanks(deps.producer);
  return server;
}

const removing = z.object({
  part: z.enum(PROFILE_PARTS, { error: 'must be a part of the profile' }),
  reason: reasonText,
  internalReason: optionalReason,
});

export function filledParts(profile: Profile = {}): ProfilePart[] {
  const { shortText, description, banner, icon } = profile;
  const filled: Record<ProfilePart, boolean> = {
    shortText: !!shortText,
    description: !!description,
    links: LINKS.some((name) => profile[name]),
    banner: !!banner,
    icon: !!icon?.picture,
  };
  return PROFILE_PARTS.filter((part) => filled[part]);
}

/**
 * The owner sees the reason; the internal reason goes only into the audit log. A removed icon returns only if the game
 * server sends another one. With the banner, an uploaded one that waits for a worker is removed too.
 *
 * @returns the server before the removal; null when no listed server with this id has the part
 * @throws {InvalidDocumentError} for an unknown part or an invalid reason
 */
export async function removeProfilePart(
  deps: ServersDeps,
  serverId: ObjectId,
  input: { part: string; reason: string; internalReason?: string | undefined },
  by: string,
): Promise<WithId<Server> | null> {
  const { part, reason, internalReason } = parseInput(removing, input);
  const removal = { part, at: deps.clock.now(), reason };
  const fields = part === 'links' ? LINKS : [part === 'icon' ? ('icon.picture' as const) : part];
  const paths = fields.map((field) => `profile.${field}`);
  const unset = part === 'banner' ? [...paths, 'profile.bannerUpload'] : paths;
  const isFilled = { $or: paths.map((path) => ({ [path]: { $exists: true } })) };
  // Two updates, because one cannot have both `$pull` and `$push` for an array. If the process dies between them, the
  // part is still there, and the operator can remove it again.
  await deps.servers.updateOne({ _id: serverId, removedAt: null, ...isFilled }, {
    $pull: { 'profile.removals': { part } },
  } as UpdateFilter<Server>);
  const before = await deps.servers.findOneAndUpdate({ _id: serverId, removedAt: null, ...isFilled }, {
    $set: { changedAt: removal.at },
    $unset: Object.fromEntries(unset.map((path) => [path, ''])),
    $push: { 'profile.removals': removal },
  } as UpdateFilter<Server>);
  if (!before) return null;
  if (part === 'banner' && before.profile?.bannerUpload)
    await deleteUpload(deps, before.profile.bannerUpload.id);
  await deleteUnusedPictures(deps, pictureIdsOf(before));
  const details = { part, reason, ...(internalReason ? { internalReason } : {}) };
  await recordAudit(deps, { by, action: 'server.profile-remove', serverId, details });
  return before;
}

/** Servers that no operator has looked at, the newest first. */
export function listNewServers(
  { servers }: ServersDeps,
  { from, limit }: { from?: string | undefined; limit: number },
): Promise<Slice<WithId<Server>>> {
  const by = { field: 'listedAt', direction: -1 } as const;
  return readSlice(servers, { filter: { isUnseen: true }, by, from, limit });
}

type Acceptance = {
  ids: ObjectId[];
  /** The same in a repeated call. */
  acceptanceId: ObjectId;
};

/** Returns those that this call accepted, or an earlier one with its id; other operators may have decided first. */
export function acceptNewServers(deps: ServersDeps, { ids, acceptanceId }: Acceptance, by: string) {
  const update = { $set: { acceptanceId }, $unset: { isUnseen: '' } } as const;
  const change = {
    from: { isUnseen: true },
    to: { acceptanceId },
    update,
    action: 'server.accept',
    by,
  } as const;
  return changeServers(deps, ids, change);
}

/** Returns those that are in the list of new ones again: of what this acceptance took off, unless hidden since. */
export function unacceptServers(deps: ServersDeps, { ids, acceptanceId }: Acceptance, by: string) {
  const from = { acceptanceId, removedAt: null, hiddenAt: null };
  const update = { $set: { isUnseen: true }, $unset: { acceptanceId: '' } } as const;
  const change = { from, to: { isUnseen: true }, update, action: 'server.unaccept', by } as const;
  return changeServers(deps, ids, change);
}

type Change = {
  from: Filter<Server>;
  /** An earlier call has changed it. */
  to: Filter<Server>;
  update: UpdateFilter<Server>;
  action: AuditAction;
  by: string;
};

/** One after another, each with its audit entry. */
async function changeServers(
  { servers, auditLog, clock }: ServersDeps,
  ids: ObjectId[],
  { from, to, update, action, by }: Change,
): Promise<ObjectId[]> {
  for (const serverId of ids) {
    const { modifiedCount } = await servers.updateOne({ ...from, _id: serverId }, update);
    if (modifiedCount === 0) continue;
    await recordAudit({ auditLog, clock }, { by, action, serverId, details: {} });
  }
  const changed = servers.find({ _id: { $in: ids }, ...to }, { projection: { _id: 1 } });
  return changed.map(({ _id }) => _id).toArray();
}
