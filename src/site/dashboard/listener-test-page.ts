import { EventEmitter, on } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { diagnoseForOwner, type OwnerDiagnosis } from '../../delivery/diagnosis/diagnose-for-owner.ts';
import type { DiagnosisStep, OnStep } from '../../delivery/diagnosis/diagnosis-steps.ts';
import type { ListenerView } from '../../delivery/listeners.ts';
import { createSend } from '../../delivery/send-vote.ts';
import { TEST_USERNAME } from '../../delivery/test-listener.ts';
import { t } from '../../language/t.ts';
import { CHECKS_A_MINUTE } from '../../platform/limits/check-allowance.ts';
import { UnsealError } from '../../platform/secrets.ts';
import { roleOf } from '../../servers/ownership.ts';
import { isByOperator, serverOf, userOf } from '../access.ts';
import { OWNER } from '../page-route.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { relative } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage, streamPage } from '../shared/layout.ts';
import { LISTENER_STATES } from '../shared/listener-state.ts';
import { button, card, notice } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { beginning, diagnosisResult } from './diagnosis-texts.ts';
import { serverFrame } from './server-frame.ts';

/** Explains the test vote, with a button to send one. */
export function testCard(path: string, { state }: Pick<ListenerView, 'state'>): Html {
  return card({
    title: t('Test vote'),
    body: html`<p>${t('Sends a marked vote of the player «{player}» and shows each step. It is not counted.', { player: TEST_USERNAME })}${state === 'active' ? '' : ` ${t('It is sent even though the listener is {state}.', { state: t(LISTENER_STATES[state]) })}`}</p>
      <div>${button({ to: `${path}/test`, text: t('Send test vote'), kind: 'primary' })}</div>`,
  });
}

/**
 * Answers with a page on which a test vote is shown step by step. `saved`: a message above it, after the settings were
 * saved; the check is then counted already.
 */
export type StreamTest = (
  request: FastifyRequest,
  reply: FastifyReply,
  saved?: Html,
) => Promise<FastifyReply>;

/**
 * `POST /dashboard/servers/<id>/listener/test`: diagnoses a listener. The answer is a page that is streamed while the
 * test runs, so it needs no script, and no other process needs its state.
 *
 * @returns the same, for the form that saves the settings
 */
export function listenerTestPage(app: FastifyInstance, { deps }: DashboardParts): StreamTest {
  const { base } = app.site;
  const diagnosisDeps = { ...deps, send: createSend(deps.config) };
  const runningTests = new Set<RunningTest>();
  // A listener may take half a minute, which is longer than a shutdown.
  app.addHook('preClose', async () => {
    for (const test of runningTests) test.stop();
  });

  // A user may reload the result's address.
  app.get('/servers/:serverId/listener/test', OWNER, (request, reply) =>
    reply.redirect(serverPath(base, serverOf(request), '/listener'), 303),
  );

  const streamTest: StreamTest = async (request, reply, saved) => {
    const { _id: serverId } = serverOf(request);
    const user = userOf(request);
    const test = begin((onStep) =>
      diagnoseForOwner(diagnosisDeps, {
        ownerId: user._id.toHexString(),
        serverId,
        proven: roleOf(serverOf(request), user._id) !== null || isByOperator(deps, request),
        onStep,
        isCounted: saved !== undefined,
      }).catch((error: unknown) => unreadable(error, request)),
    );
    runningTests.add(test);
    void test.result.finally(() => runningTests.delete(test));
    const first = await Promise.race([test.begun, test.result]);
    if (first !== 'begun') return refuse(request, reply, refusalOf(first, deps.clock.now()), saved);

    const { protocol = 'votifier-v2' } =
      (await deps.listeners.findOne({ serverId }, { projection: { protocol: 1 } })) ?? {};
    async function* pieces(): AsyncGenerator<Html> {
      yield html`<p class="soft under-way">${t('Test in progress. It takes up to a minute if the listener does not answer.')}</p>
        <ol class="steps under-way" aria-live="polite">`;
      for await (const [step] of test.steps) yield beginning(step, protocol);
      yield html`</ol>`;
      yield resultOf(await test.result);
    }
    const resultOf = (ending: Ending): Html => {
      if (typeof ending !== 'string' && ending.kind === 'diagnosed')
        return diagnosisResult(ending.diagnosis, protocol);
      return html`<div class="verdict">${notice('attention', refusalOf(ending, deps.clock.now()).sentence)}</div>`;
    };
    const body = (content: Content) =>
      page(request, html`${saved ?? ''}${card({ title: t('Test vote'), body: content })}`);
    return streamPage(request, reply, { title: title(request), body }, pieces());
  };

  app.post('/servers/:serverId/listener/test', OWNER, (request, reply) => streamTest(request, reply));

  const title = (request: FastifyRequest) => t('Test vote · {name}', { name: serverOf(request).name });

  const page = (request: FastifyRequest, content: Content) => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/listener');
    const body = html`${content}
      <div class="actions">
        ${button({ to: `${path}/test`, text: t('Send another test vote') })}
        <a class="button quiet" href="${path}#settings">${t('Open settings')}</a>
        <a class="button quiet" href="${path}">${t('Back to vote listener')}</a>
      </div>`;
    return serverFrame({ site: app.site, server, now: deps.clock.now(), part: '/listener', body });
  };

  const refuse = (
    request: FastifyRequest,
    reply: FastifyReply,
    { status, sentence, retryAt }: Refusal,
    saved?: Html,
  ) => {
    if (retryAt) {
      const seconds = Math.ceil((retryAt.getTime() - deps.clock.now().getTime()) / 1_000);
      reply.header('retry-after', String(Math.max(1, seconds)));
    }
    const body = page(request, html`${saved ?? ''}${notice('attention', sentence)}`);
    // The settings are saved, whatever the test says.
    return sendPage(request, reply, { title: title(request), body }, saved ? 200 : status);
  };
  return streamTest;
}

/** A running test. */
type RunningTest = {
  /** Resolves with its first step; never if the test is refused. */
  begun: Promise<'begun'>;
  /** Its steps as they begin, until the test ends. */
  steps: AsyncIterable<[DiagnosisStep]>;
  /** Never rejects. */
  result: Promise<Ending>;
  /** Ends the test for the waiting page without waiting for the listener. */
  stop(): void;
};

function begin(diagnose: (onStep: OnStep) => Promise<Ending>): RunningTest {
  const events = new EventEmitter<{ step: [DiagnosisStep]; end: [] }>();
  const { promise: result, resolve } = Promise.withResolvers<Ending>();
  const finish = (ending: Ending) => {
    resolve(ending);
    events.emit('end');
  };
  const steps = on(events, 'step', { close: ['end'] }) as AsyncIterable<[DiagnosisStep]>;
  const begun = new Promise<'begun'>((resolve) => events.once('step', () => resolve('begun')));
  void diagnose((step) => events.emit('step', step)).then(finish);
  return { begun, steps, result, stop: () => finish('stopped') };
}

type Ending = OwnerDiagnosis | 'stopped' | 'unreadable' | 'failed';
type Refusal = { status: number; sentence: string; retryAt?: Date };

/** The page may be partly sent by then, so an error becomes a message in it. */
function unreadable(error: unknown, request: FastifyRequest): 'unreadable' | 'failed' {
  request.log.error({ event: 'diagnosis.failed', error: String(error) });
  return error instanceof UnsealError ? 'unreadable' : 'failed';
}

/** Why there is no diagnosis, as a message for users. */
function refusalOf(ending: Ending, now: Date): Refusal {
  if (ending === 'stopped') {
    return {
      status: 503,
      sentence: t('This listing is restarting. Send the test vote again in a minute.'),
    };
  }
  if (ending === 'unreadable') {
    return {
      status: 500,
      sentence: t('The stored token, key or secret cannot be read. Enter it again under «Change».'),
    };
  }
  if (ending === 'failed' || ending.kind === 'diagnosed') {
    return {
      status: 500,
      sentence: t('Something went wrong on our side. We have logged the error. Try again in a minute.'),
    };
  }
  switch (ending.code) {
    case 'ownership-not-proven':
      return { status: 403, sentence: t('Verify that you own the server before you send test votes.') };
    case 'not-found':
    case 'no-listener':
      return { status: 409, sentence: t('This server no longer has a vote listener. Set one up first.') };
    case 'port-refused':
      return {
        status: 409,
        sentence: t(
          'We do not connect to ports of mail servers or remote shells. Enter the port of the vote plugin, usually 8192.',
        ),
      };
    case 'too-many':
      return {
        status: 429,
        sentence: t(
          'You can send {times} test votes a minute. Send the next one {time}. Changing the listener’s settings and resuming it count too.',
          { times: CHECKS_A_MINUTE, time: relative(ending.nextAllowedAt, now) },
        ),
        retryAt: ending.nextAllowedAt,
      };
  }
}
