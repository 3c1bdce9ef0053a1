import type { ObjectId, WithId } from 'mongodb';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { useCheckAllowance } from '../platform/limits/check-allowance.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import { findDraft } from '../servers/drafts.ts';
import { findAddressOwner } from '../servers/listed-addresses.ts';
import { findMove, type MovedAddress } from '../servers/moves.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import { secondSettingsOf } from '../servers/second-address.ts';
import type { Server } from '../servers/server.ts';
import type { ServerDraft } from '../servers/server-draft.ts';
import type { WorkflowsDeps } from './deps.ts';

export type CheckRefused = { kind: 'refused'; nextAllowedAt: Date };

/** Uses the user's allowance, so that nobody can scan networks. null when `proveDraft` may check the server. */
export async function requestDraftProof(
  deps: WorkflowsDeps,
  prover: Prover,
  draftId: ObjectId,
): Promise<ProofResult | CheckRefused | null> {
  const known = await resumeDraftProof(deps, prover, draftId);
  return known.kind === 'unchecked' ? takeCheck(deps, prover) : known;
}

export async function requestMoveProof(
  deps: WorkflowsDeps,
  prover: Prover,
  serverId: ObjectId,
  moved: MovedAddress,
): Promise<ProofResult | CheckRefused | null> {
  const move = await findMove(deps, serverId, moved);
  return move ? takeCheck(deps, prover) : { kind: 'not-found' };
}

async function takeCheck(deps: WorkflowsDeps, { _id }: Prover): Promise<CheckRefused | null> {
  const nextAllowedAt = await useCheckAllowance(deps, _id.toHexString());
  return nextAllowedAt && { kind: 'refused', nextAllowedAt };
}

/** Does the last steps of an interrupted listing. `unchecked`: a worker must check the draft's server. */
export async function resumeDraftProof(
  deps: WorkflowsDeps,
  prover: Prover,
  draftId: ObjectId,
): Promise<ProofResult | { kind: 'unchecked'; draft: WithId<ServerDraft> }> {
  const draft = await findDraft(deps, prover._id, draftId);
  const listed = await deps.servers.findOne({ _id: draftId, ownerId: prover._id });
  if (listed) {
    // An earlier call was interrupted, or another one runs at the same time.
    await finishListing(deps, draftId, listed, prover.email);
    return listed.removedAt ? { kind: 'not-found' } : { kind: 'listed', serverId: listed._id };
  }
  if (!draft) return { kind: 'not-found' };
  const addressOwner = await findAddressOwner(deps, draft, prover._id);
  if (addressOwner.kind === 'other') return { kind: 'taken' };
  if (addressOwner.kind === 'own') {
    await finishListing(deps, draftId, addressOwner.server, prover.email);
    return { kind: 'listed', serverId: addressOwner.server._id };
  }
  if (await hasTooManyServers(deps, prover._id)) return { kind: 'too-many-servers' };
  return { kind: 'unchecked', draft };
}

export type Prover = { _id: ObjectId; email: string };

/**
 * `not-proven`: the check is stored in the draft. `taken`: another user has a server at this address; for a move: any
 * other server is listed there. `not-found`: there is no such draft or move, or the server was removed.
 */
export type ProofResult =
  | { kind: 'listed'; serverId: ObjectId }
  | { kind: 'not-proven' | 'taken' | 'too-many-servers' | 'not-found' };

export async function hasTooManyServers(
  { servers, config }: WorkflowsDeps,
  ownerId: ObjectId,
): Promise<boolean> {
  const most = config.SERVERS_PER_ACCOUNT;
  return (await servers.countDocuments({ ownerId, removedAt: null }, { limit: most })) >= most;
}

/** The audit log entry has the draft's id, so a repeated call does not write it twice. */
export async function finishListing(
  deps: WorkflowsDeps,
  draftId: ObjectId,
  server: WithId<Server>,
  by: string,
): Promise<void> {
  const { serverDrafts, producer } = deps;
  const { _id: serverId, name, address, port, queryPort, game, countryCode, slug, proof, ownerId } = server;
  if (ownerId) await rejectOwnersReview(deps, { serverId, userId: ownerId });
  const settings = { name, address, port, queryPort, game, ...secondSettingsOf(server), countryCode, slug };
  const isNew = serverId.equals(draftId);
  await recordAuditOnce(deps, draftId, {
    by,
    action: isNew ? 'server.add' : 'server.claim',
    serverId,
    details: { ...(isNew ? settings : { slug }), proof: proof?.method ?? null },
  });
  await serverDrafts.deleteOne({ _id: draftId });
  await requestRanks(producer);
}
