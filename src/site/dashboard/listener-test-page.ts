import { EventEmitter, on } from 'node:events';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ListenerView } from '../../delivery/change-listener.ts';
import { type Diagnosis, lastTest, type OnStep } from '../../delivery/diagnosis/diagnosis.ts';
import { type DiagnosisRefusal, requestDiagnosis } from '../../delivery/diagnosis/request-diagnosis.ts';
import { TEST_USERNAME } from '../../delivery/vote-message.ts';
import { t } from '../../language/t.ts';
import type { DiagnosisStep } from '../../listeners/outcomes/outcome-definition.ts';
import { CHECKS } from '../../platform/limits/check-allowance.ts';
import type { QuestionResult } from '../../platform/worker-answers.ts';
import { roleOf } from '../../servers/ownership.ts';
import { type AnswerOf, answerNow } from '../../workflows/answer-now.ts';
import { isByOperator, serverOf, userOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { type FormAnswer, formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, streamPage } from '../shared/layout.ts';
import { LISTENER_STATE_NAMES } from '../shared/listener-state-parts.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, card, notice } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { beginning, diagnosisResult, type Tested } from './diagnosis-texts.ts';
import { serverFrame } from './server-frame.ts';

/**
 * Answers a form with a page that shows the steps of a test vote as they happen. `saved`: a message above the test, if
 * settings were just saved; the test is then not counted, because saving was already one of the user's `CHECKS`.
 */
export type RunTest = (request: FastifyRequest, saved?: Html) => Promise<FormAnswer>;

/** `POST …/listener/test`: lets a worker send a test vote. The page is streamed meanwhile, so it needs no script. */
export function listenerTestPage(app: FastifyInstance, { deps }: DashboardParts): RunTest {
  const { site } = app;
  // The result is shown at the path of the form. If a user opens this path again: redirect to the listener's page.
  app.get('/servers/:serverId/listener/test', OWNER, (request, reply) =>
    reply.redirect(serverPath(site.base, serverOf(request), '/listener'), 303),
  );

  const page = (request: FastifyRequest, content: Content): Page => {
    const server = serverOf(request);
    const path = serverPath(site.base, server, '/listener');
    const body = html`${content}
    <div class="actions">
      ${button({ to: `${path}/test`, text: t('Send another test vote') })}
      <a class="button quiet" href="${path}#settings">${t('Open settings')}</a>
      <a class="button quiet" href="${path}">${t('Back to vote listener')}</a>
    </div>`;
    return {
      title: t('Test vote · {name}', { name: server.name }),
      // The page is streamed, so all its parts must be there at once.
      ...serverFrame({ site, deps, server, now: deps.clock.now(), part: '/listener', counts: {}, body }),
    };
  };

  const runTest: RunTest = async (request, saved) => {
    const server = serverOf(request);
    const { _id: serverId } = server;
    const { _id: userId } = userOf(request);
    const refuse = (why: RefusedForm): FormAnswer =>
      saved ? { page: page(request, [saved, notice('attention', why.errors.form)]) } : why;
    const refusal = await requestDiagnosis(deps, {
      ownerId: userId.toHexString(),
      serverId,
      proven: roleOf(server, userId) !== null || isByOperator(deps, request),
      alreadyCounted: saved !== undefined,
    });
    if (refusal) return refuse(refusedFor(refusal));
    const ids = { serverId: serverId.toHexString() };
    const test = begin((onStep) => answerNow(deps, 'test-listener', ids, onStep));
    // Wait for the first step: once the page is streamed with status 200, a refusal could not get its own status code.
    const first = await Promise.race([test.begun, test.result]);
    if (first !== 'begun' && !diagnosisIn(first)) return refuse(missingResult(first));
    const listener = await deps.listeners.findOne(
      { serverId },
      { projection: { protocol: 1, url: 1, serviceName: 1 } },
    );
    const pieces = piecesOf(test, listener ?? { protocol: 'votifier-v2' });
    const body = (content: Content) =>
      page(request, [saved, card({ title: t('Test vote'), body: content })]).body;
    return { send: (reply) => streamPage(request, reply, { ...page(request, ''), body }, pieces) };
  };

  formRoute(app, {
    path: '/servers/:serverId/listener/test',
    access: OWNER,
    show: (request) => page(request, ''),
    run: ({ request }) => runTest(request),
  });
  return runTest;
}

async function* piecesOf(test: RunningTest, tested: Tested): AsyncGenerator<Html> {
  const underWay = t('Test in progress. It takes up to a minute if the listener does not answer.');
  // The end tag of the list follows after the last step. Browsers show the list before it is closed.
  yield html`<p class="soft under-way">${underWay}</p>
    <ol class="steps under-way" aria-live="polite">`;
  for await (const [step] of test.steps) yield beginning(step, tested);
  yield html`</ol>`;
  const ending = await test.result;
  const diagnosis = diagnosisIn(ending);
  yield diagnosis
    ? diagnosisResult(diagnosis, tested)
    : html`<div class="verdict">${notice('attention', missingResult(ending).errors.form)}</div>`;
}

type RunningTest = {
  /** Resolves when the first step begins. If the test is refused, it never resolves. */
  begun: Promise<'begun'>;
  steps: AsyncIterable<[DiagnosisStep]>;
  /** How the test ended. Never rejects. */
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

type Ending = QuestionResult<AnswerOf['test-listener']>;

function diagnosisIn(ending: Ending): Diagnosis | null {
  return ending.kind === 'answered' && ending.result.kind === 'diagnosed' ? ending.result.diagnosis : null;
}

function missingResult(ending: Ending): RefusedForm {
  if (ending.kind !== 'answered') return refused(notAnsweredStatus(ending), notAnsweredText(ending));
  const { result } = ending;
  // The worker checks the request again. It refuses the test if, for example, the listener was removed meanwhile.
  if (result.kind === 'refused') return refusedFor(result);
  return refused(500, t('The stored token, key or secret cannot be read. Enter it again under “Change”.'));
}

function refusedFor(refusal: DiagnosisRefusal): RefusedForm {
  switch (refusal.code) {
    case 'ownership-not-proven':
      return refused(403, t('Verify that you own the server before you send test votes.'));
    case 'not-found':
    case 'no-listener':
      return refused(409, t('This server no longer has a vote listener. Set one up first.'));
    case 'port-refused':
      return refused(
        409,
        t(
          'We do not connect to ports of mail servers or remote shells. Enter the port of the vote plugin, usually 8192.',
        ),
      );
    case 'too-many': {
      const sentence = t(
        'You can send {times} test votes a minute. Changing the listener’s settings and resuming it count too.',
        { times: CHECKS.times },
      );
      return refused(429, sentence, refusal.nextAllowedAt);
    }
  }
}

/** The card that explains the test vote, with the result of the last one if the settings are unchanged since then. */
export function testCard(path: string, listener: ListenerView, now: Date): Html {
  const { state, protocol } = listener;
  const isFetching = protocol === 'fetch';
  const about = isFetching
    ? t(
        'Waits for the next call of the program that fetches your votes, and shows which program it is. No vote is handed out for the test.',
      )
    : t('Sends a marked vote of the player “{player}” and shows each step. It is not counted.', {
        player: TEST_USERNAME,
      });
  const sentAnyway =
    isFetching || state === 'active'
      ? ''
      : ` ${t('It is sent even though the listener is {state}.', { state: t(LISTENER_STATE_NAMES[state]) })}`;
  const text = isFetching ? t('Wait for the next call') : t('Send test vote');
  const last = lastTest(listener);
  const lastResult =
    last &&
    html`<h3>${t('Last test, {time}', { time: timeAgo(last.at, now) })}</h3>
    ${diagnosisResult(last.diagnosis, listener)}`;
  return card({
    id: 'test',
    title: isFetching ? t('Test') : t('Test vote'),
    body: html`<p>${about}${sentAnyway}</p>
      <div>${button({ to: `${path}/test`, text, kind: 'primary' })}</div>
      ${lastResult}`,
  });
}
