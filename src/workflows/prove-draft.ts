import { isIP } from 'node:net';
import type { ObjectId, WithId } from 'mongodb';
import { gameOf, isProbed, queryPorts } from '../games/games.ts';
import { SECOND } from '../platform/clock.ts';
import { mayConnectFor } from '../platform/limits/outgoing-limit.ts';
import type { Ask, Probe, Target } from '../probing/ask.ts';
import { plainText } from '../probing/minecraft-text.ts';
import { findMove, recordName, recordText } from '../servers/drafts.ts';
import { findAddressOwner, withAddressLock } from '../servers/listed-addresses.ts';
import { editServer, newListing, nextRank } from '../servers/listed-servers.ts';
import type { OwnershipProofMethod, Server } from '../servers/server.ts';
import type { DraftCheck, ServerDraft } from '../servers/server-draft.ts';
import { insertUnderFreeSlug } from '../servers/server-slugs.ts';
import { txtRecords } from '../servers/txt-records.ts';
import type { WorkflowsDeps } from './deps.ts';
import {
  finishListing,
  hasTooManyServers,
  type ProofResult,
  type Prover,
  resumeDraftProof,
} from './request-proof.ts';

export type ProveDeps = WorkflowsDeps & { ask: Ask };

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
  const { proof: method } = check;
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
      // If two drafts of an account are proven at the same time, the second may be over the limit.
      if (await hasTooManyServers(deps, draft.ownerId)) return { kind: 'too-many-servers' };
      const server =
        addressOwner.kind === 'ownerless'
          ? await adoptServer(deps, addressOwner.server._id, draft.ownerId, ownershipProof)
          : await insertServer(deps, draft, check, ownershipProof);
      return server ? { kind: 'listed', server } : { kind: 'taken' };
    },
    AbortSignal.timeout(DECIDE_MS),
  );
  if (result.kind !== 'listed') return result;
  await finishListing(deps, draft._id, result.server, by);
  return { kind: 'listed', serverId: result.server._id };
}

function adoptServer(
  { servers }: ProveDeps,
  serverId: ObjectId,
  ownerId: ObjectId,
  ownershipProof: NonNullable<Server['proof']>,
): Promise<WithId<Server> | null> {
  return servers.findOneAndUpdate(
    // Matches only a server without an owner (absent or null): an operator may have assigned it meanwhile.
    { _id: serverId, ownerId: null, removedAt: null } as never,
    { $set: { ownerId, proof: ownershipProof }, $unset: { ownerEmail: '' } },
    { returnDocument: 'after' },
  );
}

async function insertServer(
  { servers, clock }: ProveDeps,
  { _id, ownerId, name, address, port, queryPort = null, game = null, countryCode = null }: ServerDraft,
  check: DraftCheck,
  ownershipProof: NonNullable<Server['proof']>,
): Promise<WithId<Server> | null> {
  const now = clock.now();
  const settings = { name, address, port, queryPort, game, countryCode, isPremium: false };
  const listing = newListing({ _id, settings, now, listedAt: now, rankPosition: await nextRank(servers) });
  const seen = seenFigures(check);
  const current = { ...listing.current, ...seen?.current };
  const server = {
    ...listing,
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
export async function proveMove(deps: ProveDeps, prover: Prover, serverId: ObjectId): Promise<ProofResult> {
  const move = await findMove(deps, serverId);
  if (!move) return { kind: 'not-found' };
  const check = await checkDraft(deps, move);
  const { proof: method } = check;
  if (!method) return { kind: 'not-proven' };
  const { address, port } = move;
  const result = await withAddressLock(
    deps,
    async ({ throwIfLost }): Promise<UnderLock> => {
      const other = { address, port, removedAt: null, _id: { $ne: serverId } };
      if (await deps.servers.findOne(other)) return { kind: 'taken' };
      // The move is gone if the user cancelled it, an operator transferred the server, or another call completed it.
      const isStillPlanned = await deps.serverDrafts.findOne({ _id: move._id, address, port });
      if (isStillPlanned) throwIfLost();
      const moved = isStillPlanned
        ? await editServer(deps, serverId, { address, port }, prover.email)
        : await deps.servers.findOne({ _id: serverId, address, port, removedAt: null });
      return moved ? { kind: 'listed', server: moved } : { kind: 'not-found' };
    },
    AbortSignal.timeout(DECIDE_MS),
  );
  if (result.kind !== 'listed') return result;
  const ownershipProof = { method, at: deps.clock.now() };
  await deps.servers.updateOne({ _id: serverId }, { $set: { proof: ownershipProof } });
  await showSeen(deps, result.server, check);
  await deps.serverDrafts.deleteOne({ _id: move._id, address, port });
  return { kind: 'listed', serverId };
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

type DraftCheckDeps = WorkflowsDeps & { ask: Ask };

/** If the server can be queried, it must answer: a TXT record alone does not list an unreachable server. */
export async function checkDraft(
  deps: DraftCheckDeps,
  draft: WithId<ServerDraft>,
): Promise<DraftCheck & { proof: 'message' | 'dns' | null }> {
  const asked = await targetOf(deps, draft);
  const [probe, dns] = await Promise.all([
    asked
      ? deps.ask(asked.target, undefined, mayConnectFor(deps, draft.ownerId.toHexString(), asked.target.port))
      : null,
    dnsOf(draft.address, draft.code),
  ]);
  const messageCounts = asked?.counts ?? false;
  const shows = probe?.ok === true && showsCode(probe.answer.motd, draft.code);
  const byMessage = messageCounts && shows;
  const byDns = dns === 'found' && (asked === null || probe?.ok === true);
  const seen: DraftCheck = { at: deps.clock.now(), dns, messageCounts, ...figuresOf(probe) };
  const check = { ...seen, proof: byMessage ? ('message' as const) : byDns ? ('dns' as const) : null };
  // Not stored if the draft was changed meanwhile.
  const { _id, address, port, game = null, queryPort = null } = draft;
  await deps.serverDrafts.updateOne({ _id, address, port, game, queryPort }, { $set: { check } });
  return check;
}

/**
 * `counts`: whether a code in the server's message proves the ownership. On a query port that the owner chose it does
 * not, because another server of the same machine could answer there; on the game's usual ports, or one that an operator
 * set, it does. null when no game is known, or it cannot be queried.
 */
async function targetOf(
  deps: DraftCheckDeps,
  draft: WithId<ServerDraft>,
): Promise<{ target: Target; counts: boolean } | null> {
  const listed = await listedOf(deps, draft);
  const game = listed?.game ?? draft.game;
  if (!game || !isProbed(game)) return null;
  const queryPort = (listed?.game ? listed.queryPort : draft.queryPort) ?? null;
  const target = { game, host: draft.address, port: draft.port, queryPort };
  const usual = queryPorts({ ...target, queryPort: null }, gameOf(game));
  const isOperators = !draft.serverId && Boolean(listed?.game);
  return { target, counts: isOperators || queryPort === null || usual.includes(queryPort) };
}

/** The server that moves, or one without an owner at the same address. */
async function listedOf(deps: DraftCheckDeps, draft: WithId<ServerDraft>): Promise<WithId<Server> | null> {
  if (draft.serverId) return deps.servers.findOne({ _id: draft.serverId, removedAt: null });
  const addressOwner = await findAddressOwner(deps, draft, draft.ownerId);
  return addressOwner.kind === 'ownerless' ? addressOwner.server : null;
}

function figuresOf(probe: Probe | null): Omit<DraftCheck, 'at' | 'dns' | 'messageCounts' | 'proof'> {
  if (probe?.ok) {
    // A draft shows no icon; the server gets one with its first probe.
    const { icon: _icon, onlinePlayers, maxPlayers, ...figures } = probe.answer;
    const players = { onlinePlayers: onlinePlayers ?? 0, playersHidden: onlinePlayers === null };
    return { reached: true, words: '', ...figures, ...players, maxPlayers: maxPlayers ?? 0 };
  }
  const words = probe?.message ?? '';
  return { reached: false, words, onlinePlayers: 0, maxPlayers: 0, latencyMs: 0, motd: '', version: '' };
}

/** Some plugins change case and colour codes. */
function showsCode(motd: string, code: string): boolean {
  return plainText(motd).toLowerCase().includes(code);
}

async function dnsOf(address: string, code: string): Promise<DraftCheck['dns']> {
  if (isIP(address)) return 'no-name';
  const answer = await txtRecords(recordName(address));
  if (answer.kind === 'no-answer') return 'no-answer';
  const texts = answer.records.map((record) => record.trim().toLowerCase());
  if (texts.includes(recordText(code))) return 'found';
  return texts.some((text) => text.startsWith('tallyport-verify=')) ? 'wrong' : 'none';
}
