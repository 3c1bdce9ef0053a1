import type { WithId } from 'mongodb';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import {
  countPlayerVotes,
  type PlayerRange,
  type PlayerVotes,
} from '../../votes/exclusions/player-exclusion.ts';
import { ExclusionError } from '../../votes/exclusions/request-exclusion.ts';
import { queryText } from '../shared/form.ts';
import { count } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { dataTable } from '../shared/parts.ts';
import { adminPath } from './admin-frame.ts';

/** A player's votes for one server; `server` is undefined if the server does not exist any more. */
export type PlayerRow = PlayerVotes & { server: Pick<WithId<Server>, '_id' | 'name'> | undefined };

/** Counts a player's votes for each server, and reads the servers' names. `error` says why they cannot be counted. */
export async function playerVotes(
  deps: AppDeps,
  range: PlayerRange,
): Promise<{ rows: PlayerRow[] } | { error: string }> {
  try {
    const found = await countPlayerVotes(deps, range);
    const servers = await deps.servers
      .find({ _id: { $in: found.map(({ serverId }) => serverId) } }, { projection: { name: 1 } })
      .toArray();
    const byId = new Map(servers.map((server) => [server._id.toHexString(), server]));
    return { rows: found.map((one) => ({ ...one, server: byId.get(one.serverId.toHexString()) })) };
  } catch (error) {
    if (!(error instanceof ExclusionError)) throw error;
    return { error: error.message };
  }
}

/** A table of a player's votes for each server. The server's name links to the votes. */
export function playerTable(
  base: string,
  rows: PlayerRow[],
  search: { player: string; since?: string | undefined; until?: string | undefined },
): Html {
  const href = (serverId: string) => adminPath(base, `/votes${queryText({ ...search, server: serverId })}`);
  return dataTable<PlayerRow>({
    caption: 'Votes of the player by server',
    rows,
    empty: 'No votes of this player.',
    columns: [
      {
        title: 'Server',
        heads: true,
        cell: ({ serverId, server }) =>
          html`<a href="${href(serverId.toHexString())}"><bdi>${server?.name ?? serverId.toHexString()}</bdi></a>`,
      },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => count(votes) },
      { title: 'Already excluded', kind: 'number', cell: ({ excluded }) => count(excluded) },
    ],
  });
}
