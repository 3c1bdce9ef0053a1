import { EventEmitter, on } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { diagnoseForOwner, type OwnerDiagnosis } from '../../delivery/diagnosis/diagnose-for-owner.ts';
import type { DiagnosisStep, OnStep } from '../../delivery/diagnosis/diagnosis-steps.ts';
import type { ListenerView } from '../../delivery/listeners.ts';
import { createSend } from '../../delivery/send-vote.ts';
import { TEST_USERNAME } from '../../delivery/test-listener.ts';
import { CHECKS_A_MINUTE } from '../../platform/limits/check-allowance.ts';
import { UnsealError } from '../../platform/secrets.ts';
import { isProvenOwner } from '../../servers/ownership.ts';
import { isByOperator, serverOf, userOf } from '../access.ts';
import type { Content, Html } from '../html.ts';
import { sendPage, streamPage } from '../layout.ts';
import { OWNER } from '../page-route.ts';
import { button, card, notice } from '../parts.ts';
import { relative } from '../words.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { beginning, verdict } from './diagnosis-words.ts';
import { serverFrame, serverPath } from './server-frame.ts';

/** What a test vote is, and the button that sends one. */
export function testCard(path: string, { state }: Pick<ListenerView, 'state'>): Html {
  return card({
    title: 'Test it',
    body: html`<p>A marked vote of the player «${TEST_USERNAME}» is sent, and you see each step on its way. It counts nowhere and changes
        nothing${state === 'active' ? '' : `, and is sent though the listener is ${state}`}.</p>
      <div>${button({ to: `${path}/test`, text: 'Send test vote', kind: 'primary' })}</div>`,
  });
}

/**
 * `POST /dashboard/servers/<id>/listener/test`: finds out what is wrong with a listener. The answer is a page that
 * is written while the test runs, so it needs no script, and no other process need know of it.
 */
export function listenerTestPage(app: FastifyInstance, { platform }: DashboardSources): void {
  const { base } = app.site;
  const deps = { ...platform, send: createSend(platform.config) };
  const underWay = new Set<UnderWay>();
  // A listener may take half a minute; a process that stops has less.
  app.addHook('preClose', async () => {
    for (const test of underWay) test.stop();
  });

  // Whoever opens the result's address anew.
  app.get('/servers/:serverId/listener/test', OWNER, (request, reply) =>
    reply.redirect(serverPath(base, serverOf(request), '/listener'), 303),
  );

  app.post('/servers/:serverId/listener/test', OWNER, async (request, reply) => {
    const { _id: serverId } = serverOf(request);
    const user = userOf(request);
    const test = begin((onStep) =>
      diagnoseForOwner(deps, {
        ownerId: user._id.toHexString(),
        serverId,
        proven: isProvenOwner(serverOf(request), user._id) || isByOperator(platform, request),
        onStep,
      }).catch((error: unknown) => unreadable(error, request)),
    );
    underWay.add(test);
    void test.end.finally(() => underWay.delete(test));
    const first = await Promise.race([test.begun, test.end]);
    if (first !== 'begun') return refuse(request, reply, refusalOf(first, platform.clock.now()));

    const { protocol = 'votifier-v2' } =
      (await platform.listeners.findOne({ serverId }, { projection: { protocol: 1 } })) ?? {};
    async function* pieces(): AsyncGenerator<Html> {
      yield html`<p class="soft under-way">The test runs. It takes up to a minute where nobody answers.</p>
        <ol class="steps under-way" aria-live="polite">`;
      for await (const [step] of test.steps) yield beginning(step, protocol);
      yield html`</ol>`;
      yield endOf(await test.end);
    }
    const endOf = (end: Ending): Html => {
      if (typeof end !== 'string' && end.kind === 'diagnosed') return verdict(end.diagnosis, protocol);
      return html`<div class="verdict">${notice('attention', refusalOf(end, platform.clock.now()).sentence)}</div>`;
    };
    const body = (content: Content) => page(request, card({ title: 'Test vote', body: content }));
    return streamPage(request, reply, { title: title(request), body }, pieces());
  });

  const title = (request: FastifyRequest) => `Test vote · ${serverOf(request).name}`;

  const page = (request: FastifyRequest, content: Content) => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/listener');
    const body = html`${content}
      <div class="actions">
        ${button({ to: `${path}/test`, text: 'Send another test vote' })}
        <a class="button quiet" href="${path}#settings">See the settings</a>
        <a class="button quiet" href="${path}">Back to the vote listener</a>
      </div>`;
    return serverFrame({ base, server, now: platform.clock.now(), part: '/listener', body });
  };

  const refuse = (request: FastifyRequest, reply: FastifyReply, { status, sentence, retryAt }: Refusal) => {
    if (retryAt) {
      const seconds = Math.ceil((retryAt.getTime() - platform.clock.now().getTime()) / 1_000);
      reply.header('retry-after', String(Math.max(1, seconds)));
    }
    const body = page(request, notice('attention', sentence));
    return sendPage(request, reply, { title: title(request), body }, status);
  };
}

/** A test on its way. */
type UnderWay = {
  /** Resolves with its first step; never where it is refused. */
  begun: Promise<'begun'>;
  /** Its steps as they begin, until it ends. */
  steps: AsyncIterable<[DiagnosisStep]>;
  /** Never rejects. */
  end: Promise<Ending>;
  /** Ends it for those who wait, whatever the listener does. */
  stop(): void;
};

function begin(diagnose: (onStep: OnStep) => Promise<Ending>): UnderWay {
  const told = new EventEmitter<{ step: [DiagnosisStep]; end: [] }>();
  const { promise: end, resolve } = Promise.withResolvers<Ending>();
  const finish = (ending: Ending) => {
    resolve(ending);
    told.emit('end');
  };
  const steps = on(told, 'step', { close: ['end'] }) as AsyncIterable<[DiagnosisStep]>;
  const begun = new Promise<'begun'>((resolve) => told.once('step', () => resolve('begun')));
  void diagnose((step) => told.emit('step', step)).then(finish);
  return { begun, steps, end, stop: () => finish('stopped') };
}

type Ending = OwnerDiagnosis | 'stopped' | 'unreadable' | 'failed';
type Refusal = { status: number; sentence: string; retryAt?: Date };

/** A page may be half written by then, so a fault becomes a sentence in it. */
function unreadable(error: unknown, request: FastifyRequest): 'unreadable' | 'failed' {
  request.log.error({ event: 'diagnosis.failed', error: String(error) });
  return error instanceof UnsealError ? 'unreadable' : 'failed';
}

/** Why there is no diagnosis, for users. */
function refusalOf(end: Ending, now: Date): Refusal {
  if (end === 'stopped') {
    return {
      status: 503,
      sentence: 'This listing is being restarted. Send the test vote again in a minute.',
    };
  }
  if (end === 'unreadable') {
    return {
      status: 500,
      sentence:
        'The token, key or secret that is set cannot be read any more. Enter it again under «Change».',
    };
  }
  if (end === 'failed' || end.kind === 'diagnosed') {
    return {
      status: 500,
      sentence: 'Something went wrong on our side. It has been noted; try again in a minute.',
    };
  }
  switch (end.code) {
    case 'ownership-not-proven':
      return { status: 403, sentence: 'Prove that the server is yours first: then you can send test votes.' };
    case 'not-found':
    case 'no-listener':
      return { status: 409, sentence: 'There is no vote listener any more. Set one first.' };
    case 'port-refused':
      return {
        status: 409,
        sentence:
          'The listener is set to a port of mail or of remote shells, which is never a vote listener: nothing is sent there. Set the port of the vote plugin, usually 8192.',
      };
    case 'too-many':
      return {
        status: 429,
        sentence: `You can send ${CHECKS_A_MINUTE} test votes a minute. Send the next one ${relative(end.nextAllowedAt, now)}. Changes of the listener’s settings and resumes count as well.`,
        retryAt: end.nextAllowedAt,
      };
  }
}
