import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import type { Diagnosis } from '../../src/delivery/diagnosis/diagnosis.ts';
import { explain } from '../../src/delivery/diagnosis/explain.ts';
import { connectFailure } from '../../src/delivery/peer-connection.ts';
import { createVoteSender, type SendVote } from '../../src/delivery/send-vote.ts';
import { t } from '../../src/language/t.ts';
import { FETCH_OUTCOMES } from '../../src/listeners/outcomes/fetch.ts';
import { VOTIFIER_OUTCOMES } from '../../src/listeners/outcomes/votifier.ts';
import { OUTCOME_CODES, OUTCOMES, type Outcome, type OutcomeCode } from '../../src/listeners/outcomes.ts';
import { diagnosisResult } from '../../src/site/dashboard/diagnosis-texts.ts';
import {
  type ClockedDeps,
  type DeliveryBench,
  deliveryBenchOn,
  openDeliveryDeps,
} from '../support/delivering.ts';
import { textOf } from '../support/web-app.ts';
import type { Case } from './known-case.ts';
import { CASES, v2 } from './known-cases.ts';
import { goVotifier } from './known-listeners.ts';

let deps: ClockedDeps;

beforeAll(async () => {
  deps = await openDeliveryDeps({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8,::1/128' });
});

async function diagnosed({
  set,
  send,
  timeoutMs,
}: Case): Promise<{ diagnosis: Diagnosis; code: OutcomeCode; bench: DeliveryBench }> {
  const bench = await deliveryBenchOn(deps);
  await set(bench);
  const config = { ...bench.deps.config, ...(timeoutMs ? { LISTENER_TIMEOUT_MS: timeoutMs } : {}) };
  let end: Outcome | undefined;
  const sending = send ?? createVoteSender(config);
  const noting: SendVote = async (...given) => {
    end = await sending(...given);
    return end;
  };
  const diagnosis = await diagnoseListener({ ...bench.deps, config, send: noting }, bench.serverId);
  if (!diagnosis || !end) throw new Error('nothing was sent');
  // The stored outcome: in view of what the listener took before.
  const stored = await bench.deps.listeners.findOne({ serverId: bench.serverId });
  return { diagnosis, code: stored?.tested?.code ?? end.code, bench };
}

describe('each case that real listeners and websites made has its own code, cause, advice, fault and step', () => {
  const page = readFileSync(new URL('../../docs/delivery.md', import.meta.url), 'utf8');

  it('each has its own row in the documentation, and no row is without a case', () => {
    const names = page.slice(page.indexOf('| Case | Outcome |')).split('\n\n')[0] ?? '';
    const rows = names.split('\n').slice(2).filter(Boolean);
    expect(rows.map((row) => row.split(' | ')[0]?.slice(2)).toSorted()).toEqual(
      CASES.map(({ name }) => name).toSorted(),
    );
  });

  it.each(CASES)('$name', async (one) => {
    const { diagnosis, code, bench } = await diagnosed(one);
    expect({ code, fault: diagnosis.fault, outcome: diagnosis.outcome }).toEqual({
      code: one.code,
      fault: one.fault,
      outcome: one.code === 'sent-not-confirmed' ? one.code : OUTCOMES[one.code].class,
    });
    expect(diagnosis.confirmed).toBe(one.code === 'acknowledged');
    expect(t(diagnosis.cause)).toMatch(one.cause);
    expect(t(diagnosis.advice)).toMatch(one.advice);
    if (one.reply !== undefined) expect(diagnosis.reply ?? null).toBe(one.reply);
    if (one.detail) expect(diagnosis.detail).toMatch(one.detail);
    else expect(diagnosis).not.toHaveProperty('detail');
    const { fault } = diagnosis;
    const { step } = diagnosis;
    const cells = [
      one.name,
      `\`${code}\` (${OUTCOMES[code].class})`,
      fault ? `\`${fault}\`` : '-',
      `\`${step}\``,
    ];
    // The owner's page and the stored outcome say the same.
    const listener = await bench.deps.listeners.findOne({ serverId: bench.serverId });
    if (!listener) throw new Error('no listener');
    const shown = String(await diagnosisResult(JSON.parse(JSON.stringify(diagnosis)), listener));
    const [cause, advice] = [t(diagnosis.cause), t(diagnosis.advice)];
    expect(textOf(shown)).toContain(cause);
    if (diagnosis.outcome !== 'delivered') expect(textOf(shown)).toContain(advice);
    expect(listener.tested?.code).toBe(code);
    const row = page.split('\n').find((line) => line.startsWith(`| ${one.name} |`));
    expect(row).toBe(`| ${cells.join(' | ')} |`);
  });
});

it('a listener whose process ended because of a wrong token refuses the next connection', async () => {
  const bench = await deliveryBenchOn(deps);
  await v2(goVotifier(), 'wrong')(bench);
  const diagnose = () =>
    diagnoseListener({ ...bench.deps, send: createVoteSender(bench.deps.config) }, bench.serverId);
  expect(await diagnose()).toMatchObject({ fault: 'closed-without-answer' });
  expect(await diagnose()).toMatchObject({ fault: 'connection-refused' });
});

it.each([
  ['ECONNREFUSED', 6, 'connection-refused'],
  ['EHOSTUNREACH', 6, 'firewall-rejected'],
  ['EACCES', 6, 'firewall-rejected'],
  ['EPERM', 1, 'firewall-rejected'],
  ['EHOSTUNREACH', 3_070, 'unreachable'],
  ['ENETUNREACH', 1, 'unreachable'],
  ['ETIMEDOUT', 127_000, 'connect-timeout'],
  ['ECONNRESET', 6, 'closed-before-greeting'],
  ['EMFILE', 1, 'our-fault'],
] as const)('a connection that fails with %s after %i ms is %s', (code, tookMs, fault) => {
  expect(connectFailure(code, tookMs)).toBe(fault);
});

const NEVER_HTTP = { ...VOTIFIER_OUTCOMES, ...FETCH_OUTCOMES };

it.each(
  OUTCOME_CODES.filter((code) => !(code in NEVER_HTTP)),
)('texts for an HTTP listener never mention port 8192, a token or a vote plugin: %s', (code) => {
  const { cause, advice } = explain(code, 'http');
  expect(`${t(cause)} ${t(advice)}`).not.toMatch(/8192|token|plugin|game server/i);
});
