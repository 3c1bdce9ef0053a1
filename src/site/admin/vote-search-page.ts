import type { FastifyInstance } from 'fastify';
import { UUID, type WithId } from 'mongodb';
import { inEnglish } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { listExclusions, newestExclusions } from '../../votes/exclusions/request-exclusion.ts';
import { type FoundVote, searchVotes } from '../../votes/search-votes.ts';
import { stateName } from '../../votes/state-names.ts';
import { usernameSchema } from '../../votes/username.ts';
import { isImported } from '../../votes/vote.ts';
import { OPERATOR } from '../route-options.ts';
import { queryOf, queryText } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { badge, card, cursorPager, dataTable, notice } from '../shared/parts.ts';
import { adminFrame, adminPath, adminServerPath, adminVotePath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { exclusionList } from './exclusion-list.ts';
import { playerTable, playerVotes } from './player-votes.ts';
import { stateBadges } from './server-badges.ts';
import { readSearch, type VoteQuery } from './vote-search.ts';

/** The number of votes on a page, and of exclusions below them if no server is chosen. */
const ROWS = 50;
const EXCLUSIONS = 20;

/** `/operator/votes`: a search for votes by server, player and time, and the newest exclusions. */
export function voteSearchPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/votes', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const { player = '' } = query;
    if (!query.server && UUID.isValid(player))
      return reply.redirect(adminVotePath(base, { _id: new UUID(player) }), 303);
    const search = await readSearch(deps, query);
    const { server, typed } = search;
    const isInvalid = Object.keys(typed.errors).length > 0;
    const found = server && !isInvalid ? await findVotes(deps, server, search, query.from) : null;
    const ofPlayer = !query.server && search.player && !isInvalid ? await playerCard(deps, base, search) : '';
    const exclusions = server
      ? await listExclusions(deps, server._id)
      : await newestExclusions(deps, { limit: EXCLUSIONS });
    const list = await exclusionList(deps, base, exclusions, server);
    const { from, done: _, ...kept } = query;
    return sendPage(
      request,
      reply,
      {
        title: 'Votes',
        live: list.inProgress,
        messages: inEnglish({
          excluding: 'Excluding votes. This takes up to a minute.',
          including: 'These votes will count. This takes up to a minute.',
        }),
        ...adminFrame({
          base,
          part: '/votes',
          body: html`${searchForm(base, search)}
            ${search.choices.length > 0 ? choiceCard(deps, base, search) : ''}${ofPlayer}
            ${server && found ? voteCard(base, server, search, found.votes, found.next !== null) : ''}
            ${found ? cursorPager(adminPath(base, '/votes'), { from, next: found.next }, kept) : ''}
            ${card({
              id: 'exclusions',
              title: server ? html`Exclusions of <bdi>${server.name}</bdi>` : 'Recent exclusions',
              body: list.html,
            })}`,
        }),
      },
      isInvalid ? 400 : 200,
    );
  });
}

function findVotes(
  deps: AdminParts['deps'],
  { _id: serverId }: WithId<Server>,
  { player, tokenId, since, until }: VoteQuery,
  from: string | undefined,
) {
  return searchVotes(deps, { serverId, player, tokenId, since, until }, { from, limit: ROWS });
}

function searchForm(base: string, { typed, tokens }: VoteQuery): Html {
  const fields = fieldsOf(typed);
  return html`<form method="get" action="${adminPath(base, '/votes')}" class="filters" role="search">
    ${fields.text('server', {
      label: 'Server',
      hint: 'Name, slug or id. Without it, enter a player.',
      spellcheck: false,
    })}
    ${fields.text('player', {
      label: 'Player',
      hint: 'Full name, or vote id.',
      maxlength: 60,
      spellcheck: false,
    })}
    ${
      tokens.length > 0
        ? fields.select('token', {
            label: 'Token',
            hint: 'The API token that cast the vote.',
            options: [
              ['', 'Any'],
              ...tokens.map(
                (one) => [one._id.toHexString(), `${one.name} (${one.prefix}…)`] as [string, string],
              ),
            ],
          })
        : ''
    }
    ${fields.text('since', {
      label: 'From',
      hint: 'UTC.',
      type: 'datetime-local',
      step: 'any',
    })}
    ${fields.text('until', {
      label: 'To',
      hint: 'UTC, not included.',
      type: 'datetime-local',
      step: 'any',
    })}
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
    body: html`${canExclude(search) ? '' : HOW_TO_EXCLUDE}
    ${dataTable<FoundVote>({
      caption: 'Votes, newest first',
      rows: votes,
      empty: nothing,
      columns: [
        {
          title: 'Player',
          heads: true,
          cell: (vote) => html`<a href="${adminVotePath(base, vote)}"><bdi>${vote.username}</bdi></a>`,
        },
        { title: 'Cast', cell: ({ votedAt }) => time(votedAt) },
        { title: 'Token', cell: (vote) => tokenName(names, vote) },
        { title: 'Delivery', cell: ({ delivery }) => stateName(delivery.state, null) },
        {
          title: 'Counts',
          cell: ({ excludedAt }) => (excludedAt ? badge('attention', 'excluded') : 'yes'),
        },
      ],
    })}`,
  });
}

const HOW_TO_EXCLUDE = html`<p class="small soft">To exclude votes, search with a start time or for one player.</p>`;

function tokenName(names: Map<string, string>, vote: FoundVote): Content {
  if (isImported(vote)) return html`<span class="soft">imported</span>`;
  if (vote.source === 'web') return html`<span class="soft">the vote form</span>`;
  const name = vote.tokenId && names.get(vote.tokenId.toHexString());
  return name ? html`<bdi>${name}</bdi>` : html`<span class="soft">unknown</span>`;
}

/** Whether the found votes can be excluded. This needs the start of a time range, or a player. */
function canExclude({ since, player }: VoteQuery): boolean {
  return Boolean(player ? usernameSchema.safeParse(player).success && !UUID.isValid(player) : since);
}

function excludeLink(base: string, { _id }: WithId<Server>, search: VoteQuery): Content {
  if (!canExclude(search)) return '';
  const { values } = search.typed;
  const { player, token, since, until } = values;
  const server = _id.toHexString();
  const [path, text] = search.player
    ? [`/votes/exclude-player${queryText({ player, server, since, until })}`, 'Exclude this player’s votes…']
    : [`/votes/exclude${queryText({ server, token, since, until })}`, 'Exclude these votes…'];
  return html`<a class="button quiet" href="${adminPath(base, path)}">${text}</a>`;
}

/** The card if several servers have the entered name. Each link repeats the search with one of these servers. */
function choiceCard({ clock }: AppDeps, base: string, { choices, typed }: VoteQuery): Html {
  const { from: _, done: __, ...rest } = typed.values;
  const href = ({ _id }: WithId<Server>) =>
    adminPath(base, `/votes${queryText({ ...rest, server: _id.toHexString() })}`);
  return card({
    title: 'Which server?',
    body: dataTable({
      caption: 'Servers with this name',
      rows: choices,
      empty: '',
      columns: [
        {
          title: 'Server',
          heads: true,
          cell: (server) => html`<a href="${href(server)}"><bdi>${server.name}</bdi></a>`,
        },
        {
          title: 'Address',
          kind: 'address',
          cell: ({ address, port }) => html`<span class="mono">${hostAndPort(address, port)}</span>`,
        },
        { title: 'Slug', cell: ({ slug }) => html`<span class="mono">${slug}</span>` },
        {
          title: 'State',
          cell: (server) => html`<span class="actions">${stateBadges(server, clock.now())}</span>`,
        },
      ],
    }),
  });
}

/** The card with the number of a player's votes for each server. */
async function playerCard(deps: AppDeps, base: string, search: VoteQuery): Promise<Html> {
  const { player = '', since = null, until = deps.clock.now(), typed } = search;
  const { values } = typed;
  const range = { player, since: values.since, until: values.until };
  const title = html`Votes of <bdi>${player}</bdi>`;
  const found = await playerVotes(deps, { username: player, serverId: null, since, until });
  if ('error' in found) return card({ title, body: notice('bad', found.error) });
  const excludePath = adminPath(base, `/votes/exclude-player${queryText(range)}`);
  return card({
    title,
    actions:
      found.rows.length > 0
        ? html`<a class="button quiet" href="${excludePath}">Exclude this player’s votes…</a>`
        : '',
    body: playerTable(base, found.rows, range),
  });
}
