import { isIP } from 'node:net';
import type { WithId } from 'mongodb';
import { gameOf, isProbed } from '../games/games.ts';
import { queryPorts } from '../games/query-ports.ts';
import { mayConnectFor } from '../platform/limits/outgoing-limit.ts';
import type { Ask, Probe, Target } from '../probing/ask.ts';
import { plainText } from '../probing/minecraft-text.ts';
import { recordName, recordText } from '../servers/drafts.ts';
import { findAddressOwner } from '../servers/listed-addresses.ts';
import type { Server } from '../servers/server.ts';
import type { DraftCheck, ServerDraft } from '../servers/server-draft.ts';
import { txtRecords } from '../servers/txt-records.ts';
import type { WorkflowsDeps } from './deps.ts';

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
