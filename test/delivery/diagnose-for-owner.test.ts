import type { ServerResponse } from 'node:http';
import { ObjectId } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { bindCollections } from '../../src/database/collections.ts';
import { removeListener, setListener } from '../../src/delivery/change-listener.ts';
import {
  diagnoseForOwner,
  diagnoseListener,
  type OwnerDiagnosis,
} from '../../src/delivery/diagnosis/diagnose-listener.ts';
import type { OnStep } from '../../src/delivery/diagnosis/diagnosis.ts';
import {
  type DiagnosisRefusal,
  type OwnerRequest,
  requestDiagnosis,
} from '../../src/delivery/diagnosis/request-diagnosis.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { createVoteSender } from '../../src/delivery/send-vote.ts';
import type { DiagnosisStep } from '../../src/listeners/outcomes/outcome-definition.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { useFastClock } from '../support/fast-clock.ts';

const deliveryBench = deliveryBenchesOfFile();

async function ownersBench() {
  const bench = await deliveryBench();
  const { deps, serverId } = bench;
  const withSend = { ...deps, send: createVoteSender(deps.config) };
  /** As a page requests a diagnosis and a worker makes it. */
  const diagnose = async (
    { onStep, ...changes }: Partial<OwnerRequest> & { onStep?: OnStep } = {},
    from = withSend,
  ): Promise<OwnerDiagnosis | ({ kind: 'refused' } & DiagnosisRefusal)> => {
    const request = { ownerId: 'owner-1', serverId, proven: true, ...changes };
    const refusal = await requestDiagnosis(from, request);
    return refusal ? { kind: 'refused', ...refusal } : diagnoseForOwner(from, request.serverId, onStep);
  };
  return { ...bench, withSend, diagnose };
}

const ALL_STEPS: DiagnosisStep[] = [
  'name-resolution',
  'address-policy',
  'connecting',
  'greeting',
  'protocol-version',
  'key-or-token',
  'acknowledgement',
];

it('an owner sees each step as it begins, and the diagnosis', async () => {
  const { diagnose, listener } = await ownersBench();
  const steps: DiagnosisStep[] = [];
  expect(await diagnose({ onStep: (step) => steps.push(step) })).toMatchObject({
    kind: 'diagnosed',
    diagnosis: { outcome: 'delivered', fault: null },
  });
  expect(steps).toEqual(ALL_STEPS);
  expect(listener.votes).toHaveLength(1);
});

it.each([
  ['address-policy', { host: '10.0.0.7' }, {}],
  ['name-resolution', { host: 'nowhere.invalid' }, {}],
  ['connecting', {}, { stopped: true }],
  ['greeting', {}, { onConnect: 'silence' }],
  ['protocol-version', {}, { v1Only: true }],
  ['acknowledgement', {}, { onFrame: 'silence' }],
] as const)('the last step that began is the step that failed: %s', async (last, settings, behaviour) => {
  const { diagnose, deps, serverId, listener } = await ownersBench();
  useFastClock();
  const { token: secret, port } = listener;
  const set = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret, serviceName: 'x' } as const;
  await setListener(deps, serverId, { ...set, ...settings }, 'test');
  if ('stopped' in behaviour) await listener.stop();
  else listener.behaviour = behaviour;
  const steps: DiagnosisStep[] = [];
  const { diagnosis } = (await diagnose({ onStep: (step) => steps.push(step) })) as {
    diagnosis?: { step: DiagnosisStep };
  };
  expect(diagnosis?.step).toBe(last);
  expect(steps).toEqual(ALL_STEPS.slice(0, ALL_STEPS.indexOf(last) + 1));
});

it('the diagnosis of a website has the steps of a website, and shows at most 200 printable characters', async () => {
  const { diagnose, deps, serverId } = await ownersBench();
  const site = await startFakeHttpListener();
  site.answer = (response) => response.writeHead(500).end(`\u001b[2J\u202e${'x'.repeat(900)}`);
  const url = `http://127.0.0.1:${site.port}/votes`;
  await setHttpListener(deps, serverId, { url, serviceName: 'x' }, 'test');
  const steps: DiagnosisStep[] = [];
  const answer = await diagnose({ onStep: (step) => steps.push(step) });
  expect(steps).toEqual(['name-resolution', 'address-policy', 'connecting', 'greeting', 'acknowledgement']);
  const reply = answer.kind === 'diagnosed' ? (answer.diagnosis.reply ?? '') : '';
  expect([...reply]).toHaveLength(200);
  expect(reply).not.toMatch(/\p{C}/u);
});

it('the target of a website’s redirect is shown only if the website has repeated a challenge', async () => {
  const { diagnose, deps, serverId } = await ownersBench();
  const site = await startFakeHttpListener();
  const { answerChallenge } = site;
  const redirect = (response: ServerResponse) =>
    void response.writeHead(302, { location: 'https://inside.example.org/' }).end();
  site.answer = redirect;
  site.answerChallenge = redirect;
  await setHttpListener(deps, serverId, { url: `http://127.0.0.1:${site.port}/`, serviceName: 'x' }, 'test');
  const diagnosis = { fault: 'http-server', reply: 'HTTP 302' };
  const hidden = await diagnose();
  expect(hidden).toMatchObject({ diagnosis });
  expect(hidden).not.toHaveProperty('diagnosis.detail');
  site.answerChallenge = answerChallenge;
  const detail = 'The redirect leads to https://inside.example.org/';
  expect(await diagnose()).toMatchObject({ diagnosis: { ...diagnosis, detail } });
});

it('an owner does not see the name in a refused certificate; an operator sees it', async () => {
  const { diagnose, deps, serverId, withSend } = await ownersBench();
  const site = await startFakeHttpListener({ certificate: 'other' });
  await setHttpListener(deps, serverId, { url: `https://127.0.0.1:${site.port}/`, serviceName: 'x' }, 'test');
  const answer = await diagnose();
  expect(answer).toMatchObject({ diagnosis: { fault: 'tls-server' } });
  expect(answer).not.toHaveProperty('diagnosis.detail');
  // There was no answer that could be hidden.
  expect(answer).not.toHaveProperty('diagnosis.isReplyHidden');
  expect(await diagnoseListener(withSend, serverId)).toMatchObject({
    detail: expect.stringMatching(/certificate/),
  });
});

it('no connection is opened if the server is removed, has no listener, or is not proven to be the owner’s', async () => {
  const { diagnose, deps, serverId, listener } = await ownersBench();
  const refused = (code: string) => ({ kind: 'refused', code });
  expect(await diagnose({ proven: false })).toEqual(refused('ownership-not-proven'));
  expect(await diagnose({ serverId: new ObjectId() })).toEqual(refused('not-found'));
  await removeListener(deps, serverId, 'test');
  expect(await diagnose()).toEqual(refused('no-listener'));
  await removeServer(deps, serverId, 'test');
  expect(await diagnose()).toEqual(refused('not-found'));
  expect(listener.connections).toBe(0);
  // A refused diagnosis is not counted against the allowance.
  expect(await deps.diagnosisAllowances.countDocuments()).toBe(0);
});

it.each([22, 25, 465, 587])('port %s is refused, even if it is stored', async (port) => {
  const { diagnose, deps, serverId } = await ownersBench();
  const votifier = { port };
  await deps.listeners.updateOne({ serverId }, { $set: votifier });
  expect(await diagnose()).toEqual({ kind: 'refused', code: 'port-refused' });
  const http = { protocol: 'http', port: 8_080, url: `https://play.example.org:${port}/votes` } as const;
  await deps.listeners.updateOne({ serverId }, { $set: http });
  expect(await diagnose()).toEqual({ kind: 'refused', code: 'port-refused' });
});

it('an owner has six diagnoses in any minute over all processes and restarts; another owner has their own', async () => {
  const { diagnose, deps, clock, withSend } = await ownersBench();
  clock.stop(new Date());
  const first = clock.now();
  // Another process: it has its own collections on the same database.
  const mongo = await openMongo(deps.config.MONGODB_URI, deps.log);
  onTestFinished(() => mongo.close());
  const other = { ...withSend, ...bindCollections(mongo) };
  const kinds = async (count: number, ownerId = 'owner-1') => {
    const asked = Array.from({ length: count }, (_, n) => diagnose({ ownerId }, n % 2 ? withSend : other));
    return (await Promise.all(asked)).map(({ kind }) => kind).toSorted();
  };
  const made = (count: number) => Array(count).fill('diagnosed');
  expect(await kinds(10)).toEqual([...made(6), ...Array(4).fill('refused')]);
  expect(await diagnose()).toEqual({
    kind: 'refused',
    code: 'too-many',
    nextAllowedAt: new Date(first.getTime() + MINUTE),
  });
  expect(await kinds(1, 'owner-2')).toEqual(made(1));
  clock.move(MINUTE - SECOND);
  expect(await kinds(1)).toEqual(['refused']);
  clock.move(SECOND);
  expect(await kinds(3)).toEqual(made(3));
  clock.move(MINUTE - SECOND);
  // Three of the six are still less than a minute old.
  expect(await kinds(5)).toEqual([...made(3), ...Array(2).fill('refused')]);
});

it('an allowance is deleted by itself', async () => {
  const { diagnose, deps } = await ownersBench();
  await diagnose();
  const [index] = (await deps.diagnosisAllowances.indexes()).filter(({ key }) => 'expiresAt' in key);
  expect(index?.expireAfterSeconds).toBe(60);
  expect(await deps.diagnosisAllowances.findOne({ _id: 'owner-1' })).toMatchObject({
    expiresAt: expect.any(Date),
  });
});
