import { describe, expect, test } from 'vitest';
import { receiveWebhook, verifyWebhook, WebhookError } from '../../clients/typescript/src/index.ts';
import {
  newChallenge,
  newSigningSecret,
  signedHeaders,
  voteBody,
} from '../../src/delivery/http/http-message.ts';
import { TEST_USERNAME } from '../../src/delivery/vote-message.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';

const ID = '0198a000-0000-7000-8000-000000000001';
const VOTED_AT = new Date('2026-11-21T08:00:00.000Z');
const body = voteBody({ id: ID, username: 'Stevé §', votedAt: VOTED_AT }, '6921f0a4c2b7d81e5f3a9c04');
const secret = newSigningSecret();
const now = () => new Date();

describe('a message of the listing', () => {
  const vote = {
    vote_id: ID,
    server_id: '6921f0a4c2b7d81e5f3a9c04',
    username: 'Stevé §',
    voted_at: VOTED_AT.toISOString(),
  };

  test.each([
    ['as text', body],
    ['as bytes', new TextEncoder().encode(body)],
  ])('is verified, %s', async (_, received) => {
    const headers = signedHeaders(ID, body, [secret], now());
    expect(await verifyWebhook(secret, headers, received)).toEqual({ type: 'vote.cast', vote });
    expect(await verifyWebhook(secret, new Headers(headers), received)).toMatchObject({ type: 'vote.cast' });
  });

  test('with two signatures is verified with either secret, and by a receiver that knows both', async () => {
    const older = newSigningSecret();
    const headers = signedHeaders(ID, body, [secret, older], now());
    for (const known of [secret, older, [newSigningSecret(), older]]) {
      expect(await verifyWebhook(known, headers, body)).toMatchObject({ type: 'vote.cast' });
    }
  });

  const signed = () => signedHeaders(ID, body, [secret], now());
  test.each([
    ['another body', () => signed(), body.replace('Stev', 'Alex')],
    ['another id', () => ({ ...signed(), 'webhook-id': 'x' }), body],
    ['another time', () => ({ ...signed(), 'webhook-timestamp': '1' }), body],
    ['another secret', () => signedHeaders(ID, body, [newSigningSecret()], now()), body],
    ['6 minutes ago', () => signedHeaders(ID, body, [secret], after(now(), -6 * MINUTE)), body],
    ['in 6 minutes', () => signedHeaders(ID, body, [secret], after(now(), 6 * MINUTE)), body],
    ['no signature', () => ({}), body],
    ['an empty signature', () => ({ ...signed(), 'webhook-signature': 'v1,' }), body],
    ['no base64', () => ({ ...signed(), 'webhook-signature': 'v1,%%%' }), body],
    [
      'another version',
      () => ({ ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1', 'v0') }),
      body,
    ],
    [
      'a header given twice',
      () => ({ ...signed(), 'webhook-signature': [signed()['webhook-signature']] }),
      body,
    ],
  ])('is refused: %s', async (_, headers, received) => {
    await expect(verifyWebhook(secret, headers(), received)).rejects.toBeInstanceOf(WebhookError);
    const answer = await receiveWebhook(secret, { headers: headers(), body: received }, () => {
      throw new Error('a vote was passed on');
    });
    expect(answer.status).toBe(401);
  });

  test('of a later version is unknown, and is acknowledged', async () => {
    const later = JSON.stringify({ type: 'vote.removed', data: { vote_id: ID } });
    const headers = signedHeaders('x', later, [secret], now());
    expect(await verifyWebhook(secret, headers, later)).toMatchObject({ type: 'unknown' });
    expect(await receiveWebhook(secret, { headers, body: later }, () => undefined)).toMatchObject({
      status: 200,
    });
  });
});

test('a challenge is answered', async () => {
  const { challenge, id, body } = newChallenge('6921f0a4c2b7d81e5f3a9c04');
  const headers = signedHeaders(id, body, [secret], now());
  const answer = await receiveWebhook(secret, { headers, body }, () => undefined);
  expect(answer).toEqual({ status: 200, body: JSON.stringify({ challenge }) });
});

test('a test vote of the dashboard is acknowledged and not rewarded', async () => {
  const tested = voteBody({ id: ID, username: TEST_USERNAME, votedAt: VOTED_AT }, '6921f0a4c2b7d81e5f3a9c04');
  const headers = signedHeaders(ID, tested, [secret], now());
  const rewarded: unknown[] = [];
  const answer = await receiveWebhook(secret, { headers, body: tested }, (vote) => rewarded.push(vote));
  expect([answer.status, rewarded]).toEqual([200, []]);
  expect(await verifyWebhook(secret, headers, tested)).toMatchObject({
    type: 'vote.test',
    vote: { vote_id: ID, username: TEST_USERNAME },
  });
});

test('an empty or short secret is said, whatever the message', async () => {
  const headers = { 'webhook-id': 'x' };
  for (const wrong of ['', 'whsec_', 'whsec_AAAA'])
    await expect(verifyWebhook(wrong, headers, body)).rejects.toThrow(TypeError);
});

test('an error of the receiver is passed on, so that the vote comes again', async () => {
  const headers = signedHeaders(ID, body, [secret], now());
  const received = receiveWebhook(secret, { headers, body }, async () => {
    throw new Error('no database');
  });
  await expect(received).rejects.toThrow('no database');
});
