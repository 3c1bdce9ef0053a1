import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningListener, setV2 } from './listening.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

describe('listener test', () => {
  it('sends a marked vote and shows the acknowledgement', async () => {
    const { slug } = await cli.addServer('Tested');
    const listener = await runningListener();
    await setV2(cli, slug, listener);
    const json = await cli.run(`listener test ${slug} --json`);
    const plain = await cli.run(`listener test ${slug}`);

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

  it('returns 1 and prints the listener’s answer when it fails', async () => {
    const { slug } = await cli.addServer('Wrongly set');
    const listener = await runningListener();
    await setV2(cli, slug, { port: listener.port, token: 'another-token' });
    const json = await cli.run(`listener test ${slug} --json`);
    const plain = await cli.run(`listener test ${slug}`);

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
    expect(plain.stdout).toMatch(/Answer: +“.*Signature is not valid.*”/);
    expect(plain.stdout).toMatch(/What to do: +Copy the token/);
    expect(listener.votes).toEqual([]);
    expect((await cli.run(`listener show ${slug} --json`)).json.state).toBe('active');
  });

  it('says if the stored secret cannot be read', async () => {
    const { slug, server_id } = await cli.addServer('Sealed elsewhere');
    await setV2(cli, slug, { port: 8192, token: 'abcdef0123456789' });
    await cli.deps.listeners.updateOne(
      { serverId: new ObjectId(server_id) },
      { $set: { sealedSecret: 'v1.00000000.AAAA.AAAA.AAAA' } },
    );

    expect(await cli.run(`listener test ${slug} --json`)).toMatchObject({
      code: 1,
      json: { error: expect.stringContaining('SECRET_KEY_PREVIOUS'), code: 'secret-unreadable' },
    });
  });
});
