import type { ObjectId, WithId } from 'mongodb';
import { otherEdition } from '../games/editions.ts';
import { SECOND } from '../platform/clock.ts';
import { findAddressOwner, findSecondOwner, listedAt, withAddressLock } from '../servers/listed-addresses.ts';
import { editServer, newListing, nextRank, UNCHECKED_ADDRESS } from '../servers/listed-servers.ts';
import { findMove, type MovedAddress } from '../servers/moves.ts';
import { newSecond, type SecondSettings, secondAddressOf, stateOfOnly } from '../servers/second-address.ts';
import type { OwnershipProofMethod, Server } from '../servers/server.ts';
import type { DraftCheck, ServerDraft } from '../servers/server-draft.ts';
import { insertUnderFreeSlug } from '../servers/server-slugs.ts';
import { type CheckDraftDeps, checkDraft, provenBy } from './check-draft.ts';
import {
  finishListing,
  hasTooManyServers,
  type ProofResult,
  type Prover,
  resumeDraftProof,
} from './request-proof.ts';

export type ProveDeps = CheckDraftDeps;

/** The longest wait for another process that decides about the same address. */
const DECIDE_MS = 10 * SECOND;

/**
 * If the ownership is proven, the server is listed under the draft's id; or a listed server without an owner at the same
 * address is assigned to the user. Concurrent and repeated calls list the server once.
 *
 * @throws `TimeoutError` when another process takes too long to decide about the same address
 */
export async function proveDraft(deps: ProveDeps, prover: Prover, draftId: ObjectId): Promise<ProofResult> {
  const known = await resumeDraftProof(deps, prover, draftId);
  if (known.kind !== 'unchecked') return known;
  const { draft } = known;
  const check = await checkDraft(deps, draft);
  const method = provenBy(check);
  return method ? listDraft(deps, { draft, check, method, by: prover.email }) : { kind: 'not-proven' };
}

type ProvenDraft = {
  draft: WithId<ServerDraft>;
  check: DraftCheck;
  method: OwnershipProofMethod;
  by: string;
};

type UnderLock =
  | { kind: 'listed'; server: WithId<Server> }
  | { kind: 'taken' | 'too-many-servers' | 'not-found' };

async function listDraft(deps: ProveDeps, { draft, check, method, by }: ProvenDraft): Promise<ProofResult> {
  const ownershipProof = { method, at: deps.clock.now() };
  const result = await withAddressLock(
    deps,
    async ({ throwIfLost }): Promise<UnderLock> => {
      const addressOwner = await findAddressOwner(deps, draft, draft.ownerId);
      throwIfLost();
      if (addressOwner.kind === 'own') return { kind: 'listed', server: addressOwner.server };
      if (addressOwner.kind === 'other') return { kind: 'taken' };
      const second = secondAddressOf(draft);
      if (second && (await findSecondOwner(deps, second, addressOwner, draft.ownerId)) !== 'nobody')
        return { kind: 'taken' };
      // If two drafts of an account are proven at the same time, the second may be over the limit.
      if (await hasTooManyServers(deps, draft.ownerId)) return { kind: 'too-many-servers' };
      const server =
        addressOwner.kind === 'ownerless'
          ? await adoptServer(deps, addressOwner.server, { draft, check, ownershipProof })
          : await insertServer(deps, draft, check, ownershipProof);
      return server ? { kind: 'listed', server } : { kind: 'taken' };
    },
    AbortSignal.timeout(DECIDE_MS),
  );
  if (result.kind !== 'listed') return result;
  await finishListing(deps, draft._id, result.server, by);
  return { kind: 'listed', serverId: result.server._id };
}

type Adopted = {
  draft: ServerDraft;
  check: DraftCheck;
  ownershipProof: NonNullable<Server['proof']>;
};

/** A second address that an operator set stays; one that does not fit the listed game is left out. */
function adoptServer(
  { servers }: ProveDeps,
  server: WithId<Server>,
  { draft, check, ownershipProof }: Adopted,
): Promise<WithId<Server> | null> {
  // The second address was asked as the other edition of the draft's game.
  const isAlike = otherEdition(server.game)?.id === otherEdition(draft.game)?.id;
  const second =
    server.second || !isAlike
      ? undefined
      : newSecond(settingsOf(draft), stateOfOnly(server), UNCHECKED_ADDRESS, secondProof(check));
  return servers.findOneAndUpdate(
    // Matches only a server without an owner (absent or null): an operator may have assigned it meanwhile.
    { _id: server._id, ownerId: null, removedAt: null } as never,
    {
      $set: { ownerId: draft.ownerId, proof: ownershipProof, ...(second ? { second } : {}) },
      $unset: { ownerEmail: '' },
    },
    { returnDocument: 'after' },
  );
}

function settingsOf({ secondAddress = null, secondPort = null }: ServerDraft): SecondSettings {
  return { secondAddress, secondPort };
}

function secondProof({ at, second }: DraftCheck): Server['proof'] {
  return second?.proof ? { method: second.proof, at } : undefined;
}

async function insertServer(
  { servers, clock }: ProveDeps,
  draft: ServerDraft,
  check: DraftCheck,
  ownershipProof: NonNullable<Server['proof']>,
): Promise<WithId<Server> | null> {
  const now = clock.now();
  const { _id, ownerId, name, address, port, queryPort = null, game = null, countryCode = null } = draft;
  const settings = { name, address, port, queryPort, game, countryCode, isPremium: false };
  const listing = newListing({ _id, settings, now, listedAt: now, rankPosition: await nextRank(servers) });
  const seen = seenFigures(check);
  const current = { ...listing.current, ...seen?.current };
  const second = newSecond(settingsOf(draft), UNCHECKED_ADDRESS, UNCHECKED_ADDRESS, secondProof(check));
  const server = {
    ...listing,
    ...(second ? { second } : {}),
    isUnseen: true,
    current,
    probe: { ...listing.probe, ...seen?.probe },
    ownerId,
    proof: ownershipProof,
  };
  const slug = await insertUnderFreeSlug(servers, server);
  return slug === null ? null : { ...server, slug, slugs: [slug] };
}

/** A repeated call after a crash completes the move. @throws `TimeoutError`, like `proveDraft` */
export async function proveMove(
  deps: ProveDeps,
  prover: Prover,
  serverId: ObjectId,
  moved: MovedAddress = 'first',
): Promise<ProofResult> {
  const move = await findMove(deps, serverId, moved);
  if (!move) return { kind: 'not-found' };
  const check = await checkDraft(deps, move);
  const method = provenBy(check);
  if (!method) return { kind: 'not-proven' };
  const { address, port } = move;
  const isSecond = moved === 'second';
  const changes = isSecond ? { secondAddress: address, secondPort: port } : { address, port };
  const place = isSecond ? { 'second.address': address, 'second.port': port } : { address, port };
  const result = await withAddressLock(
    deps,
    async ({ throwIfLost }): Promise<UnderLock> => {
      if (isSecond && !(await isOtherEdition(deps, serverId, move))) return { kind: 'not-found' };
      if (await deps.servers.findOne(listedAt(move, serverId))) return { kind: 'taken' };
      // The move is gone if the user cancelled it, an operator transferred the server, or another call completed it.
      const isStillPlanned = await deps.serverDrafts.findOne({ _id: move._id, address, port });
      if (isStillPlanned) throwIfLost();
      const server = isStillPlanned
        ? await editServer(deps, serverId, changes, prover.email)
        : await deps.servers.findOne({ _id: serverId, ...place, removedAt: null });
      return server ? { kind: 'listed', server } : { kind: 'not-found' };
    },
    AbortSignal.timeout(DECIDE_MS),
  );
  if (result.kind !== 'listed') return result;
  const ownershipProof = { method, at: deps.clock.now() };
  const proof = isSecond ? { 'second.proof': ownershipProof } : { proof: ownershipProof };
  await deps.servers.updateOne({ _id: serverId, ...place }, { $set: proof });
  if (!isSecond) await showSeen(deps, result.server, check);
  await deps.serverDrafts.deleteOne({ _id: move._id, address, port });
  return { kind: 'listed', serverId };
}

/** False if the game of the server changed since the move was planned. */
async function isOtherEdition({ servers }: ProveDeps, serverId: ObjectId, { game }: ServerDraft) {
  const server = await servers.findOne({ _id: serverId, removedAt: null }, { projection: { game: 1 } });
  return otherEdition(server?.game)?.id === game;
}

/** Unless a probe or a report has newer figures. */
async function showSeen(
  { servers }: ProveDeps,
  { _id, probe }: WithId<Server>,
  check: DraftCheck,
): Promise<void> {
  const seen = seenFigures(check);
  if (!seen) return;
  const fields = Object.entries(seen).flatMap(([part, values]) =>
    Object.entries(values).map(([name, value]) => [`${part}.${name}`, value]),
  );
  await servers.updateOne(
    {
      _id,
      'probe.revision': probe.revision,
      $or: [{ lastReport: null }, { 'lastReport.at': { $lt: check.at } }],
    },
    { $set: Object.fromEntries(fields), $inc: { 'probe.revision': 1 } },
  );
}

/** The page has figures before the first probe. The check is not a sample, so no statistics include it. */
function seenFigures({
  at,
  reached,
  onlinePlayers,
  playersHidden = false,
  maxPlayers,
  motd,
  version,
  latencyMs,
}: DraftCheck) {
  if (!reached) return null;
  return {
    current: {
      onlinePlayers,
      playersHidden,
      maxPlayers,
      playersSource: 'probes' as const,
      motd: motd ?? '',
      version: version ?? '',
      checkedAt: at,
    },
    probe: { status: 'online' as const, latencyMs, checkedAt: at, succeededAt: at },
  };
}
