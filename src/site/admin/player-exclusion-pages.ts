import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import type { AppDeps } from '../../process/app-deps.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import {
  countPlayerVotes,
  type PlayerRange,
  type PlayerVotes,
  requestGroupInclusion,
  requestPlayerExclusion,
} from '../../votes/exclusions/player-exclusion.ts';
import { ExclusionError } from '../../votes/exclusions/request-exclusion.ts';
import { usernameSchema } from '../../votes/username.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../route-options.ts';
import { pageHead } from '../shared/deck.ts';
import { queryOf, queryText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, counted, time } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { card, dataTable, facts } from '../shared/parts.ts';
import { idField, utcMoment } from './admin-fields.ts';
import { type AdminParts, adminPage, adminPath, type NamedServer, serverNames } from './admin-frame.ts';
import { excludingForm, exclusionRefusal } from './exclusion-list.ts';

const server = z.union([z.literal(''), idField]).default('');
const searched = z.object({
  player: usernameSchema,
  server,
  since: utcMoment.optional(),
  until: utcMoment.optional(),
});
const exclusionForm = z.object({
  id: idField,
  player: usernameSchema,
  server,
  since: z.union([z.literal(''), z.iso.datetime()]),
  until: z.iso.datetime(),
  reason: z.string(),
  reasonForOwner: z.string().optional(),
});

export function playerExclusionPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const show = async (range: PlayerRange, groupId: ObjectId, typed: Typed) => {
    const found = await playerVotes(deps, range);
    if ('error' in found) throw new PageError(400, found.error);
    return exclusionPage({ base, range, groupId, typed, rows: found.rows });
  };

  app.get('/votes/exclude-player', OPERATOR, async (request, reply) => {
    const parsed = searched.safeParse(queryOf(request));
    if (!parsed.success) throw new PageError(400, 'Enter a player, and valid times.');
    const { player, since = null, until = deps.clock.now(), ...rest } = parsed.data;
    const range = { username: player, serverId: serverIdOf(rest.server), since, until };
    return sendPage(request, reply, await show(range, new ObjectId(), UNTOUCHED));
  });

  formRoute(app, {
    path: '/votes/exclude-player',
    access: OPERATOR,
    schema: exclusionForm,
    show: async (_request, typed) => {
      const { data } = exclusionForm.safeParse(typed.values);
      return data ? show(rangeOf(data), new ObjectId(data.id), typed) : null;
    },
    run: async ({ by, data }) => {
      const { id, player, server, reason, reasonForOwner } = data;
      const wanted = { ...rangeOf(data), reason, reasonForOwner };
      const stored = await requestPlayerExclusion(deps, new ObjectId(id), wanted, by);
      if (stored.length === 0) return refused(400, 'This player has no votes there.');
      return `${adminPath(base, `/votes${queryText({ server, player, done: 'excluding' })}`)}#exclusions`;
    },
    refusalOf: exclusionRefusal,
  });

  formRoute(app, {
    path: '/votes/exclusions/players/:groupId/undo',
    access: OPERATOR,
    run: async ({ request, by }) => {
      const undone = await requestGroupInclusion(deps, idParam(request, 'groupId'), by);
      if (undone.length === 0) return refused(404, 'This exclusion does not exist.');
      return `${adminPath(base, '/votes?done=including')}#exclusions`;
    },
  });
}

function rangeOf({ player, server, since, until }: z.output<typeof exclusionForm>): PlayerRange {
  return {
    username: player,
    serverId: serverIdOf(server),
    since: since ? new Date(since) : null,
    until: new Date(until),
  };
}

function serverIdOf(text: string): ObjectId | null {
  return text === '' ? null : new ObjectId(text);
}

type View = { base: string; range: PlayerRange; groupId: ObjectId; typed: Typed; rows: PlayerRow[] };

function exclusionPage(view: View): Page {
  const { base, range, rows } = view;
  const { username, since, until, serverId } = range;
  const votes = rows.reduce((sum, row) => sum + row.votes, 0);
  return adminPage({
    base,
    part: '/votes',
    title: 'Exclude a player’s votes',
    head: pageHead({ title: 'Exclude a player’s votes' }),
    body: html`${card({
      title: html`Votes of <bdi>${username}</bdi>`,
      body: html`${facts([
        ['From', since ? time(since) : 'the first vote'],
        ['To', html`${time(until)}, not included`],
        ['Servers', serverId ? 'one' : 'all'],
        ['Votes', votes === 0 ? 'none' : `${counted(votes, 'vote')} on ${counted(rows.length, 'server')}`],
      ])}
          ${playerTable(base, rows, { player: username })}
          <p>
            These votes will be removed from all counts and the ranking, in every spelling of the name. They are still
            delivered, and the ${COOLDOWN_HOURS}-hour cooldown stays. This takes up to a minute and can be undone. Later
            votes of this player count: to stop them, block the name.
          </p>
          ${votes === 0 ? html`<p><a class="button quiet" href="${back(view)}">Back</a></p>` : form(view, votes)}`,
    })}`,
  });
}

function back({ base, range: { serverId, username } }: View): string {
  return adminPath(base, `/votes${queryText({ server: serverId?.toHexString(), player: username })}`);
}

function form(view: View, votes: number): Html {
  const { base, range, groupId, typed } = view;
  const hidden = {
    id: groupId.toHexString(),
    player: range.username,
    server: range.serverId?.toHexString() ?? '',
    since: range.since?.toISOString() ?? '',
    until: range.until.toISOString(),
  };
  return excludingForm({
    to: adminPath(base, '/votes/exclude-player'),
    hidden,
    typed,
    reader: 'the servers’ owners',
    votes: counted(votes, 'vote'),
    back: back(view),
  });
}

export type PlayerRow = PlayerVotes & { server: NamedServer | undefined };

export async function playerVotes(
  deps: AppDeps,
  range: PlayerRange,
): Promise<{ rows: PlayerRow[] } | { error: string }> {
  try {
    const found = await countPlayerVotes(deps, range);
    const ids = found.map(({ serverId }) => serverId);
    const servers = await serverNames(deps, ids);
    return { rows: found.map((one) => ({ ...one, server: servers.get(one.serverId.toHexString()) })) };
  } catch (error) {
    if (!(error instanceof ExclusionError)) throw error;
    return { error: error.message };
  }
}

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
