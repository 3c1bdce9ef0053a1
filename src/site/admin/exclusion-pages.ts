import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { findServer } from '../../servers/listed-servers.ts';
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
import { pageHead } from '../shared/deck.ts';
import { queryOf, queryText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, counted, time } from '../shared/format.ts';
import { html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendHtml, sendPage } from '../shared/layout.ts';
import { card, facts } from '../shared/parts.ts';
import { idField, utcMoment } from './admin-fields.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';
import { excludingForm, exclusionList, exclusionRefusal } from './exclusion-list.ts';

/** For all servers; the list of one server shows all. */
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

type Range = Awaited<ReturnType<typeof rangeOf>>;

export function exclusionPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;

  app.get('/votes/exclude', OPERATOR, async (request, reply) => {
    const parsed = rangeForm.safeParse(queryOf(request));
    if (!parsed.success) throw new PageError(400, 'Enter a server and a start time.');
    const { server, token = '', since, until = deps.clock.now() } = parsed.data;
    const range = await rangeOf(deps, { server, token, since, until });
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

  const rangeOfForm = (data: z.output<typeof exclusionForm>) =>
    rangeOf(deps, { ...data, since: new Date(data.since), until: new Date(data.until) });

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
    schema: z.object({ reason: z.string(), reasonForOwner: z.string().optional() }),
    run: async ({ request, by, data }) => {
      const exclusionId = idParam(request, 'exclusionId');
      const exclusion = await requestQuarantineExclusion(deps, exclusionId, data, by);
      if (!exclusion)
        return refused(409, 'There is no such open quarantine. It may have been decided already.');
      return `${adminPath(base, '/votes?done=excluding')}#exclusions`;
    },
  });
}

type Entered = { server: string; token: string; since: Date; until: Date };

async function rangeOf(deps: AdminParts['deps'], entered: Entered) {
  const { since, until } = entered;
  const server = await findServer(deps, entered.server, { removed: true });
  if (!server) throw new PageError(404, 'This server does not exist.');
  if (since >= until) throw new PageError(400, 'The end must be after the start.');
  if (entered.token === '') return { server, token: null, since, until };
  const { token: id } = entered;
  const ofServer = { serverId: server._id };
  const token = isId(id) ? await deps.apiTokens.findOne({ ...ofServer, _id: new ObjectId(id) }) : null;
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
  typed: Typed,
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
  return adminPage({
    base,
    part: '/votes',
    title: 'Exclude votes',
    head: pageHead({ title: 'Exclude votes' }),
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
              : excludingForm({
                  to: adminPath(base, '/votes/exclude'),
                  hidden,
                  typed,
                  reader: 'the server’s owner',
                  votes: affected.more ? 'them' : counted(affected.votes, 'vote'),
                  back,
                })
          }`,
    })}`,
  });
}

function affectedText({ votes, excluded, more }: RangeCount): string {
  const many = more ? `${count(votes)} or more` : count(votes);
  if (votes === 0) return 'none';
  return excluded === 0 ? many : `${many}; ${count(excluded)} of them are already excluded`;
}
