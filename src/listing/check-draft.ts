import { isIP } from 'node:net';
import type { Collection, ObjectId, WithId } from 'mongodb';
import { gameOf } from '../games/games.ts';
import { type CheckAllowance, useCheckAllowance } from '../platform/limits/check-allowance.ts';
import { mayConnectFor, type OutgoingLimiting } from '../platform/limits/outgoing-limit.ts';
import type { Ask, Probe, Target } from '../probing/ask.ts';
import { queryPorts } from '../probing/find-server.ts';
import { plainText } from '../probing/minecraft-text.ts';
import type { Drafting } from '../servers/drafts.ts';
import { addressHolder } from '../servers/listed-addresses.ts';
import type { Server } from '../servers/server.ts';
import type { DraftCheck, ServerDraft } from '../servers/server-draft.ts';
import { txtRecords } from '../servers/txt-records.ts';

export type DraftChecking = Drafting &
  OutgoingLimiting & { diagnosisAllowances: Collection<CheckAllowance>; ask: Ask };

/** Where the name servers are asked for the code of a host. */
export function recordName(address: string): string {
  return `_tallyport.${address}`;
}

/** The text that the record has to have. */
export function recordText(code: string): string {
  return `tallyport-verify=${code}`;
}

/**
 * Takes one of a user's checks: whoever may make us ask any address at all must not be able to scan with us.
 *
 * @returns null when it may go on; else when the next one may
 */
export function takeCheck(deps: DraftChecking, userId: ObjectId): Promise<Date | null> {
  return useCheckAllowance(deps, userId.toHexString());
}

/**
 * Asks the server of a draft once, looks the record of its host up, and keeps with the draft what was seen.
 *
 * A server that can be asked must have answered: a record alone lists none that nobody can reach.
 *
 * @returns what was seen; `proof` says what proves that the server is its owner's, null when nothing does
 */
export async function checkDraft(
  deps: DraftChecking,
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
  // A draft that was changed meanwhile is another one: what was seen does not belong to it.
  const { _id, address, port, game = null, queryPort = null } = draft;
  await deps.serverDrafts.updateOne({ _id, address, port, game, queryPort }, { $set: { check } });
  return check;
}

/**
 * Where the server is asked, and whether its message counts as a proof. Behind a port for queries that its owner may
 * choose, a neighbour on the same machine could answer: the message counts only where the game's own rule leads, or
 * an operator's word.
 *
 * @returns null where it has no game: nobody knows how to ask it
 */
async function targetOf(
  deps: DraftChecking,
  draft: WithId<ServerDraft>,
): Promise<{ target: Target; counts: boolean } | null> {
  const listed = await listedOf(deps, draft);
  const game = listed?.game ?? draft.game;
  if (!game) return null;
  const queryPort = (listed?.game ? listed.queryPort : draft.queryPort) ?? null;
  const target = { game, host: draft.address, port: draft.port, queryPort };
  const usual = queryPorts({ ...target, queryPort: null }, gameOf(game));
  const isOperators = !draft.serverId && Boolean(listed?.game);
  return { target, counts: isOperators || queryPort === null || usual.includes(queryPort) };
}

/** The listed server that a draft is about: the one that moves, or one of nobody's at the same place. */
async function listedOf(deps: DraftChecking, draft: WithId<ServerDraft>): Promise<WithId<Server> | null> {
  if (draft.serverId) return deps.servers.findOne({ _id: draft.serverId, removedAt: null });
  const holder = await addressHolder(deps, draft, draft.ownerId);
  return holder.kind === 'ownerless' ? holder.server : null;
}

function figuresOf(probe: Probe | null): Omit<DraftCheck, 'at' | 'dns' | 'messageCounts' | 'proof'> {
  if (probe?.ok) return { reached: true, words: '', ...probe.answer };
  const words = probe?.message ?? '';
  return { reached: false, words, onlinePlayers: 0, maxPlayers: 0, latencyMs: 0, motd: '', version: '' };
}

/** Some plugins change letters to capitals, or put codes of colours between them. */
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
