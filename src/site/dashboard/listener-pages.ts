import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { CredentialError } from '../../delivery/credentials.ts';
import { rotateSecret, setHttpListener } from '../../delivery/http/http-listeners.ts';
import {
  type ListenerSet,
  pauseListener,
  removeListener,
  resumeListener,
  setListener,
} from '../../delivery/listeners.ts';
import { countSentNotConfirmed, countUnconfirmed } from '../../delivery/unconfirmed-votes.ts';
import { defineMessage, t } from '../../language/t.ts';
import { PROTOCOLS, type Protocol } from '../../listeners/listener.ts';
import { hostWarning } from '../../platform/address-guard.ts';
import { UnsealError } from '../../platform/secrets.ts';
import { hasClaimKeys } from '../../servers/api-tokens.ts';
import { serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OWNER } from '../page-route.ts';
import { checkTaker } from '../shared/check-allowance.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { errorsOf, type Typed, typedValues, UNTOUCHED, withError } from '../shared/form.ts';
import { timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { listenerAnnouncement, listenerBadge, listenerState } from '../shared/listener-state.ts';
import { listenerStatusReader } from '../shared/listener-status.ts';
import { livePart } from '../shared/live.ts';
import { card, notice } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { listenerForm } from './listener-form.ts';
import { secretShownOnce, settingsCard } from './listener-settings.ts';
import { type StreamTest, testCard } from './listener-test-page.ts';
import { rewardsForm, rewardsRoute } from './rewards.ts';
import { serverFrame } from './server-frame.ts';

/** After settings were stored; the result of a test vote follows. */
const SAVED = {
  set: defineMessage('Vote listener saved. The test vote below shows whether votes arrive.'),
  'set-and-resent': defineMessage(
    'Vote listener saved. Waiting votes are being sent, including unconfirmed votes that failed with the earlier token or key.',
  ),
  'set-sent': defineMessage(
    'Vote listener saved. Waiting votes are being sent. If votes marked «sent, not confirmed» did not reach your game, send them again with the link on the listener’s page.',
  ),
};

const MESSAGES = {
  paused: defineMessage('Listener paused. Votes are counted and wait until you resume it.'),
  resumed: defineMessage('Listener resumed. Waiting votes are being sent.'),
  rewards: defineMessage('Rewards saved.'),
  removed: defineMessage('Listener removed. Votes are counted, but no longer forwarded.'),
};

/** The protocol whose fields the form shows. */
const chosen = z.object({ protocol: z.enum(PROTOCOLS).optional().catch(undefined) });

type Showing = { protocol?: Protocol; typed?: Typed; message?: Html; status?: number };

/** `/dashboard/servers/<id>/listener`: the vote listener's settings and state. */
export function listenerPages(app: FastifyInstance, parts: DashboardParts, streamTest: StreamTest): void {
  const { deps } = parts;
  const { base } = app.site;
  rewardsRoute(app, parts);
  const statusOf = listenerStatusReader(deps);

  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { protocol, typed = UNTOUCHED, message, status = 200 }: Showing = {},
  ) => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/listener');
    const { listener, queuePaused } = await statusOf(server._id);
    const now = deps.clock.now();
    const form = listenerForm({
      path,
      protocol: protocol ?? listener?.protocol ?? 'votifier-v2',
      listener,
      typed,
      unconfirmed: listener
        ? listener.unconfirmed
        : await countUnconfirmed(deps, server._id, COUNTED_AT_MOST),
      serviceName: deps.config.SERVICE_NAME,
    });
    const state = listener && {
      id: 'listener-state',
      href: path,
      announcement: listenerAnnouncement(listener),
      open: listener.waiting > 0,
      body: card({
        title: t('Status'),
        actions: listenerBadge(listener),
        body: listenerState({ listener, queuePaused }, path, now),
      }),
    };
    const settings = listener && !protocol ? settingsCard(path, listener, now) : form;
    const hasKeys = await hasClaimKeys(deps, server._id);
    const warning = listener && hostWarning(listener.host, deps.config);
    const body: Content = [
      message,
      warning ? notice('attention', warning) : '',
      state
        ? livePart(state)
        : html`<p>${t('Votes are already counted. Set up a vote listener to forward them to your game.')}</p>`,
      listener ? testCard(path, listener) : '',
      listener
        ? card({
            id: 'rewards',
            title: t('Rewards'),
            body: rewardsForm(path, listener.rewards ?? undefined, hasKeys),
          })
        : '',
      card({
        id: 'settings',
        title: listener ? t('Settings') : t('Set up the vote listener'),
        body: settings,
      }),
    ];
    const page = {
      title: t('Vote listener · {server}', { server: server.name }),
      live: listener !== null,
      messages: MESSAGES,
      body: serverFrame({ site: app.site, server, now, part: '/listener', body }),
    };
    return sendPage(request, reply, page, status);
  };

  const useCheck = checkTaker(deps);

  const back = (request: FastifyRequest, reply: FastifyReply, done: keyof typeof MESSAGES) =>
    reply.redirect(`${serverPath(base, serverOf(request), '/listener')}?done=${done}`, 303);

  app.get('/servers/:serverId/listener', OWNER, (request, reply) => {
    const { protocol } = chosen.parse(request.query);
    return show(request, reply, protocol ? { protocol } : {});
  });

  app.post('/servers/:serverId/listener', OWNER, async (request, reply) => {
    const values = typedValues(request);
    const { protocol = 'votifier-v2' } = chosen.parse(values);
    const refused = await useCheck(request, reply);
    if (refused) {
      const typed = withError({ values, errors: {} }, refused);
      return show(request, reply, { protocol, typed, status: 429 });
    }
    const stored = await store(request, protocol, values);
    if ('typed' in stored) return show(request, reply, { protocol, typed: stored.typed, status: 400 });
    if (stored.secret === null)
      return streamTest(request, reply, notice('good', t(SAVED[await doneOf(stored)])));
    // Nothing can answer the challenge of a test before the secret is there.
    return show(request, reply, { message: secretShownOnce(stored.secret, null) });
  });

  /** Stores the entered settings. Returns the secret of a new HTTP listener, to show it once. */
  const store = async (
    request: FastifyRequest,
    protocol: Protocol,
    values: Record<string, string>,
  ): Promise<(ListenerSet & { secret: string | null }) | { typed: Typed }> => {
    const { _id: serverId } = serverOf(request);
    const by = userOf(request).email;
    const { url = '', host = '', port = '', secret = '', serviceName = '', maxSendings } = values;
    const unanswered = {
      ...(maxSendings === undefined ? {} : { maxSendings: Number(maxSendings) }),
      resendUsedUp: values.keepUnconfirmed !== 'yes',
    };
    try {
      if (protocol === 'http') {
        const before = await deps.listeners.findOne({ serverId }, { projection: { serviceName: 1 } });
        const sameName = before?.serviceName ?? deps.config.SERVICE_NAME;
        const settings = { url, serviceName: sameName, ...unanswered };
        const set = await setHttpListener(deps, serverId, settings, by);
        return { ...set.listener, secret: set.secret };
      }
      const entered = secret.trim() === '' ? null : secret;
      const number = port.trim() === '' ? Number.NaN : Number(port);
      const settings = { protocol, host, port: number, secret: entered, serviceName, ...unanswered };
      return { ...(await setListener(deps, serverId, settings, by)), secret: null };
    } catch (error) {
      return { typed: settingErrors(error, values) };
    }
  };

  /** The message after settings were stored. */
  const doneOf = async (set: ListenerSet): Promise<keyof typeof SAVED> => {
    if (set.resent > 0) return 'set-and-resent';
    if (!set.isCredentialsChange) return 'set';
    return (await countSentNotConfirmed(deps, set.serverId, 1)) > 0 ? 'set-sent' : 'set';
  };

  app.post('/servers/:serverId/listener/pause', OWNER, async (request, reply) => {
    const { email } = userOf(request);
    if (!(await pauseListener(deps, serverOf(request)._id, email))) throw noListener();
    return back(request, reply, 'paused');
  });

  app.post('/servers/:serverId/listener/resume', OWNER, async (request, reply) => {
    const { email } = userOf(request);
    const refused = await useCheck(request, reply);
    if (refused) return show(request, reply, { message: notice('attention', refused), status: 429 });
    if (!(await resumeListener(deps, serverOf(request)._id, email))) throw noListener();
    return back(request, reply, 'resumed');
  });

  app.post('/servers/:serverId/listener/remove', OWNER, async (request, reply) => {
    const { email } = userOf(request);
    // If the form is sent twice, the second request removes nothing.
    await removeListener(deps, serverOf(request)._id, email);
    return back(request, reply, 'removed');
  });

  app.post('/servers/:serverId/listener/rotate', OWNER, async (request, reply) => {
    const { _id: serverId } = serverOf(request);
    const revision = Number(typedValues(request).revision ?? Number.NaN);
    const rotated = await rotateSecret(deps, serverId, userOf(request).email, revision);
    if (!rotated) {
      const message = notice(
        'attention',
        t(
          'The listener has changed since you opened this page, so no secret was created. If you sent the form twice, the first request created it.',
        ),
      );
      return show(request, reply, { message, status: 409 });
    }
    const { secret, previousValidUntil } = rotated;
    return show(request, reply, { message: secretShownOnce(secret, timeText(previousValidUntil)) });
  });
}

function noListener(): PageError {
  return new PageError(404, t('This server has no vote listener.'));
}

/** The form with the errors of the settings beside their fields. */
function settingErrors(error: unknown, values: Record<string, string>): Typed {
  if (error instanceof CredentialError) return { values, errors: { secret: error.message } };
  if (error instanceof UnsealError) {
    const unreadable = t('The stored value cannot be read. Enter it again.');
    return 'secret' in values
      ? { values, errors: { secret: unreadable } }
      : withError(
          { values, errors: {} },
          t('The stored secret cannot be read. Remove the listener and set it up again.'),
        );
  }
  return errorsOf(error, values);
}
