import type { ObjectId, UpdateFilter, WithId } from 'mongodb';
import { z } from 'zod';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { optionalReason, reasonText } from '../platform/text.ts';
import type { ServersDeps } from './deps.ts';
import { deleteUpload } from './picture-uploads.ts';
import { deleteUnusedPictures, pictureIdsOf } from './pictures.ts';
import { LINKS, PROFILE_PARTS, type Profile, type ProfilePart } from './profile.ts';
import type { Server } from './server.ts';

const removing = z.object({
  part: z.enum(PROFILE_PARTS, { error: 'must be a part of the profile' }),
  reason: reasonText,
  internalReason: optionalReason,
});

/** The parts of a profile that have content. */
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
 * Removes a text, the links or a picture of a server, with a reason that its owner sees. The internal reason goes only
 * into the audit log. A removed icon returns only if the game server sends another one. With the banner, an uploaded
 * banner that waits for a worker is removed too.
 *
 * @param by - the operator, for the audit log
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
  // There are two updates, because one cannot contain both `$pull` and `$push` for the same array. If the process dies
  // between them, the part is still there, and the operator can remove it again.
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
