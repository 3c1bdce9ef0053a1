import { sendLegacyVote, sendVote } from 'minecraft-server-util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';

// An independent client checks our fake listener.
describe('VotifierListener with the client minecraft-server-util', () => {
  const listener = new VotifierListener();
  const time = 1_795_248_000_000;

  beforeAll(() => listener.start());
  afterAll(() => listener.stop());
  beforeEach(() => {
    listener.votes.length = 0;
    listener.behaviour = {};
    listener.tokens = { default: listener.token || 'secret' };
  });

  const voteV2 = (options: Partial<Parameters<typeof sendVote>[2]> = {}) =>
    sendVote('127.0.0.1', listener.port, {
      token: listener.token,
      username: 'Steve',
      serviceName: 'Independent',
      address: '10.1.2.3',
      timestamp: time,
      timeout: 2_000,
      ...options,
    });

  it('accepts a v2 vote', async () => {
    await voteV2({ uuid: '01998a3e-7e4b-7000-8000-0123456789ab' });
    expect(listener.votes).toEqual([
      {
        protocol: 'v2',
        serviceName: 'Independent',
        username: 'Steve',
        address: '10.1.2.3',
        timestamp: time,
        uuid: '01998a3e-7e4b-7000-8000-0123456789ab',
        receivedAt: expect.any(Date),
      },
    ]);
  });

  it('accepts a v2 name with multi-byte characters', async () => {
    await voteV2({ username: 'Zoë🎉' });
    expect(listener.votes).toMatchObject([{ username: 'Zoë🎉' }]);
  });

  it('accepts a v1 vote, with ASCII letters only', async () => {
    for (const username of ['Steve', 'Zoë']) {
      await sendLegacyVote('127.0.0.1', listener.port, {
        key: listener.publicKeyLine,
        username,
        serviceName: 'Independent',
        address: '10.1.2.3',
        timestamp: time,
      });
    }
    await expect.poll(() => listener.votes).toHaveLength(2);
    expect(listener.votes).toMatchObject([
      {
        protocol: 'v1',
        serviceName: 'Independent',
        username: 'Steve',
        address: '10.1.2.3',
        timestamp: `${time}`,
      },
      { protocol: 'v1', username: 'Zo\u{fffd}\u{fffd}' },
    ]);
  });

  it.each([
    ['a wrong token', { token: 'wrong' }, 'CorruptedFrameException: Signature is not valid (invalid token?)'],
    ['a uuid without dashes', { uuid: '01998a3e7e4b700080000123456789ab' }, 'Invalid UUID string'],
    ['a name of 17 characters', { username: 'x'.repeat(17) }, 'Username too long'],
    ['a frame of over 1,024 bytes', { address: 'x'.repeat(900) }, 'Adjusted frame length exceeds 1024'],
  ])('refuses %s as NuVotifier does', async (_, options, words) => {
    await expect(voteV2(options)).rejects.toThrow(words);
    expect(listener.votes).toEqual([]);
  });

  it('selects the token by the service name', async () => {
    const { token } = listener;
    listener.tokens = { Independent: 'its own' };
    await voteV2({ token: 'its own' });
    await expect(voteV2({ serviceName: 'toString', token: 'its own' })).rejects.toThrow(
      "Unknown service 'toString'",
    );
    expect(listener.votes).toHaveLength(1);
    listener.tokens = { default: token };
  });

  it('delays answers, and still counts the votes', async () => {
    listener.stall();
    const sent = voteV2();
    await expect.poll(() => listener.held).toBe(1);
    expect(listener.votes).toHaveLength(1);
    listener.release();
    await sent;
    await voteV2();
  });

  it('keeps its port if it is to start elsewhere while it runs', async () => {
    const { port } = listener;
    await expect(listener.startElsewhere()).rejects.toThrow('already running');
    expect(listener.port).toBe(port);
  });

  it('stops and restarts on the same port', async () => {
    const { port } = listener;
    await listener.stop();
    await expect(voteV2()).rejects.toThrow();
    await listener.start();
    expect(listener.port).toBe(port);
    await voteV2();
    expect(listener.votes).toHaveLength(1);
  });
});
