import { EventEmitter, on } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Diagnosis } from '../../delivery/diagnosis/diagnose-listener.ts';
import type { DiagnosisStep, OnStep } from '../../delivery/diagnosis/diagnosis-steps.ts';
import { type DiagnosisRefusal, requestDiagnosis } from '../../delivery/diagnosis/request-diagnosis.ts';
import type { ListenerView } from '../../delivery/listeners.ts';
import { TEST_USERNAME } from '../../delivery/vote-message.ts';
import { t } from '../../language/t.ts';
import type { Ended } from '../../platform/answers.ts';
import { CHECKS_A_MINUTE } from '../../platform/limits/check-allowance.ts';
import { roleOf } from '../../servers/ownership.ts';
import { type AnswerOf, answerNow } from '../../workflows/answer-now.ts';
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
import { notAnsweredStatus, notAnsweredText } from './not-answered.ts';
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
 * `POST /dashboard/servers/<id>/listener/test`: has a worker diagnose a listener. The answer is a page that is streamed
 * while the test runs, so it needs no script.
 *
 * @returns the same, for the form that saves the settings
 */
export function listenerTestPage(app: FastifyInstance, { deps }: DashboardParts): StreamTest {
  const { base } = app.site;
  // A user may reload the result's address.
  app.get('/servers/:serverId/listener/test', OWNER, (request, reply) =>
    reply.redirect(serverPath(base, serverOf(request), '/listener'), 303),
  );

  const streamTest: StreamTest = async (request, reply, saved) => {
    const { _id: serverId } = serverOf(request);
    const user = userOf(request);
    const refused = await requestDiagnosis(deps, {
      ownerId: user._id.toHexString(),
      serverId,
      proven: roleOf(serverOf(request), user._id) !== null || isByOperator(deps, request),
      isCounted: saved !== undefined,
    });
    if (refused) return refuse(request, reply, refusalText(refused, deps.clock.now()), saved);
    const ids = { serverId: serverId.toHexString() };
    const test = begin((onStep) => answerNow(deps, 'test-listener', ids, onStep));
    const first = await Promise.race([test.begun, test.result]);
    if (first !== 'begun' && !diagnosisIn(first))
      return refuse(request, reply, missingResult(first, deps.clock.now()), saved);

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
      const diagnosis = diagnosisIn(ending);
      if (diagnosis) return diagnosisResult(diagnosis, protocol);
      return html`<div class="verdict">${notice('attention', missingResult(ending, deps.clock.now()).sentence)}</div>`;
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
};

function begin(diagnose: (onStep: OnStep) => Promise<Ending>): RunningTest {
  const events = new EventEmitter<{ step: [DiagnosisStep]; end: [] }>();
  const steps = on(events, 'step', { close: ['end'] }) as AsyncIterable<[DiagnosisStep]>;
  const begun = new Promise<'begun'>((resolve) => events.once('step', () => resolve('begun')));
  const result = diagnose((step) => events.emit('step', step));
  void result.then(() => events.emit('end'));
  return { begun, steps, result };
}

type Ending = Ended<AnswerOf['test-listener']>;
type Refusal = { status: number; sentence: string; retryAt?: Date };

function diagnosisIn(ending: Ending): Diagnosis | null {
  return ending.kind === 'answered' && ending.result.kind === 'diagnosed' ? ending.result.diagnosis : null;
}

/** Why a test has no diagnosis, as a message for users. */
function missingResult(ending: Ending, now: Date): Refusal {
  if (ending.kind !== 'answered')
    return { status: notAnsweredStatus(ending), sentence: notAnsweredText(ending) };
  const { result } = ending;
  // The listener has changed since the request.
  if (result.kind === 'refused') return refusalText(result, now);
  return {
    status: 500,
    sentence: t('The stored token, key or secret cannot be read. Enter it again under «Change».'),
  };
}

/** Why no diagnosis is made, as a message for users. */
function refusalText(refusal: DiagnosisRefusal, now: Date): Refusal {
  switch (refusal.code) {
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
          { times: CHECKS_A_MINUTE, time: relative(refusal.nextAllowedAt, now) },
        ),
        retryAt: refusal.nextAllowedAt,
      };
  }
}
