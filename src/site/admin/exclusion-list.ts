import { html } from 'hono/html';
import type { ObjectId, WithId } from 'mongodb';
import type { Platform } from '../../process/platform.ts';
import type { Server } from '../../servers/server.ts';
import { countMarked } from '../../votes/search-votes.ts';
import type { VoteExclusion } from '../../votes/vote-exclusion.ts';
import { queryText } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { badge, button, confirmed, dataTable } from '../parts.ts';
import { counted, time, timeAgo } from '../words.ts';
import { adminPath, adminServerPath } from './admin-frame.ts';

type Row = {
  exclusion: VoteExclusion;
  server: Pick<WithId<Server>, '_id' | 'name'> | undefined;
  token: string | undefined;
  /** Votes marked so far, while it is under way. */
  marked: number | undefined;
};

const isUnderWay = ({ state }: VoteExclusion) => state === 'excluding' || state === 'including';

/**
 * Exclusions with how they stand and a button to undo each. While one is under way the list asks for itself anew
 * every three seconds.
 *
 * @param of - the one server whose exclusions these are; null where they are of several
 */
export async function exclusionList(
  platform: Platform,
  base: string,
  exclusions: VoteExclusion[],
  of: WithId<Server> | null,
): Promise<{ html: Html; underWay: boolean }> {
  const rows = await rowsOf(platform, exclusions);
  const underWay = exclusions.some(isUnderWay);
  const now = platform.clock.now();
  const path = adminPath(base, `/votes/exclusions${queryText({ server: of?._id.toHexString() })}`);
  const table = dataTable<Row>({
    caption: 'Exclusions, newest first',
    rows,
    empty: of ? 'No votes of this server were ever excluded.' : 'No votes were ever excluded.',
    columns: [
      ...(of ? [] : [{ title: 'Server', cell: ({ server }: Row) => serverName(base, server) }]),
      { title: 'Votes cast', heads: true, cell: ({ exclusion, token }) => range(exclusion, token) },
      { title: 'Why', cell: ({ exclusion }) => html`<bdi>${exclusion.reason}</bdi>` },
      {
        title: 'By',
        kind: 'address',
        cell: ({ exclusion }) => html`${exclusion.by}, ${timeAgo(exclusion.at, now)}`,
      },
      { title: 'State', cell: (row) => state(row, now) },
      { title: 'Undo', cell: ({ exclusion }) => undo(base, exclusion, of !== null) },
    ],
  });
  return {
    underWay,
    html: html`<div id="exclusion-list" aria-live="polite" ${underWay ? html`data-hx-get="${path}" data-hx-trigger="every 3s" data-hx-swap="outerMorph"` : ''}>${table}</div>`,
  };
}

async function rowsOf(platform: Platform, exclusions: VoteExclusion[]): Promise<Row[]> {
  const ids = (of: (exclusion: VoteExclusion) => ObjectId | null | undefined) => [
    ...new Map(
      exclusions.flatMap((one) => (of(one) ? [[String(of(one)), of(one) as ObjectId]] : [])),
    ).values(),
  ];
  const [serverIds, tokenIds] = [ids(({ serverId }) => serverId), ids(({ tokenId }) => tokenId)];
  const [servers, tokens] = await Promise.all([
    serverIds.length > 0
      ? platform.servers.find({ _id: { $in: serverIds } }, { projection: { name: 1 } }).toArray()
      : [],
    tokenIds.length > 0 ? platform.apiTokens.find({ _id: { $in: tokenIds } }).toArray() : [],
  ]);
  return Promise.all(
    exclusions.map(async (exclusion) => ({
      exclusion,
      server: servers.find(({ _id }) => _id.equals(exclusion.serverId)),
      token: tokens.find(({ _id }) => exclusion.tokenId?.equals(_id))?.name,
      marked: isUnderWay(exclusion) ? await countMarked(platform, exclusion) : undefined,
    })),
  );
}

function serverName(base: string, server: Row['server']): Content {
  if (!server) return 'gone';
  return html`<a href="${adminServerPath(base, server)}"><bdi>${server.name}</bdi></a>`;
}

function range({ since, until, tokenId }: VoteExclusion, token: string | undefined): Html {
  const by = tokenId ? html`, with the token <bdi>${token ?? tokenId.toHexString()}</bdi>` : '';
  return html`${time(since)} to ${time(until)}${by}`;
}

function state({ exclusion, marked = 0 }: Row, now: Date): Content {
  const votes = counted(exclusion.votes ?? 0, 'vote');
  switch (exclusion.state) {
    case 'excluding':
      return html`${badge('attention', 'under way')} ${counted(marked, 'vote')} so far`;
    case 'including':
      return html`${badge('attention', 'being undone')} ${counted(marked, 'vote')} left`;
    case 'excluded':
      return html`${badge('good', 'excluded')} ${votes}`;
    case 'included': {
      const { undone } = exclusion;
      return html`${badge('quiet', 'undone')} ${undone ? html`by ${undone.by}, ${timeAgo(undone.at, now)}` : ''}`;
    }
  }
}

function undo(base: string, { _id, undone, votes }: VoteExclusion, ofOneServer: boolean): Content {
  if (undone) return '';
  const id = _id.toHexString();
  return confirmed({
    text: 'Undo…',
    of: `the exclusion ${id}`,
    consequence: `${votes === null || votes === undefined ? 'Its votes' : `Its ${counted(votes, 'vote')}`} count again, but for those that another exclusion covers.`,
    form: button({
      to: adminPath(base, `/votes/exclusions/${id}/undo`),
      text: 'Undo it',
      hidden: ofOneServer ? { list: 'server' } : {},
    }),
  });
}
