import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { setListener } from '../../delivery/change-listener.ts';
import { CredentialError } from '../../delivery/credentials.ts';
import { GAME_PORT, type GameAddress, isGamePort } from '../../delivery/diagnosis/explain.ts';
import { setFetchListener } from '../../delivery/fetch/fetch-listener.ts';
import { rotateSecret, setHttpListener } from '../../delivery/http/http-listeners.ts';
import type { ListenerSet } from '../../delivery/store-listener.ts';
import { countSentNotConfirmed } from '../../delivery/unconfirmed-votes.ts';
import { defineMessage, t } from '../../language/t.ts';
import { type Listener, PROTOCOLS, type Protocol } from '../../listeners/listener.ts';
import { settingsProof } from '../../listeners/listener-state.ts';
import { EarlierProcessesError } from '../../platform/earlier-processes.ts';
import { UnsealError } from '../../platform/secrets.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { OWNER } from '../route-options.ts';
import { fieldText, type Typed } from '../shared/form.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { notice } from '../shared/parts.ts';
import { checkTaker } from '../shared/used-up.ts';
import { secretShownOnce } from './listener-settings-card.ts';
import type { RunTest } from './listener-test-page.ts';
import { mustChooseRewards, notChosen, rewardsChoice } from './rewards-card.ts';

export const protocolField = z.enum(PROTOCOLS).optional().catch(undefined);

/** The fields of all protocols. `setListener`, `setHttpListener` and `setFetchListener` each validate their own. */
const settingsForm = z.object({
  protocol: protocolField,
  url: fieldText,
  host: fieldText,
  port: fieldText,
  secret: fieldText,
  serviceName: fieldText,
  maxSendings: z.string().transform(Number).optional(),
  keepUnconfirmed: z.string().optional(),
  rewards: rewardsChoice,
});

/** The protocol of a new listener's form, and of a form that sends none. */
export const DEFAULT_PROTOCOL = 'votifier-v2';

type Showing = { protocol?: Protocol | undefined; typed?: Typed; message?: Html };
export type ListenerPage = (request: FastifyRequest, showing?: Showing) => Promise<Page>;

/** Messages above the result of a test vote. */
const SAVED = {
  set: defineMessage('Vote listener saved. The test vote below shows whether votes arrive.'),
  'set-and-resent': defineMessage(
    'Vote listener saved. Waiting votes are being sent, including unconfirmed votes that failed with the earlier token or key.',
  ),
  'set-sent': defineMessage(
    'Vote listener saved. Waiting votes are being sent. If votes marked “sent, not confirmed” did not reach your game, send them again with the link on the listener’s page.',
  ),
};

export function settingsRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  page: ListenerPage,
  runTest: RunTest,
): void {
  formRoute(app, {
    path: '/servers/:serverId/listener',
    access: OWNER,
    schema: settingsForm,
    check: checkTaker(deps),
    show: (request, typed) =>
      page(request, { protocol: protocolField.parse(typed.values.protocol) ?? DEFAULT_PROTOCOL, typed }),
    refusalOf,
    run: async ({ request, server, by, path, data }) => {
      const { _id: serverId } = server;
      if (!data.rewards && (await mustChooseRewards(deps, serverId))) return notChosen();
      const { listener, secret } = await store(deps, serverId, data, by);
      // If a secret was created: send no test vote, because the owner must first set the secret on the server.
      if (secret) return { page: page(request, { message: secretShownOnce(secret) }) };
      // If the server fetches its votes: run no test, because it would fail before the owner has installed the relay.
      if (listener.protocol === 'fetch') return `${path('/connect')}?done=fetching#relay`;
      const saved = notice('good', t(SAVED[await doneOf(deps, listener)]));
      return runTest(request, html`${saved}${gamePortWarning(listener, server)}`);
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/listener/rotate',
    access: OWNER,
    schema: z.object({ revision: z.string().transform(Number) }),
    show: (request) => page(request),
    run: async ({ request, server, by, data }) => {
      const rotated = await rotateSecret(deps, server._id, by, data.revision);
      if (!rotated)
        return refused(
          409,
          t(
            'The listener has changed since you opened this page, so no secret was created. If you sent the form twice, the first request created it.',
          ),
        );
      const { secret, previousValidUntil } = rotated;
      return { page: page(request, { message: secretShownOnce(secret, previousValidUntil) }) };
    },
  });
}

/** Returns also the secret of a new HTTP listener, which is shown once. */
async function store(
  deps: AppDeps,
  serverId: ObjectId,
  { protocol = DEFAULT_PROTOCOL, url, host, maxSendings, ...data }: z.output<typeof settingsForm>,
  by: string,
): Promise<{ listener: ListenerSet; secret?: string | null }> {
  const unanswered = {
    ...(maxSendings === undefined ? {} : { maxSendings }),
    resendUsedUp: data.keepUnconfirmed !== 'yes',
    // If the form has no choice of rewards: the listener rewards players. An existing listener keeps its choice.
    rewards: data.rewards ?? 'push',
  };
  if (protocol === 'fetch') {
    const settings = { serviceName: data.serviceName, ...unanswered };
    return { listener: await setFetchListener(deps, serverId, settings, by) };
  }
  if (protocol === 'http') {
    const before = await deps.listeners.findOne({ serverId }, { projection: { serviceName: 1 } });
    const serviceName = before?.serviceName ?? deps.config.SERVICE_NAME;
    return setHttpListener(deps, serverId, { url, serviceName, ...unanswered }, by);
  }
  const secret = data.secret.trim() === '' ? null : data.secret;
  const port = data.port.trim() === '' ? Number.NaN : Number(data.port);
  const settings = { protocol, host, port, secret, serviceName: data.serviceName, ...unanswered };
  return { listener: await setListener(deps, serverId, settings, by) };
}

async function doneOf(deps: AppDeps, set: ListenerSet): Promise<keyof typeof SAVED> {
  if (set.resent > 0) return 'set-and-resent';
  if (!set.isCredentialsChange) return 'set';
  return (await countSentNotConfirmed(deps, set.serverId, 1)) > 0 ? 'set-sent' : 'set';
}

/** Unlike the error's message, these sentences do not name the machines on which the processes run. */
const EARLIER_PROCESSES = {
  'earlier-processes': defineMessage(
    'Nothing was saved: a part of this listing still runs an earlier version, which does not know servers that fetch their votes. Try again when its operator has finished the upgrade.',
  ),
  'processes-unknown': defineMessage(
    'Nothing was saved: this listing cannot tell whether a part of it still runs an earlier version, which does not know servers that fetch their votes. Ask its operator: their log and “tallyport listener set” name what is missing.',
  ),
};

function refusalOf(error: unknown, values: Record<string, string>): RefusedForm | undefined {
  if (error instanceof EarlierProcessesError) return refused(409, t(EARLIER_PROCESSES[error.code]));
  if (error instanceof CredentialError) return { errors: { secret: error.message } };
  if (!(error instanceof UnsealError)) return undefined;
  return 'secret' in values
    ? { errors: { secret: t('The stored value cannot be read. Enter it again.') } }
    : refused(400, t('The stored secret cannot be read. Remove the listener and set it up again.'));
}

/** A warning if the listener's port is the port of the game, and no vote or test vote shows that the settings work. */
export function gamePortWarning(
  listener: Pick<
    Listener,
    'protocol' | 'host' | 'port' | 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt' | 'tested'
  >,
  game: GameAddress,
): Content {
  if (!isGamePort(listener, game) || settingsProof(listener) === 'works') return '';
  return notice('attention', html`<p>${t(GAME_PORT.cause)}</p><p>${t(GAME_PORT.advice)}</p>`);
}
