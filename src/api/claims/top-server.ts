import type { FastifyRequest } from 'fastify';
import { askFor, type ClaimDeps, callerOf, type Parameters } from './claim-call.ts';

type Answer = { status: number; body: string };

const refused = (status: number, error: string): Answer => ({
  status,
  body: JSON.stringify({ ok: false, error }),
});

/**
 * The contract of top-server.net (https://top-server.net/docs), as JSON. A player has at most one pending vote, because
 * only the newest one can be claimed.
 */
export async function answerTopServer(
  deps: ClaimDeps,
  { key, player }: Parameters,
  isClaim: boolean,
  request: FastifyRequest,
): Promise<Answer> {
  if (!key || !player) return refused(400, 'key and player are required');
  const caller = await callerOf(deps, { key }, request);
  if (!caller) return refused(401, 'invalid API key');
  const asked = await askFor(deps, caller, player, isClaim);
  if (asked.kind === 'off') return refused(200, 'claims are off for this server');
  if (isClaim)
    return { status: 200, body: JSON.stringify({ ok: true, claimed: asked.kind === 'claimed' ? 1 : 0 }) };
  const server = await deps.servers.findOne({ _id: caller.serverId }, { projection: { name: 1 } });
  const votes =
    asked.kind === 'unclaimed' ? [{ id: asked.vote._id.toString(), votedAt: asked.vote.votedAt }] : [];
  const body = {
    ok: true,
    server: server?.name ?? '',
    player,
    hasPendingVote: votes.length > 0,
    pending: votes.length,
    votes,
  };
  return { status: 200, body: JSON.stringify(body) };
}
