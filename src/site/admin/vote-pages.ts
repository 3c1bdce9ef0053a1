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

/** So many votes stand on a page, and so many exclusions below them. */
const ROWS = 50;
const EXCLUSIONS = 20;

/** What was typed into the search; `token` is one of the server's. */
type Asked = {
  server: WithId<Server> | null;
  player: string | undefined;
  tokenId: ObjectId | undefined;
  since: Date | undefined;
  until: Date | undefined;
  typed: Typed;
  tokens: { _id: ObjectId; name: string; prefix: string }[];
};

/** `/operator/votes`: votes of one server, and what was excluded. */
export function votePages(app: FastifyInstance, { platform }: AdminSources): void {
  const { base } = app.site;
  app.get('/votes', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const asked = await readSearch(platform, query);
    const { server, typed } = asked;
    const isFaulty = Object.keys(typed.errors).length > 0;
    const found = server && !isFaulty ? await votesAsked(platform, server, asked, query.from) : null;
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
        live: list.underWay,
        says: {
          excluding: 'The exclusion is under way. It takes up to a minute.',
          including: 'The exclusion is being undone. It takes up to a minute.',
        },
        body: adminFrame({
          base,
          part: '/votes',
          body: html`${searchForm(base, asked)}
            ${server && found ? voteCard(base, server, asked, found.votes, found.next !== null) : ''}
            ${found ? pager({ first: query.from ? path() : undefined, older: found.next ? path(found.next) : undefined }) : ''}
            ${card({ id: 'exclusions', title: server ? html`Exclusions of <bdi>${server.name}</bdi>` : 'Newest exclusions', body: list.html })}`,
        }),
      },
      isFaulty ? 400 : 200,
    );
  });
}

async function readSearch(platform: AdminSources['platform'], query: Record<string, string>): Promise<Asked> {
  const errors: Record<string, string> = {};
  const server = query.server ? await findServer(platform, query.server, { removed: true }) : null;
  if (query.server && !server) errors.server = 'There is no server with this id or slug.';
  const moment = (name: 'since' | 'until') => {
    const text = query[name];
    if (!text) return undefined;
    const parsed = utcMoment.safeParse(text);
    if (!parsed.success) errors[name] = 'This must be a time such as 2026-11-21T14:02.';
    return parsed.data;
  };
  const [since, until] = [moment('since'), moment('until')];
  if (since && until && since >= until) errors.until = 'The end must be after the beginning.';
  const tokens = server ? await listTokens(platform, server._id) : [];
  const tokenId = tokens.find(({ _id }) => _id.toHexString() === query.token)?._id;
  if (query.token && server && !tokenId) errors.token = 'The server never had this token.';
  return { server, player: query.player, tokenId, since, until, tokens, typed: { values: query, errors } };
}

function votesAsked(
  platform: AdminSources['platform'],
  { _id: serverId }: WithId<Server>,
  { player, tokenId, since, until }: Asked,
  from: string | undefined,
) {
  return searchVotes(platform, { serverId, player, tokenId, since, until }, { from, limit: ROWS });
}

function searchForm(base: string, { typed: { values, errors }, tokens }: Asked): Html {
  return html`<form method="get" action="${adminPath(base, '/votes')}" class="filters" role="search">
    ${textField({ name: 'server', label: 'Server', hint: 'Its id or slug.', required: true, value: values.server ?? '', error: errors.server, spellcheck: false })}
    ${textField({ name: 'player', label: 'Player', hint: 'The whole name, or a vote’s id.', value: values.player ?? '', maxlength: 60, spellcheck: false })}
    ${
      tokens.length > 0
        ? select({
            name: 'token',
            label: 'Token',
            hint: 'Who cast it.',
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
    ${textField({ name: 'since', label: 'From', hint: 'In UTC.', type: 'datetime-local', step: 'any', value: values.since ?? '', error: errors.since })}
    ${textField({ name: 'until', label: 'To', hint: 'In UTC, not included.', type: 'datetime-local', step: 'any', value: values.until ?? '', error: errors.until })}
    <button type="submit">Search</button>
  </form>`;
}

function voteCard(
  base: string,
  server: WithId<Server>,
  asked: Asked,
  votes: FoundVote[],
  goesOn: boolean,
): Html {
  const names = new Map(asked.tokens.map(({ _id, name }) => [_id.toHexString(), name]));
  const nothing = goesOn
    ? 'None among the votes looked at so far; go on with the older ones.'
    : 'No vote is as you asked.';
  return card({
    title: html`Votes of <a href="${adminServerPath(base, server)}"><bdi>${server.name}</bdi></a>`,
    actions: excludeLink(base, server, asked),
    body: html`${canExclude(asked) ? '' : html`<p class="small soft">To exclude votes, search for those from a certain time on, of no one player.</p>`}
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
  unconfirmed: 'unconfirmed, given up',
  failed: 'failed',
};

function tokenName(names: Map<string, string>, vote: FoundVote): Content {
  if (isImported(vote)) return html`<span class="soft">imported</span>`;
  const name = vote.tokenId && names.get(vote.tokenId.toHexString());
  return name ? html`<bdi>${name}</bdi>` : html`<span class="soft">unknown</span>`;
}

/** An exclusion is of a range, not of a player: without a beginning there is nothing to exclude. */
function canExclude({ since, player }: Asked): boolean {
  return Boolean(since && !player);
}

function excludeLink(base: string, { _id }: WithId<Server>, asked: Asked): Content {
  if (!canExclude(asked)) return '';
  const { values } = asked.typed;
  const range = { server: _id.toHexString(), token: values.token, since: values.since, until: values.until };
  return html`<a class="button quiet" href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">Exclude these votes…</a>`;
}
