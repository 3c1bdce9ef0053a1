import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningListener, setV2 } from './listening.ts';
import { openTerminal, type Terminal } from './tallyport.ts';

let terminal: Terminal;

beforeAll(async () => {
  terminal = await openTerminal();
});
afterAll(() => terminal.close());

describe('listener test', () => {
  it('sends a marked vote and shows the acknowledgement', async () => {
    const { slug } = await terminal.addServer('Tested');
    const listener = await runningListener();
    await setV2(terminal, slug, listener);
    const json = await terminal.run(`listener test ${slug} --json`);
    const plain = await terminal.run(`listener test ${slug}`);

    expect(json).toMatchObject({
      code: 0,
      json: {
        outcome: 'delivered',
        fault: null,
        step: 'acknowledgement',
        cause: 'The listener took the vote and said so.',
        mend: expect.any(String),
      },
    });
    expect(plain.code).toBe(0);
    expect(plain.stdout).toMatch(/^Outcome: +delivered\nReached: +acknowledgement\n/);
    expect(listener.votes.map(({ username }) => username)).toEqual(['TallyportTest', 'TallyportTest']);
  });

  it('ends with 1 and the listener’s words when it fails', async () => {
    const { slug } = await terminal.addServer('Wrongly set');
    const listener = await runningListener();
    await setV2(terminal, slug, { port: listener.port, token: 'another-token' });
    const json = await terminal.run(`listener test ${slug} --json`);
    const plain = await terminal.run(`listener test ${slug}`);

    expect(json).toMatchObject({
      code: 1,
      json: {
        error: expect.stringContaining('refused the signature'),
        outcome: 'configuration',
        fault: 'bad-signature',
        step: 'key-or-token',
        reply: expect.stringContaining('Signature is not valid'),
      },
    });
    expect(plain.code).toBe(1);
    expect(plain.stdout).toMatch(/It said: +«.*Signature is not valid.*»/);
    expect(plain.stdout).toMatch(/Mend: +Copy the token/);
    expect(listener.votes).toEqual([]);
    expect((await terminal.run(`listener show ${slug} --json`)).json.state).toBe('active');
  });

  it('says when its stored secret cannot be read', async () => {
    const { slug, server_id } = await terminal.addServer('Sealed elsewhere');
    await setV2(terminal, slug, { port: 8192, token: 'abcdef0123456789' });
    await terminal.platform.listeners.updateOne(
      { serverId: new ObjectId(server_id) },
      { $set: { sealedSecret: 'v1.00000000.AAAA.AAAA.AAAA' } },
    );

    expect(await terminal.run(`listener test ${slug} --json`)).toMatchObject({
      code: 1,
      json: { error: expect.stringContaining('SECRET_KEY_PREVIOUS'), code: 'secret-unreadable' },
    });
  });
});
