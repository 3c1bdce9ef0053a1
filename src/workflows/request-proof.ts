import type { ObjectId, WithId } from 'mongodb';
import { useCheckAllowance } from '../platform/limits/check-allowance.ts';
import { findDraft, findMove } from '../servers/drafts.ts';
import { findAddressOwner } from '../servers/listed-addresses.ts';
import type { ServerDraft } from '../servers/server-draft.ts';
import type { WorkflowsDeps } from './deps.ts';
import { finishListing, hasTooManyServers, type ProofResult, type Prover } from './finish-listing.ts';

/** The user's allowance of checks is used up. */
export type CheckRefused = { kind: 'refused'; nextAllowedAt: Date };

/**
 * Decides whether the server of a draft may be checked. If so, uses one check of the user's allowance, so that nobody
 * can scan networks through Tallyport. Connects to nothing.
 *
 * @returns null when `proveDraft` may check the server; otherwise the result, or why the check is refused
 */
export async function requestDraftProof(
  deps: WorkflowsDeps,
  prover: Prover,
  draftId: ObjectId,
): Promise<ProofResult | CheckRefused | null> {
  const known = await resumeDraftProof(deps, prover, draftId);
  return known.kind === 'unchecked' ? takeCheck(deps, prover) : known;
}

/** Like `requestDraftProof`, but for the move of a listed server. */
export async function requestMoveProof(
  deps: WorkflowsDeps,
  prover: Prover,
  serverId: ObjectId,
): Promise<ProofResult | CheckRefused | null> {
  const move = await findMove(deps, serverId);
  return move ? takeCheck(deps, prover) : { kind: 'not-found' };
}

async function takeCheck(deps: WorkflowsDeps, { _id }: Prover): Promise<CheckRefused | null> {
  const nextAllowedAt = await useCheckAllowance(deps, _id.toHexString());
  return nextAllowedAt && { kind: 'refused', nextAllowedAt };
}

/**
 * Does the last steps of a listing that was interrupted.
 *
 * @returns the result, if stored data alone decides it. `unchecked`: a worker must check the draft's server
 */
export async function resumeDraftProof(
  deps: WorkflowsDeps,
  prover: Prover,
  draftId: ObjectId,
): Promise<ProofResult | { kind: 'unchecked'; draft: WithId<ServerDraft> }> {
  const draft = await findDraft(deps, prover._id, draftId);
  const listed = await deps.servers.findOne({ _id: draftId, ownerId: prover._id });
  if (listed) {
    // If the server is listed, an earlier call was interrupted, or another one runs at the same time.
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
