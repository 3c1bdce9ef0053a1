import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';
import { issueToken, makerOf, TokenMadeError } from '../../servers/api-tokens.ts';
import { isId } from '../../servers/slug.ts';
import { checkClaim } from '../../votes/claims/claim-vote.ts';
import { LONGEST_USERNAME, usernameSchema } from '../../votes/username.ts';
import { serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OWNER } from '../page-route.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { readForm } from '../shared/form.ts';
import { timeText } from '../shared/format.ts';
import type { Content, Html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { button, card, copyable, notice, textField } from '../shared/parts.ts';
import { type Block, blocksOf, type Connected } from './connect-blocks.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';
import { LIFETIMES, lifetimeField, lifetimeSchema } from './token-lifetimes.ts';

const keyForm = z.object({
  newId: z.string().refine(isId, defineMessage('The form was incomplete. Reload the page.')),
  lifetime: lifetimeSchema.default('1y'),
});
const checkForm = z.object({ username: usernameSchema, block: z.string() });

/** What a plugin is answered about a player. */
const ANSWERS = {
  off: defineMessage(
    'The plugin is answered that claims are off: under “Vote listener” you chose that only the listener rewards votes.',
  ),
  none: defineMessage('The plugin is answered 0: this player has no vote of the last 24 hours that counts.'),
  unclaimed: defineMessage('The plugin is answered 1: this player voted, and the vote is not claimed yet.'),
  rewarded: defineMessage('The plugin is answered 2: this player voted, and the vote was rewarded.'),
} as const;

type Showing = {
  /** A new claim key. */
  key?: string;
  message?: Html;
  /** The answer to a test, in the block that has the test. */
  tested?: { block: string; username: string; answer: Html };
  status?: number;
};

/** `/dashboard/servers/<id>/connect`: configurations of vote plugins, filled in, and tests of them. */
export function connectPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base, name, url } = app.site;

  const show = async (request: FastifyRequest, reply: FastifyReply, showing: Showing = {}) => {
    const server = serverOf(request);
    const listener = await deps.listeners.findOne({ serverId: server._id });
    const connected = { name, url, server, listener, key: showing.key ?? null };
    const body = connectBody(base, connected, showing);
    const now = deps.clock.now();
    const page = {
      title: t('Connect your plugin · {server}', { server: server.name }),
      body: serverFrame({ site: app.site, server, now, part: '/connect', body }),
    };
    return sendPage(request, reply, page, showing.status);
  };

  app.get('/servers/:serverId/connect', OWNER, (request, reply) => show(request, reply));

  app.post('/servers/:serverId/connect/key', OWNER, async (request, reply) => {
    const { data } = readForm(keyForm, request);
    if (!data) throw new PageError(400, t('The form was incomplete. Reload the page.'));
    const server = serverOf(request);
    const { _id: serverId } = server;
    const { _id: userId, email: by } = userOf(request);
    const expiresInMs = LIFETIMES[data.lifetime];
    const wanted = {
      serverId,
      name: t('Vote plugin, {time}', { time: timeText(deps.clock.now()) }),
      kind: 'claim',
      tokenId: new ObjectId(data.newId),
      maker: makerOf(server, userId),
      ...(expiresInMs ? { expiresInMs } : {}),
    } as const;
    try {
      const { token } = await issueToken(deps, wanted, by);
      return await show(request, reply, { key: token });
    } catch (error) {
      if (!(error instanceof TokenMadeError)) throw error;
      const message = notice(
        'attention',
        t(
          'This form was already sent, and its key was shown then. Revoke the key under “API access” and create another one.',
        ),
      );
      return show(request, reply, { message, status: 409 });
    }
  });

  app.post('/servers/:serverId/connect/check', OWNER, async (request, reply) => {
    const { data, typed } = readForm(checkForm, request);
    const { username = '', block = '' } = typed.values;
    if (!data) {
      const answer = notice('bad', typed.errors.username ?? t('Enter the name of a player.'));
      return show(request, reply, { tested: { block, username, answer }, status: 400 });
    }
    const player = { serverId: serverOf(request)._id, username: data.username };
    const { kind } = await checkClaim(deps, player);
    const answer = notice(
      'good',
      html`${t('<bdi>{username}</bdi>: {kind} Nothing was claimed.', { username: data.username, kind: ANSWERS[kind] })}`,
    );
    return show(request, reply, { tested: { block, username: data.username, answer } });
  });

  // The address of a form, which users may reload.
  for (const part of ['key', 'check']) {
    app.get(`/servers/:serverId/connect/${part}`, OWNER, (request, reply) =>
      reply.redirect(serverPath(base, serverOf(request), '/connect'), 303),
    );
  }
}

function connectBody(base: string, connected: Connected, { message, key, tested }: Showing): Content {
  const { first, others } = blocksOf(connected);
  const { server } = connected;
  const path = serverPath(base, server, '/connect');
  const shown = (block: Block) => blockCard(base, connected, block, tested);
  const isTestedBelow = others.some(({ id }) => id === tested?.block);
  return html`${message ?? ''}
    ${card({
      title: t('Two ways to reward players'),
      body: html`<p>${t('<strong>Pushed:</strong> the listing sends each vote to the vote listener of your server. <strong>Claimed:</strong> your plugin asks the listing whether a player voted, and claims the vote with a claim key. Choose one of them, or each vote is rewarded twice.')}</p>
        ${key ? keyNotice() : keyButton(path)}`,
    })}
    ${first.map(shown)}
    <details ${isTestedBelow ? 'open' : ''}><summary>${t('Other plugins ({others})', { others: String(others.length) })}</summary><div class="spaced">${others.map(shown)}</div></details>`;
}

function keyButton(path: string): Html {
  return html`<form method="post" action="${path}/key" class="stack">
    <input type="hidden" name="newId" value="${new ObjectId().toHexString()}" />
    ${lifetimeField(undefined, undefined)}
    <button type="submit" class="quiet">${t('Create a claim key')}</button>
  </form>
  <p class="small soft">${t('The key is shown once, filled in below. You can revoke it under “API access”.')}</p>`;
}

function keyNotice(): Html {
  return notice(
    'good',
    t(
      'Your claim key is filled in below. Copy what you need now: it is shown only once. It may only check and claim votes. The tests are on this page when you open it again.',
    ),
  );
}

function blockCard(
  base: string,
  { server, listener, key }: Connected,
  { id, title, way, about, text }: Block,
  tested: Showing['tested'],
): Html {
  const path = serverPath(base, server);
  return card({
    id,
    title,
    body: html`<p>${about}</p>
      ${copyable(text, t('the configuration: {title}', { title }))}
      ${key ? '' : way === 'claim' ? claimTest(path, id, tested) : pushTest(path, listener !== null)}`,
  });
}

function pushTest(path: string, hasListener: boolean): Html {
  if (!hasListener)
    return html`<p><a class="button quiet" href="${path}/listener">${t('Set up the vote listener')}</a></p>`;
  return html`<div class="actions">
    ${button({ to: `${path}/listener/test`, text: t('Test it now'), of: t('with a marked test vote') })}
    <a href="${path}/listener">${t('Vote listener')}</a>
  </div>`;
}

function claimTest(path: string, id: string, tested: Showing['tested']): Html {
  const own = tested?.block === id ? tested : undefined;
  return html`${own?.answer ?? ''}<form method="post" action="${path}/connect/check#${id}" class="stack">
    <input type="hidden" name="block" value="${id}" />
    <div class="row">${textField({
      name: 'username',
      id: `player-${id}`,
      label: t('Test it now: what is the plugin answered about this player?'),
      value: own?.username ?? '',
      maxlength: 2 * LONGEST_USERNAME,
      required: true,
      autocomplete: 'off',
      spellcheck: false,
    })}</div>
    <div class="actions"><button type="submit" class="quiet">${t('Ask as the plugin')}</button></div>
  </form>`;
}
