import { isIP } from 'node:net';
import type { WithId } from 'mongodb';
import { otherEdition } from '../games/editions.ts';
import { gameOf, isProbed, queryPorts } from '../games/games.ts';
import { mayConnectFor } from '../platform/limits/outgoing-limit.ts';
import type { Ask, Probe, Target } from '../probing/ask.ts';
import { plainText } from '../probing/minecraft-text.ts';
import { recordName, recordText } from '../servers/drafts.ts';
import { findAddressOwner, type ServerAddress } from '../servers/listed-addresses.ts';
import { secondAddressOf } from '../servers/second-address.ts';
import type { OwnershipProofMethod, Server } from '../servers/server.ts';
import type { AddressCheck, DraftCheck, ServerDraft } from '../servers/server-draft.ts';
import { txtRecords } from '../servers/txt-records.ts';
import type { WorkflowsDeps } from './deps.ts';

export type CheckDraftDeps = WorkflowsDeps & { ask: Ask };

/**
 * Of the first address; null unless the second address is proven too, if there is one. The code in the message of one
 * address proves only that one, also if both have the same host: different users may have servers on one machine.
 */
export function provenBy({ proof, second }: DraftCheck): OwnershipProofMethod | null {
  return proof && (!second || second.proof) ? proof : null;
}

/** If the server can be queried, it must answer: a TXT record alone does not list an unreachable server. */
export async function checkDraft(deps: CheckDraftDeps, draft: WithId<ServerDraft>): Promise<DraftCheck> {
  const wanted = secondAddressOf(draft);
  const [first, second] = await Promise.all([
    checkAddress(deps, draft, draft, await targetOf(deps, draft)),
    wanted ? checkAddress(deps, draft, wanted, targetOfSecond(draft, wanted)) : null,
  ]);
  const check = { at: deps.clock.now(), ...first, ...(second ? { second } : {}) };
  // Not stored if the draft was changed meanwhile.
  const { _id, address, port, game = null, queryPort = null } = draft;
  const { secondAddress = null, secondPort = null } = draft;
  await deps.serverDrafts.updateOne(
    { _id, address, port, game, queryPort, secondAddress, secondPort },
    { $set: { check } },
  );
  return check;
}

async function checkAddress(
  deps: CheckDraftDeps,
  { ownerId, code }: ServerDraft,
  { address }: ServerAddress,
  asked: Asked | null,
): Promise<AddressCheck> {
  const [probe, dns] = await Promise.all([
    asked
      ? deps.ask(asked.target, undefined, mayConnectFor(deps, ownerId.toHexString(), asked.target.port))
      : null,
    dnsOf(address, code),
  ]);
  const messageCounts = asked?.counts ?? false;
  const shows = probe?.ok === true && showsCode(probe.answer.motd, code);
  const byMessage = messageCounts && shows;
  const byDns = dns === 'found' && (asked === null || probe?.ok === true);
  const proof = byMessage ? 'message' : byDns ? 'dns' : null;
  return { dns, messageCounts, ...figuresOf(probe), proof };
}

/**
 * `counts`: whether a code in the server's message proves the ownership. On a query port that the owner chose it does
 * not, because another server of the same machine could answer there; on the game's usual ports, or one that an operator
 * set, it does.
 */
type Asked = { target: Target; counts: boolean };

/** Null when no game is known, or it cannot be queried. */
async function targetOf(deps: CheckDraftDeps, draft: WithId<ServerDraft>): Promise<Asked | null> {
  const listed = await listedOf(deps, draft);
  const game = listed?.game ?? draft.game;
  if (!game || !isProbed(game)) return null;
  const queryPort = (listed?.game ? listed.queryPort : draft.queryPort) ?? null;
  const target = { game, host: draft.address, port: draft.port, queryPort };
  const usual = queryPorts({ ...target, queryPort: null }, gameOf(game));
  const isOperators = !draft.serverId && Boolean(listed?.game);
  return { target, counts: isOperators || queryPort === null || usual.includes(queryPort) };
}

function targetOfSecond({ game }: ServerDraft, { address: host, port }: ServerAddress): Asked | null {
  const other = otherEdition(game);
  return other && { target: { game: other.id, host, port, queryPort: null }, counts: true };
}

/** The server that moves, or one without an owner at the same address. */
async function listedOf(
  deps: CheckDraftDeps,
  draft: WithId<ServerDraft>,
): Promise<Pick<Server, 'game' | 'queryPort'> | null> {
  // The draft of a second address has the game of that address.
  if (draft.secondOf) return null;
  if (draft.serverId) return deps.servers.findOne({ _id: draft.serverId, removedAt: null });
  const addressOwner = await findAddressOwner(deps, draft, draft.ownerId);
  if (addressOwner.kind !== 'ownerless') return null;
  const { server } = addressOwner;
  const isFirst = server.address === draft.address && server.port === draft.port;
  return isFirst ? server : { game: otherEdition(server.game)?.id ?? null, queryPort: null };
}

function figuresOf(probe: Probe | null): Omit<AddressCheck, 'dns' | 'messageCounts' | 'proof'> {
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
