import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import type { ObjectId, WithId } from 'mongodb';
import { listTokens } from '../../servers/api-tokens.ts';
import { findServer } from '../../servers/listing.ts';
import type { Server } from '../../servers/server.ts';
import { listExclusions, newestExclusions } from '../../votes/exclude-votes.ts';
import { type FoundVote, searchVotes } from '../../votes/search-votes.ts';
import { isImported } from '../../votes/vote.ts';
import { queryOf, queryText, type Typed } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { sendPage } from '../layout.ts';
import { OPERATOR } from '../page-route.ts';
import { badge, card, dataTable, pager, select, textField } from '../parts.ts';
import { time } from '../words.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import type { AdminSources } from './admin-sources.ts';
import { exclusionList } from './exclusion-list.ts';
import { utcMoment } from './utc-fields.ts';

/** Votes per page, and the number of exclusions below them. */
const ROWS = 50;
const EXCLUSIONS = 20;

/** The entered search; `tokenId` is one of the server's tokens. */
type VoteQuery = {
  server: WithId<Server> | null;
  player: string | undefined;
  tokenId: ObjectId | undefined;
  since: Date | undefined;
  until: Date | undefined;
  typed: Typed;
  tokens: { _id: ObjectId; name: string; prefix: string }[];
};

/** `/operator/votes`: search for the votes of a server, and exclusions. */
export function votePages(app: FastifyInstance, { platform }: AdminSources): void {
  const { base } = app.site;
  app.get('/votes', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const search = await readSearch(platform, query);
    const { server, typed } = search;
    const isInvalid = Object.keys(typed.errors).length > 0;
    const found = server && !isInvalid ? await findVotes(platform, server, search, query.from) : null;
    const exclusions = server
      ? await listExclusions(platform, server._id)
      : await newestExclusions(platform, { limit: EXCLUSIONS });
    const list = await exclusionList(platform, base, exclusions, server);
    const { from: _, done: __, ...rest } = query;
    const path = (from?: string) => adminPath(base, `/votes${queryText({ ...rest, from })}`);
    return sendPage(
      request,
      reply,
      {
        title: 'Votes',
        live: list.inProgress,
        messages: {
          excluding: 'Excluding votes. This takes up to a minute.',
          including: 'These votes will count. This takes up to a minute.',
        },
        body: adminFrame({
          base,
          part: '/votes',
          body: html`${searchForm(base, search)}
            ${server && found ? voteCard(base, server, search, found.votes, found.next !== null) : ''}
            ${found ? pager({ first: query.from ? path() : undefined, older: found.next ? path(found.next) : undefined }) : ''}
            ${card({ id: 'exclusions', title: server ? html`Exclusions of <bdi>${server.name}</bdi>` : 'Recent exclusions', body: list.html })}`,
        }),
      },
      isInvalid ? 400 : 200,
    );
  });
}

async function readSearch(
  platform: AdminSources['platform'],
  query: Record<string, string>,
): Promise<VoteQuery> {
  const errors: Record<string, string> = {};
  const server = query.server ? await findServer(platform, query.server, { removed: true }) : null;
  if (query.server && !server) errors.server = 'No server has this id or slug.';
  const moment = (name: 'since' | 'until') => {
    const text = query[name];
    if (!text) return undefined;
    const parsed = utcMoment.safeParse(text);
    if (!parsed.success) errors[name] = 'Enter a time such as 2026-11-21T14:02.';
    return parsed.data;
  };
  const [since, until] = [moment('since'), moment('until')];
  if (since && until && since >= until) errors.until = 'The end must be after the start.';
  const tokens = server ? await listTokens(platform, server._id) : [];
  const tokenId = tokens.find(({ _id }) => _id.toHexString() === query.token)?._id;
  if (query.token && server && !tokenId) errors.token = 'The server has no such token.';
  return { server, player: query.player, tokenId, since, until, tokens, typed: { values: query, errors } };
}

function findVotes(
  platform: AdminSources['platform'],
  { _id: serverId }: WithId<Server>,
  { player, tokenId, since, until }: VoteQuery,
  from: string | undefined,
) {
  return searchVotes(platform, { serverId, player, tokenId, since, until }, { from, limit: ROWS });
}

function searchForm(base: string, { typed: { values, errors }, tokens }: VoteQuery): Html {
  return html`<form method="get" action="${adminPath(base, '/votes')}" class="filters" role="search">
    ${textField({ name: 'server', label: 'Server', hint: 'Id or slug.', required: true, value: values.server ?? '', error: errors.server, spellcheck: false })}
    ${textField({ name: 'player', label: 'Player', hint: 'Full name, or vote id.', value: values.player ?? '', maxlength: 60, spellcheck: false })}
    ${
      tokens.length > 0
        ? select({
            name: 'token',
            label: 'Token',
            hint: 'The API token that cast the vote.',
            value: values.token,
            error: errors.token,
            options: [
              ['', 'Any'],
              ...tokens.map(
                (one) => [one._id.toHexString(), `${one.name} (${one.prefix}…)`] as [string, string],
              ),
            ],
          })
        : ''
    }
    ${textField({ name: 'since', label: 'From', hint: 'UTC.', type: 'datetime-local', step: 'any', value: values.since ?? '', error: errors.since })}
    ${textField({ name: 'until', label: 'To', hint: 'UTC, not included.', type: 'datetime-local', step: 'any', value: values.until ?? '', error: errors.until })}
    <button type="submit">Search</button>
  </form>`;
}

function voteCard(
  base: string,
  server: WithId<Server>,
  search: VoteQuery,
  votes: FoundVote[],
  hasMore: boolean,
): Html {
  const names = new Map(search.tokens.map(({ _id, name }) => [_id.toHexString(), name]));
  const nothing = hasMore ? 'No matching votes so far. Continue with older ones.' : 'No matching votes.';
  return card({
    title: html`Votes of <a href="${adminServerPath(base, server)}"><bdi>${server.name}</bdi></a>`,
    actions: excludeLink(base, server, search),
    body: html`${canExclude(search) ? '' : html`<p class="small soft">To exclude votes, search with a start time and without a player.</p>`}
    ${dataTable<FoundVote>({
      caption: 'Votes, newest first',
      rows: votes,
      empty: nothing,
      columns: [
        { title: 'Player', heads: true, cell: ({ username }) => html`<bdi>${username}</bdi>` },
        { title: 'Cast', cell: ({ votedAt }) => time(votedAt) },
        { title: 'Token', cell: (vote) => tokenName(names, vote) },
        { title: 'Delivery', cell: ({ delivery }) => DELIVERY[delivery.state] },
        {
          title: 'Counts',
          cell: ({ excludedAt }) => (excludedAt ? badge('attention', 'excluded') : 'yes'),
        },
      ],
    })}`,
  });
}

const DELIVERY: Record<FoundVote['delivery']['state'], string> = {
  none: 'no listener',
  waiting: 'waiting',
  sending: 'being sent',
  delivered: 'delivered',
  unconfirmed: 'unconfirmed',
  failed: 'failed',
};

function tokenName(names: Map<string, string>, vote: FoundVote): Content {
  if (isImported(vote)) return html`<span class="soft">imported</span>`;
  const name = vote.tokenId && names.get(vote.tokenId.toHexString());
  return name ? html`<bdi>${name}</bdi>` : html`<span class="soft">unknown</span>`;
}

/** An exclusion covers a time range, not a player, so it needs a start time. */
function canExclude({ since, player }: VoteQuery): boolean {
  return Boolean(since && !player);
}

function excludeLink(base: string, { _id }: WithId<Server>, search: VoteQuery): Content {
  if (!canExclude(search)) return '';
  const { values } = search.typed;
  const range = { server: _id.toHexString(), token: values.token, since: values.since, until: values.until };
  return html`<a class="button quiet" href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">Exclude these votes…</a>`;
}
