import { expect, it } from 'vitest';
import { type Diagnosis, faultOf } from '../../src/delivery/diagnosis/diagnosis.ts';
import { explain } from '../../src/delivery/diagnosis/explain.ts';
import { inLanguage } from '../../src/language/language.ts';
import { beginning, diagnosisResult } from '../../src/site/dashboard/diagnosis-texts.ts';

const delivered: Diagnosis = {
  outcome: 'delivered',
  confirmed: true,
  fault: null,
  step: 'acknowledgement',
  ...explain('acknowledged', 'http'),
};
const http = { protocol: 'http', url: 'http://example.org/votes' } as const;
const https = { protocol: 'http', url: 'https://example.org/votes' } as const;

it('A test of an http:// URL says nothing of encryption, one of an https:// URL that it passed', async () => {
  expect(String(await diagnosisResult(delivered, http))).not.toContain('Encryption');
  expect(String(await beginning('greeting', http))).toBe('');
  expect(String(await diagnosisResult(delivered, https))).toMatch(/Encryption<\/strong>\s*<span[^>]*>passed/);
  expect(String(await beginning('greeting', https))).toContain('Encryption');
});

it('An http:// URL whose port speaks TLS fails at the encryption', async () => {
  const refused: Diagnosis = {
    outcome: 'configuration',
    confirmed: false,
    fault: 'tls-server',
    step: 'greeting',
    ...explain('tls-expected', 'http'),
  };
  const page = String(await diagnosisResult(refused, http));
  expect(page).toMatch(/Encryption<\/strong>\s*<span[^>]*>failed/);
  expect(page).toContain('Begin the URL with https://.');
});

it('A refusal whose words are hidden does not ask the owner to read them', async () => {
  const hidden: Diagnosis = {
    outcome: 'vote-only',
    confirmed: false,
    fault: 'vote-refused',
    step: 'acknowledgement',
    isReplyHidden: true,
    ...explain('vote-refused', 'http'),
  };
  const page = String(await diagnosisResult(hidden, https));
  expect(page).toContain('hidden: the listener has not acknowledged a vote yet');
  expect(page).not.toMatch(/Read the listener|Read its/);
});

it('The test of a listener that fetches has one step, and names the program that came', async () => {
  const fetching = { protocol: 'fetch' } as const;
  const came: Diagnosis = {
    outcome: 'delivered',
    confirmed: true,
    fault: null,
    step: 'acknowledgement',
    ...explain('acknowledged', 'fetch'),
    detail: 'tallyport-relay/1.0',
  };
  const page = String(await diagnosisResult(came, fetching));
  expect(page.split('<li')).toHaveLength(2);
  expect(page).toContain('A program asked for votes');
  expect(page).toMatch(/Program<\/dt>\s*<dd>tallyport-relay\/1\.0/);
  expect(page).not.toContain('Listener’s answer');
  const nobody: Diagnosis = {
    ...came,
    outcome: 'transient',
    confirmed: false,
    ...faultOf('not-fetched', 'fetch', { isWritten: false, isSlow: false }),
    ...explain('not-fetched', 'fetch'),
  };
  const missed = String(await diagnosisResult(nobody, fetching));
  expect(missed.split('<li')).toHaveLength(2);
  expect(missed).toContain('No program asked for votes');
  expect(missed).toContain('Start the relay');
  expect(String(await beginning('connecting', fetching))).toBe('');
});

it('A test vote without an answer is not called lost, because it may have arrived', async () => {
  const unanswered: Diagnosis = {
    outcome: 'ambiguous',
    confirmed: false,
    fault: 'too-slow',
    step: 'acknowledgement',
    ...explain('no-answer', 'votifier-v2'),
  };
  const page = String(await diagnosisResult(unanswered, { protocol: 'votifier-v2' }));
  expect(page).toContain('The test vote got no answer that confirms it');
  expect(page).not.toContain('did not arrive');
});

it('The answer of a listener stands in the quotes of the language, and its markup is text', async () => {
  const answered: Diagnosis = {
    outcome: 'transient',
    confirmed: false,
    fault: 'listener-error',
    step: 'acknowledgement',
    reply: '<b>disk full</b> {words}',
    ...explain('unknown-error', 'votifier-v2'),
  };
  const page = async () => String(await diagnosisResult(answered, { protocol: 'votifier-v2' }));
  expect(await page()).toContain('“<bdi>&lt;b&gt;disk full&lt;/b&gt; {words}</bdi>”');
  expect(await inLanguage('de', page)).toContain('„<bdi>&lt;b&gt;disk full&lt;/b&gt; {words}</bdi>“');
});
