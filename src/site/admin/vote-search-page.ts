import type { FastifyInstance } from 'fastify';
import { UUID, type WithId } from 'mongodb';
import { inEnglish } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { listTokens } from '../../servers/api-tokens.ts';
import type { Server } from '../../servers/server.ts';
import { listExclusions, newestExclusions } from '../../votes/exclusions/request-exclusion.ts';
import { type FoundVote, searchVotes } from '../../votes/search-votes.ts';
import { stateName } from '../../votes/state-names.ts';
import { usernameSchema } from '../../votes/username.ts';
import { isImported } from '../../votes/vote.ts';
import { type MeantServer, serverMeantBy } from '../../workflows/find-servers.ts';
import { OPERATOR } from '../route-options.ts';
import { queryOf, queryText } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { badge, card, cursorPager, dataTable, notice } from '../shared/parts.ts';
import { utcMoment } from './admin-fields.ts';
import {
  type AdminParts,
  adminPage,
  adminPath,
  adminVotePath,
  serverLink,
  stateBadges,
} from './admin-frame.ts';
import { exclusionList } from './exclusion-list.ts';
import { playerTable, playerVotes } from './player-exclusion-pages.ts';

const ROWS = 50;
const EXCLUSIONS = 20;

export function voteSearchPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/votes', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const { player = '' } = query;
    if (!query.server && UUID.isValid(player))
      return reply.redirect(adminVotePath(base, { _id: new UUID(player) }), 303);
    const search = await readSearch(deps, query);
    const { server, tokenId, since, until, typed } = search;
    const isInvalid = Object.keys(typed.errors).length > 0;
    const found =
      server && !isInvalid
        ? await searchVotes(
            deps,
            { serverId: server._id, player: search.player, tokenId, since, until },
            { from: query.from, limit: ROWS },
          )
        : null;
    const ofPlayer = !query.server && search.player && !isInvalid ? await playerCard(deps, base, search) : '';
    const exclusions = server
      ? await listExclusions(deps, server._id)
      : await newestExclusions(deps, { limit: EXCLUSIONS });
    const list = await exclusionList(deps, base, exclusions, server);
    const { from, done: _, ...kept } = query;
    const page = adminPage({
      base,
      part: '/votes',
      title: 'Votes',
      live: list.inProgress,
      messages: inEnglish({
        excluding: 'Excluding votes. This takes up to a minute.',
        including: 'These votes will count. This takes up to a minute.',
      }),
      body: html`${searchForm(base, search)}
            ${search.choices.length > 0 ? choiceCard(deps, base, search) : ''}${ofPlayer}
            ${server && found ? voteCard(base, server, search, found.votes, found.next !== null) : ''}
            ${found ? cursorPager(adminPath(base, '/votes'), { from, next: found.next }, kept) : ''}
            ${card({
              id: 'exclusions',
              title: server ? html`Exclusions of <bdi>${server.name}</bdi>` : 'Recent exclusions',
              body: list.html,
            })}`,
    });
    return sendPage(request, reply, page, isInvalid ? 400 : 200);
  });
}

function searchForm(base: string, { typed, tokens }: VoteQuery): Html {
  const fields = fieldsOf(typed);
  return html`<form method="get" action="${adminPath(base, '/votes')}" class="filters" role="search">
    ${fields.text('server', {
      label: 'Server',
      hint: 'Name, slug or id.',
      spellcheck: false,
    })}
    ${fields.text('player', {
      label: 'Player',
      hint: 'Full name or vote id.',
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
  const howToExclude =
    !canExclude(search) &&
    html`<p class="small soft">To exclude votes, search with a start time or for one player.</p>`;
  return card({
    title: html`Votes of ${serverLink(base, server)}`,
    actions: excludeLink(base, server, search),
    body: html`${howToExclude}
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

function tokenName(names: Map<string, string>, vote: FoundVote): Content {
  if (isImported(vote)) return html`<span class="soft">imported</span>`;
  if (vote.source === 'web') return html`<span class="soft">the vote form</span>`;
  const name = vote.tokenId && names.get(vote.tokenId.toHexString());
  return name ? html`<bdi>${name}</bdi>` : html`<span class="soft">unknown</span>`;
}

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

const CHOICES = 20;

type VoteQuery = Awaited<ReturnType<typeof readSearch>>;

async function readSearch(deps: AppDeps, query: Record<string, string>) {
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
