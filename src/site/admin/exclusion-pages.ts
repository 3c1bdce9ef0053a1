import type { FastifyInstance } from 'fastify';
import { ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { findServer } from '../../servers/listed-servers.ts';
import type { Server } from '../../servers/server.ts';
import { isId } from '../../servers/slug.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import { requestQuarantineExclusion } from '../../votes/exclusions/quarantine.ts';
import {
  type ExclusionRequest,
  listExclusions,
  newestExclusions,
  requestExclusion,
  requestInclusion,
} from '../../votes/exclusions/request-exclusion.ts';
import { countRange, type RangeCount } from '../../votes/search-votes.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../route-options.ts';
import { queryOf, queryText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, counted, time } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendHtml, sendPage } from '../shared/layout.ts';
import { card, facts } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { exclusionRefusal, idField } from './exclusion-form.ts';
import { exclusionList } from './exclusion-list.ts';
import { reasonFields } from './reason-fields.ts';
import { utcMoment } from './utc-fields.ts';

/** The list of all servers' exclusions shows at most this many; the list of one server shows all. */
const EXCLUSIONS = 20;

const rangeForm = z.object({
  server: z.string(),
  token: z.string().optional(),
  since: utcMoment,
  until: utcMoment.optional(),
});
const exclusionForm = z.object({
  id: idField,
  server: idField,
  token: z.string(),
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  reason: z.string(),
  reasonForOwner: z.string().optional(),
});

/** A time range of a server's votes. If `token` is set: only the votes that were cast with this token. */
type Range = {
  server: WithId<Server>;
  token: { _id: ObjectId; name: string } | null;
  since: Date;
  until: Date;
};

/** `/operator/votes/exclude`: shows the affected votes, then excludes them. Another form undoes an exclusion. */
export function exclusionPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;

  app.get('/votes/exclude', OPERATOR, async (request, reply) => {
    const parsed = rangeForm.safeParse(queryOf(request));
    if (!parsed.success) throw new PageError(400, 'Enter a server and a start time.');
    const { server, token = '', since, until = deps.clock.now() } = parsed.data;
    const range = await rangeOf(deps, server, token, since, until);
    const affected = await countRange(deps, requestOf(range));
    return sendPage(request, reply, exclusionPage(base, range, affected, new ObjectId(), UNTOUCHED));
  });

  formRoute(app, {
    path: '/votes/exclude',
    access: OPERATOR,
    schema: exclusionForm,
    show: async (_request, typed) => {
      const { data } = exclusionForm.safeParse(typed.values);
      if (!data) return null;
      const range = await rangeOfForm(data);
      return exclusionPage(
        base,
        range,
        await countRange(deps, requestOf(range)),
        new ObjectId(data.id),
        typed,
      );
    },
    run: async ({ by, data }) => {
      const range = await rangeOfForm(data);
      const { id, reason, reasonForOwner } = data;
      const wanted = { ...requestOf(range), reason, reasonForOwner };
      await requestExclusion(deps, new ObjectId(id), wanted, by);
      const shown = queryText({ server: range.server._id.toHexString(), done: 'excluding' });
      return `${adminPath(base, `/votes${shown}`)}#exclusions`;
    },
    refusalOf: exclusionRefusal,
  });

  const rangeOfForm = ({ server, token, since, until }: z.output<typeof exclusionForm>) =>
    rangeOf(deps, server, token, new Date(since), new Date(until));

  app.get('/votes/exclusions', OPERATOR, async (request, reply) => {
    const { server: named = '' } = queryOf(request);
    const server = named ? await findServer(deps, named, { removed: true }) : null;
    const exclusions = server
      ? await listExclusions(deps, server._id)
      : await newestExclusions(deps, { limit: EXCLUSIONS });
    return sendHtml(reply, (await exclusionList(deps, base, exclusions, server)).html);
  });

  formRoute(app, {
    path: '/votes/exclusions/:exclusionId/undo',
    access: OPERATOR,
    run: async ({ request, by, values }) => {
      const exclusionId = idParam(request, 'exclusionId');
      const exclusion = await requestInclusion(deps, exclusionId, by);
      if (!exclusion) return refused(404, 'This exclusion does not exist.');
      const server = values.list === 'server' ? exclusion.serverId.toHexString() : undefined;
      return `${adminPath(base, `/votes${queryText({ server, done: 'including' })}`)}#exclusions`;
    },
  });

  formRoute(app, {
    path: '/votes/exclusions/:exclusionId/exclude',
    access: OPERATOR,
    run: async ({ request, by }) => {
      const exclusionId = idParam(request, 'exclusionId');
      const exclusion = await requestQuarantineExclusion(deps, exclusionId, CONFIRMED, by);
      if (!exclusion)
        return refused(409, 'There is no such open quarantine. It may have been decided already.');
      return `${adminPath(base, '/votes?done=excluding')}#exclusions`;
    },
  });
}

/** The stored reason if an operator excludes the votes of a quarantine with the button of the quarantine. */
const CONFIRMED = 'Unusual votes, excluded after a quarantine.';

async function rangeOf(
  deps: AdminParts['deps'],
  serverText: string,
  tokenText: string,
  since: Date,
  until: Date,
): Promise<Range> {
  const server = await findServer(deps, serverText, { removed: true });
  if (!server) throw new PageError(404, 'This server does not exist.');
  if (since >= until) throw new PageError(400, 'The end must be after the start.');
  if (tokenText === '') return { server, token: null, since, until };
  const token = isId(tokenText)
    ? await deps.apiTokens.findOne({ _id: new ObjectId(tokenText), serverId: server._id })
    : null;
  if (!token) throw new PageError(404, 'The server has no such token.');
  return { server, token, since, until };
}

function requestOf({ server, token, since, until }: Range): Omit<ExclusionRequest, 'reason'> {
  return { serverId: server._id, tokenId: token?._id ?? null, since, until };
}

function exclusionPage(
  base: string,
  range: Range,
  affected: RangeCount,
  exclusionId: ObjectId,
  { values, errors }: Typed,
): Page {
  const { server, token, since, until } = range;
  const hidden = {
    id: exclusionId.toHexString(),
    server: server._id.toHexString(),
    token: token?._id.toHexString() ?? '',
    since: since.toISOString(),
    until: until.toISOString(),
  };
  const back = adminPath(base, `/votes${queryText({ server: hidden.server })}`);
  return {
    title: 'Exclude votes',
    ...adminFrame({
      base,
      part: '/votes',
      head: html`<h1>Exclude votes</h1>`,
      body: html`${card({
        title: html`Votes of <bdi>${server.name}</bdi>`,
        body: html`${facts([
          ['From', time(since)],
          ['To', html`${time(until)}, not included`],
          ['Token', token ? html`<bdi>${token.name}</bdi>` : 'any'],
          ['Votes', affectedText(affected)],
        ])}
          <p>
            These votes will be removed from all counts and the ranking. They are still delivered, and their players’
            ${COOLDOWN_HOURS}-hour cooldown stays. This takes up to a minute and can be undone.
          </p>
          ${
            affected.votes === 0
              ? html`<p><a class="button quiet" href="${back}">Back</a></p>`
              : exclusionFormOf(base, hidden, affected, { values, errors }, back)
          }`,
      })}`,
    }),
  };
}

function exclusionFormOf(
  base: string,
  hidden: Record<string, string>,
  affected: RangeCount,
  { values, errors }: Typed,
  back: string,
): Html {
  return html`<form method="post" action="${adminPath(base, '/votes/exclude')}" class="stack">
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${reasonFields({
      typed: { values, errors },
      forOwner: { name: 'reasonForOwner', reader: 'the server’s owner' },
      internal: { name: 'reason', required: true },
    })}
    <div class="actions">
      <button class="danger" type="submit">Exclude ${affected.more ? 'them' : counted(affected.votes, 'vote')}</button>
      <a class="button quiet" href="${back}">Cancel</a>
    </div>
  </form>`;
}

function affectedText({ votes, excluded, more }: RangeCount): string {
  const many = more ? `${count(votes)} or more` : count(votes);
  if (votes === 0) return 'none';
  return excluded === 0 ? many : `${many}; ${count(excluded)} of them are already excluded`;
}
