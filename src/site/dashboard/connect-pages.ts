import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, filled, t } from '../../language/t.ts';
import { rewardsOf } from '../../listeners/listener.ts';
import type { TokenKind } from '../../servers/api-token.ts';
import { issueToken, makerOf, TokenMadeError } from '../../servers/api-tokens.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import { checkClaim } from '../../votes/claims/claim-vote.ts';
import { LONGEST_USERNAME, usernameSchema } from '../../votes/username.ts';
import { serverOf, userOf } from '../guard-routes.ts';
import { RELAY_JAR_PATH } from '../relay-jar.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { fetchedText } from '../shared/fetch-state.ts';
import { type FormAnswer, formRoute } from '../shared/form-route.ts';
import { timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, copyable, linkTo, notice, textField } from '../shared/parts.ts';
import type { ConnectBlock, Connected } from './connect-block.ts';
import { blocksOf, usesRelay } from './connect-blocks.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { hiddenId, newIdField } from './hidden-ids.ts';
import { serverFrame } from './server-frame.ts';
import { LIFETIMES, lifetimeField, lifetimeSchema } from './token-lifetimes.ts';

/** What the API would answer to a plugin that asks about a player. */
const ANSWERS = {
  off: defineMessage(
    'The plugin is answered that claims are off: under “Vote listener” you chose that only the listener rewards votes.',
  ),
  none: filled(
    defineMessage('The plugin is answered 0: this player has no vote of the last {hours} hours that counts.'),
    { hours: COOLDOWN_HOURS },
  ),
  unclaimed: defineMessage('The plugin is answered 1: this player voted, and the vote is not claimed yet.'),
  rewarded: defineMessage('The plugin is answered 2: this player voted, and the vote was rewarded.'),
} as const;

const MESSAGES = {
  fetching: defineMessage(
    'Saved: your server fetches its votes. Next, set up the relay or your own plugin with the three steps below.',
  ),
};

/** `key`: a new claim key. `relayKey`: a new delivery token. */
type Showing = {
  key?: string;
  relayKey?: string;
  message?: Html;
  /** The result of a test, and the id of the configuration below which it is shown. */
  tested?: { block: string; username: string; answer?: Html; error?: string | undefined };
};

/** `/dashboard/servers/<id>/connect`: ready-made configurations of vote plugins, and tests of them. */
export function connectPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base, url } = app.site;

  const page = async (request: FastifyRequest, showing: Showing = {}): Promise<Page> => {
    const server = serverOf(request);
    const listener = await deps.listeners.findOne({ serverId: server._id });
    const connected = { name: app.site.name, url, server, listener, key: showing.key };
    const now = deps.clock.now();
    const relay = relayCard(base, connected, showing.relayKey, now);
    const body = connectBody(base, connected, showing, relay);
    return {
      title: t('Connect your plugin · {server}', { server: server.name }),
      messages: MESSAGES,
      ...serverFrame({ site: app.site, deps, server, now, part: '/connect', body }),
    };
  };

  app.get('/servers/:serverId/connect', OWNER, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );

  /** If the form was sent twice: the second answer has a message instead of the token. */
  const issue = async (
    request: FastifyRequest,
    wanted: { name: string; kind: TokenKind; tokenId: ObjectId; expiresInMs?: number },
    show: (token: string) => Showing,
  ): Promise<FormAnswer> => {
    const server = serverOf(request);
    const { _id: userId, email: by } = userOf(request);
    const order = { serverId: server._id, maker: makerOf(server, userId), ...wanted };
    try {
      const { token } = await issueToken(deps, order, by);
      return { page: page(request, show(token)) };
    } catch (error) {
      if (!(error instanceof TokenMadeError)) throw error;
      const message = notice(
        'attention',
        t(
          'This form was already sent, and its key was shown then. Revoke the key under “API access” and create another one.',
        ),
      );
      return { page: page(request, { message }), status: 409 };
    }
  };

  formRoute(app, {
    path: '/servers/:serverId/connect/key',
    access: OWNER,
    schema: z.object({ newId: hiddenId, lifetime: lifetimeSchema.default('1y') }),
    run: ({ request, data }) => {
      const expiresInMs = LIFETIMES[data.lifetime];
      const name = t('Vote plugin, {time}', { time: timeText(deps.clock.now()) });
      const wanted = {
        name,
        kind: 'claim',
        tokenId: data.newId,
        ...(expiresInMs && { expiresInMs }),
      } as const;
      return issue(request, wanted, (key) => ({ key }));
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/connect/relay',
    access: OWNER,
    schema: z.object({ newId: hiddenId }),
    run: ({ request, data }) => {
      const name = t('Relay, {time}', { time: timeText(deps.clock.now()) });
      const wanted = { name, kind: 'deliver', tokenId: data.newId } as const;
      return issue(request, wanted, (relayKey) => ({ relayKey }));
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/connect/check',
    access: OWNER,
    schema: z.object({ username: usernameSchema, block: z.string() }),
    show: (request, { values: { block = '', username = '' }, errors }) =>
      page(request, { tested: { block, username, error: errors.username } }),
    run: async ({ request, server, data: { username, block } }) => {
      const { kind } = await checkClaim(deps, { serverId: server._id, username });
      const answer = notice(
        'good',
        html`${t('<bdi>{username}</bdi>: {kind} Nothing was claimed.', { username, kind: t(ANSWERS[kind]) })}`,
      );
      return { page: page(request, { tested: { block, username, answer } }) };
    },
  });

  // The answer to a form has the form's path. If a user opens this path again: redirect to the page.
  for (const part of ['key', 'relay', 'check']) {
    app.get(`/servers/:serverId/connect/${part}`, OWNER, (request, reply) =>
      reply.redirect(serverPath(base, serverOf(request), '/connect'), 303),
    );
  }
}

function connectBody(
  base: string,
  connected: Connected,
  { message, key, relayKey, tested }: Showing,
  relay: Html,
): Content {
  const { first, others } = blocksOf(connected);
  const { server } = connected;
  const path = serverPath(base, server, '/connect');
  const shown = (block: ConnectBlock) => blockCard(serverPath(base, server), connected, block, tested);
  const isTestedBelow = others.some(({ id }) => id === tested?.block);
  const isPushed = connected.listener !== null && connected.listener.protocol !== 'fetch';
  // If the relay's key was just created: the card of the relay is visible for every game, because it shows the key.
  const isForRelay = usesRelay(connected) || relayKey !== undefined;
  const twoWays = t(
    '<strong>Pushed:</strong> the listing sends each vote to the vote listener of your server, or your server fetches it. <strong>Claimed:</strong> your plugin asks the listing whether a player voted, and claims the vote with a claim key. Choose one of them, or each vote is rewarded twice.',
  );
  const filledIn = t(
    'Your claim key is filled in below. Copy what you need now: it is shown only once. It may only check and claim votes. The tests are on this page when you open it again.',
  );
  return html`${message ?? ''}
    ${card({
      title: t('Two ways to reward players'),
      body: html`<p>${twoWays}</p>
        ${rewardsOf(connected.listener) === 'push' ? notice('attention', t(ANSWERS.off)) : ''}
        ${key ? notice('good', filledIn) : keyButton(path)}`,
    })}
    ${isForRelay && !isPushed ? relay : ''} ${first.map(shown)} ${isForRelay && isPushed ? relay : ''}
    <details ${isTestedBelow ? 'open' : ''}>
      <summary>${t('Other plugins ({others})', { others: String(others.length + (isForRelay ? 0 : 1)) })}</summary>
      <div class="spaced">${others.map(shown)} ${isForRelay ? '' : relay}</div>
    </details>`;
}

function keyButton(path: string): Html {
  return html`<form method="post" action="${path}/key" class="stack">
    ${newIdField()}
    ${lifetimeField()}
    <button type="submit" class="quiet">${t('Create a claim key')}</button>
  </form>
  <p class="small soft">${t('The key is shown once, filled in below. You can revoke it under “API access”.')}</p>`;
}

function blockCard(
  path: string,
  { listener, key }: Connected,
  { id, title, way, about, text }: ConnectBlock,
  tested: Showing['tested'],
): Html {
  return card({
    id,
    title,
    isResult: tested?.block === id && tested.answer !== undefined,
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
  return html`${own?.answer ?? ''}<form method="post" action="${path}/connect/check" class="stack">
    <input type="hidden" name="block" value="${id}" />
    <div class="row">${textField({
      name: 'username',
      id: `player-${id}`,
      label: t('Test it now: what is the plugin answered about this player?'),
      value: own?.username ?? '',
      error: own?.error,
      maxlength: 2 * LONGEST_USERNAME,
      required: true,
      spellcheck: false,
    })}</div>
    <div class="actions"><button type="submit" class="quiet">${t('Ask as the plugin')}</button></div>
  </form>`;
}

/** The card with the relay. `key`: a new delivery token, which is shown once. */
function relayCard(base: string, connected: Connected, key: string | undefined, now: Date): Html {
  const { url, server, listener } = connected;
  const path = serverPath(base, server);
  const lines = `server=${url}/api/v1/servers/${server._id.toHexString()}\nkey=${key ?? 'YOUR-KEY'}`;
  const state =
    listener?.protocol === 'fetch'
      ? fetchedText(listener, now)
      : t('Choose “<a>My server fetches its votes</a>” under “Vote listener”. Until then it gets none.', {
          a: linkTo(`${path}/listener?protocol=fetch#settings`),
        });
  const about = t(
    'The relay is a small program beside your game server. It fetches your votes from here and hands them to the Votifier that is installed there, so no port needs to be open. It needs only the Java of your server.',
  );
  const put = t(
    '<a>Download tallyport-relay.jar</a> and put it into the folder <code>plugins</code> of your server (Bukkit, Spigot, Paper), then start the server once. On another server, put it beside the server and run <code>java -jar tallyport-relay.jar</code>.',
    { a: (text) => html`<a href="${base}${RELAY_JAR_PATH}" download>${text}</a>` },
  );
  const fill = t(
    'Put these two lines into <code>tallyport-relay.properties</code>, which the relay wrote: in <code>plugins/TallyportRelay</code>, or beside the jar.',
  );
  const form = html`<form method="post" action="${path}/connect/relay" class="one-button">
    ${newIdField()}
    <button type="submit">${t('Create a key')}</button>
  </form>`;
  const haveKey = key
    ? t('Your key is filled in below. Copy it now: it is shown only once.')
    : t('Create a key for the relay. It is shown once, filled in below.');
  const ofKey = t(
    'The key may only fetch votes of this server and report what became of them. It does not expire; you can revoke it under “API access”.',
  );
  return card({
    id: 'relay',
    title: t('Without an open port: the relay (Minecraft: Java Edition)'),
    isResult: key !== undefined,
    body: html`<p>${about}</p>
      <p>${state}</p>
      <ol class="spaced">
        <li>${put}</li>
        <li>${haveKey} ${key ? '' : form}</li>
        <li>${fill} ${copyable(lines, t('the two lines'))}</li>
      </ol>
      <p class="small soft">${ofKey}</p>`,
  });
}
