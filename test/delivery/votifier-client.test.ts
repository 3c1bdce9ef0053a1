import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sendVote } from '../../src/delivery/votifier/votifier-client.ts';
import { type Behaviour, VotifierListener } from '../../src/demo/votifier-listener.ts';
import { OPTIONS, targetsOf, VOTE } from './remote-peer.ts';

const listener = new VotifierListener();
let targets: ReturnType<typeof targetsOf>;

beforeAll(async () => {
  await listener.start();
  targets = targetsOf(listener);
});
afterAll(() => listener.stop());
beforeEach(() => {
  listener.votes.length = 0;
  listener.behaviour = {};
});

const send = (protocol: 'v1' | 'v2', vote = VOTE, options = OPTIONS) =>
  sendVote(targets[protocol], vote, options);

/** How many milliseconds to wait for a silent listener. */
async function silence(): Promise<number> {
  listener.behaviour = { onConnect: 'silence' };
  const end = await sendVote(targets.v2, VOTE, OPTIONS);
  expect(end.code).toBe('silent');
  return end.durationMs;
}

describe('a vote', () => {
  it('is delivered by v2 when the listener acknowledges it', async () => {
    expect(await send('v2')).toEqual({
      code: 'acknowledged',
      class: 'delivered',
      reached: 'acknowledged',
      durationMs: expect.any(Number),
    });
    expect(listener.votes).toEqual([
      {
        protocol: 'v2',
        serviceName: 'Tallyport',
        username: 'Steve',
        address: '0.0.0.0',
        timestamp: VOTE.votedAt.getTime(),
        uuid: VOTE.id,
        receivedAt: expect.any(Date),
      },
    ]);
  });

  it('is delivered by v1 without a confirmation', async () => {
    expect(await send('v1')).toMatchObject({
      code: 'sent-not-confirmed',
      class: 'delivered',
      reached: 'written',
    });
    expect(listener.votes).toMatchObject([
      {
        protocol: 'v1',
        serviceName: 'Tallyport',
        username: 'Steve',
        address: '0.0.0.0',
        timestamp: `${VOTE.votedAt.getTime()}`,
      },
    ]);
  });

  it('has the same content in every attempt', async () => {
    await send('v2');
    await send('v2');
    const [first, second] = listener.votes;
    expect(second).toEqual({ ...first, receivedAt: expect.any(Date) });
  });

  it.each([
    'Zoë🎉',
    ' leading',
    '.dot',
    '🎉'.repeat(8),
    'a"b\\c',
  ])('arrives with the name as typed: %s', async (username) => {
    expect(await send('v2', { ...VOTE, username })).toMatchObject({ code: 'acknowledged' });
    expect(listener.votes).toMatchObject([{ username }]);
  });

  it('is refused by the listener, not by us, if its name is over 16 characters', async () => {
    for (const username of ['x'.repeat(17), '🎉'.repeat(50)]) {
      expect(await send('v2', { ...VOTE, username })).toMatchObject({
        code: 'name-too-long',
        class: 'vote-only',
        reached: 'written',
        words: 'CorruptedFrameException: Username too long',
      });
    }
  });

  it('cannot contain a line feed', async () => {
    await expect(send('v1', { ...VOTE, username: 'Steve\n127.0.0.1' })).rejects.toThrow(TypeError);
    expect(listener.votes).toEqual([]);
  });

  it('is recognised as too long for a frame only after the greeting, and then nothing is written', async () => {
    const long = { ...VOTE, username: '🎉'.repeat(50) };
    const target = { ...targets.v1, serviceName: 'T'.repeat(64) };
    expect(await sendVote(target, long, OPTIONS)).toMatchObject({
      code: 'frame-too-long',
      reached: 'greeted',
    });
    listener.behaviour = { greeting: `VOTIFIER 2 ${'"'.repeat(240)}\n` };
    expect(await send('v2')).toMatchObject({
      code: 'frame-too-long',
      class: 'vote-only',
      reached: 'greeted',
    });
    expect(listener.votes).toEqual([]);
  });
});

type Case = [string, 'v1' | 'v2', Behaviour, object];
const WELCOME = 'VOTIFIER 2 {challenge}\n';

const CASES: Case[] = [
  // Before the frame is written.
  ['says nothing', 'v2', { onConnect: 'silence' }, { code: 'silent', reached: 'connected' }],
  ['closes at once', 'v2', { onConnect: 'close' }, { code: 'closed-before-greeting', reached: 'connected' }],
  ['resets at once', 'v2', { onConnect: 'reset' }, { code: 'closed-before-greeting' }],
  [
    'sends its greeting too slowly',
    'v2',
    { dripMs: 50 },
    { code: 'too-slow', reached: 'connected', words: /^VOTI/ },
  ],
  [
    'never ends its greeting',
    'v2',
    { greeting: 'VOTIFIER 2 abc' },
    { code: 'too-slow', words: 'VOTIFIER 2 abc' },
  ],
  [
    'speaks HTTP',
    'v2',
    { greeting: 'HTTP/1.1 400 Bad Request\r\n\r\n' },
    { code: 'not-votifier', words: 'HTTP/1.1 400 Bad Request' },
  ],
  [
    'speaks without a line end',
    'v1',
    { greeting: '\u0005\u0000MariaDB' },
    { code: 'not-votifier', words: 'MariaDB' },
  ],
  [
    'speaks without end',
    'v2',
    { greeting: 'x'.repeat(100_000) },
    { code: 'not-votifier', words: 'x'.repeat(200) },
  ],
  [
    'speaks v1 only to a token',
    'v2',
    { v1Only: true },
    { code: 'v1-only', reached: 'greeted', words: 'VOTIFIER 1.9' },
  ],
  ['is a v1 plugin of version 2.7.2', 'v2', { greeting: 'VOTIFIER 2.7.2\n' }, { code: 'v1-only' }],
  [
    'sends ok before it has received the vote',
    'v2',
    { greeting: `${WELCOME}{"status":"ok"}` },
    { code: 'unknown-error', reached: 'greeted' },
  ],
  [
    'refuses before it has received the vote',
    'v1',
    { greeting: `${WELCOME}{"status":"error","error":"Signature"}` },
    { code: 'unknown-error', reached: 'greeted' },
  ],
  // After the frame is written.
  [
    'knows no such token',
    'v2',
    { answer: '{"status":"error","cause":"A","error":"Signature is not valid (invalid token?)"}' },
    { code: 'bad-signature', reached: 'written' },
  ],
  [
    'refuses the challenge',
    'v2',
    { greeting: 'VOTIFIER 2 replayed\n' },
    { code: 'challenge-refused', words: 'CorruptedFrameException: Challenge is not valid' },
  ],
  [
    'knows no such service',
    'v2',
    { answer: '{"status":"error","cause":"RuntimeException","error":"Unknown service \'Tallyport\'"}' },
    { code: 'unknown-service' },
  ],
  [
    'finds the frame too long',
    'v2',
    {
      answer:
        '{"status":"error","cause":"TooLongFrameException","error":"Adjusted frame length exceeds 1024: 1100 - discarded"}',
    },
    { code: 'frame-too-long' },
  ],
  [
    'comes to the point late',
    'v2',
    { answer: `{"status":"error","cause":"${'Decoder'.repeat(100)}","error":"Unknown service 'T'"}` },
    { code: 'unknown-service', words: 'Decoder'.repeat(100).slice(0, 200) },
  ],
  [
    'fails by itself',
    'v2',
    { answer: '{"status":"error","cause":"NullPointerException"}' },
    { code: 'unknown-error', words: 'NullPointerException' },
  ],
  [
    'cannot decrypt',
    'v1',
    { answer: '{"status":"error","cause":"Decryption failed","errorMessage":"Decryption failed"}' },
    { code: 'key-invalid', words: 'Decryption failed' },
  ],
  ['answers ok in v1', 'v1', { answer: '{"status":"ok"}\r\n' }, { code: 'acknowledged' }],
  ['answers a line end in v1', 'v1', { answer: '\r\n' }, { code: 'sent-not-confirmed' }],
  ['answers other words in v1', 'v1', { answer: 'Okay\n' }, { code: 'garbage-answer', words: 'Okay' }],
  ['answers half an object in v1', 'v1', { answer: '{"status":"ok"' }, { code: 'garbage-answer' }],
  ['answers other words', 'v2', { answer: 'Okay' }, { code: 'garbage-answer', words: 'Okay' }],
  ['answers an object that says nothing', 'v2', { answer: '{"status":"OK"}' }, { code: 'garbage-answer' }],
  [
    'answers half an object',
    'v2',
    { answer: '{"status":"ok"' },
    { code: 'garbage-answer', words: '{"status":"ok"' },
  ],
  ['answers without end', 'v2', { answer: `{"pad":"${'x'.repeat(100_000)}` }, { code: 'garbage-answer' }],
  ['answers without a line feed', 'v2', { answer: '{"status":"ok"}' }, { code: 'acknowledged' }],
  [
    'closes without an answer',
    'v2',
    { onFrame: 'close' },
    { code: 'closed-without-answer', reached: 'written' },
  ],
  ['closes without an answer in v1', 'v1', { onFrame: 'close' }, { code: 'sent-not-confirmed' }],
  ['resets', 'v2', { onFrame: 'reset' }, { code: 'reset', reached: 'written' }],
  ['resets in v1', 'v1', { onFrame: 'reset' }, { code: 'reset', reached: 'written' }],
  ['never answers', 'v2', { onFrame: 'silence' }, { code: 'no-answer', reached: 'written' }],
  ['never closes in v1', 'v1', { onFrame: 'silence' }, { code: 'no-answer', reached: 'written' }],
  ['answers too late', 'v2', { answerDelayMs: 900 }, { code: 'no-answer' }],
  ['answers late, but in time', 'v2', { answerDelayMs: 100 }, { code: 'acknowledged' }],
];

describe('a listener that', () => {
  let silenceMs: number;
  beforeAll(async () => {
    silenceMs = await silence();
  });

  it.each(CASES)('%s (%s)', async (_, protocol, behaviour, expected) => {
    listener.behaviour = behaviour;
    const end = await send(protocol);
    const { words, ...rest } = expected as { words?: string | RegExp };
    expect(end).toMatchObject(rest);
    if (words) expect(end.words).toEqual(words instanceof RegExp ? expect.stringMatching(words) : words);
    // Whatever the outcome, it takes no longer than the waits for a greeting, an answer and a close together.
    expect(end.durationMs).toBeLessThan(6 * silenceMs);
  });

  it('sends greeting and answer byte by byte is understood', async () => {
    listener.behaviour = { dripMs: 1, greeting: 'VOTIFIER 2 {challenge}\r\n' };
    const warned = vi.spyOn(process, 'emitWarning');
    expect(await send('v2', VOTE, { ...OPTIONS, timeoutMs: 1_500 })).toMatchObject({ code: 'acknowledged' });
    // If each byte left an event listener behind, Node would soon warn of a leak.
    expect(warned).not.toHaveBeenCalled();
  });

  it('has another token refuses the vote', async () => {
    const end = await sendVote({ ...targets.v2, token: 'wrong' }, VOTE, OPTIONS);
    expect(end).toMatchObject({ code: 'bad-signature', class: 'configuration' });
    expect(listener.votes).toEqual([]);
  });

  it.each([
    ['closes without an answer', { onFrame: 'close' }],
    ['answers a line end', { answer: '\r\n' }],
  ] as const)('confirmed v1 votes before and now %s has certainly not taken this vote', async (_, behaviour) => {
    listener.behaviour = behaviour;
    const end = await sendVote(targets.v1, VOTE, { ...OPTIONS, confirmsVotes: true });
    expect(end).toMatchObject({ code: 'closed-without-answer', class: 'ambiguous', reached: 'written' });
    listener.behaviour = { answer: '{"status":"ok"}' };
    const again = await sendVote(targets.v1, VOTE, { ...OPTIONS, confirmsVotes: true });
    expect(again.code).toBe('acknowledged');
  });

  it('has another v1 key closes like a listener that took the vote', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const end = await sendVote({ ...targets.v1, publicKey }, VOTE, OPTIONS);
    expect(end).toMatchObject({ code: 'sent-not-confirmed' });
    expect(listener.votes).toEqual([]);
  });

  it('is down refuses the connection', async () => {
    const down = new VotifierListener({ keyPair: listener.keyPair });
    await down.start();
    const target = targetsOf(down).v2;
    await down.stop();
    expect(await sendVote(target, VOTE, OPTIONS)).toMatchObject({
      code: 'connection-refused',
      reached: 'resolved',
    });
  });
});
