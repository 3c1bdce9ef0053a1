import type { ObjectId, WithId } from 'mongodb';
import type { AppDeps } from '../../process/app-deps.ts';
import { listTokens } from '../../servers/api-tokens.ts';
import type { Server } from '../../servers/server.ts';
import { usernameSchema } from '../../votes/username.ts';
import { type MeantServer, serverMeantBy } from '../../workflows/find-servers.ts';
import type { Typed } from '../shared/form.ts';
import { utcMoment } from './utc-fields.ts';

/** If several servers have the entered name: the operator can choose among at most this many of them. */
const CHOICES = 20;

/** The search for votes that an operator entered. `tokenId` is the id of one of the server's tokens. */
export type VoteQuery = {
  server: WithId<Server> | null;
  /** The servers with the entered name, if there are several. */
  choices: WithId<Server>[];
  player: string | undefined;
  tokenId: ObjectId | undefined;
  since: Date | undefined;
  until: Date | undefined;
  typed: Typed;
  tokens: { _id: ObjectId; name: string; prefix: string }[];
};

/** Reads the search of the votes page from its query. */
export async function readSearch(deps: AppDeps, query: Record<string, string>): Promise<VoteQuery> {
  const errors: Record<string, string> = {};
  const named: MeantServer = query.server
    ? await serverMeantBy(deps, query.server, { limit: CHOICES })
    : { kind: 'none' };
  const server = named.kind === 'one' ? named.server : null;
  if (query.server && named.kind === 'none') errors.server = 'No server has this id, slug or name.';
  const moment = (name: 'since' | 'until') => {
    const text = query[name];
    if (!text) return undefined;
    const parsed = utcMoment.safeParse(text);
    if (!parsed.success) errors[name] = 'Enter a time such as 2026-11-21T14:02.';
    return parsed.data;
  };
  const [since, until] = [moment('since'), moment('until')];
  if (since && until && since >= until) errors.until = 'The end must be after the start.';
  const { player } = query;
  if (player && !query.server && !usernameSchema.safeParse(player).success)
    errors.player = 'Enter a player’s name, or a server too.';
  const tokens = server ? await listTokens(deps, server._id) : [];
  const tokenId = tokens.find(({ _id }) => _id.toHexString() === query.token)?._id;
  if (query.token && server && !tokenId) errors.token = 'The server has no such token.';
  const choices = named.kind === 'several' ? named.servers : [];
  return { server, choices, player, tokenId, since, until, tokens, typed: { values: query, errors } };
}
