import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Mail } from '../../src/mail/mail.ts';
import { putMail } from '../../src/mail/outbox.ts';
import { dueMails, sendMail } from '../../src/mail/send-mail.ts';
import { createSmtpSender } from '../../src/mail/smtp.ts';
import { DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { movableClock } from '../support/start-app.ts';
import { testConfig, testDeps } from '../support/test-deps.ts';

const LETTER = {
  to: 'olivia@example.org',
  subject: 'Set your password at Tallyport',
  text: 'Open this:\n\nhttp://localhost:3000/set-password?token=s3cret\n\n-- \nTallyport – “votes”',
};
const NEVER = new AbortController().signal;

/** An outbox, and a mail server that accepts mail. */
async function outbox(env: Record<string, string> = {}) {
  const server = await startMailServer();
  const clock = movableClock();
  const opened = await testDeps({
    SMTP_URL: server.url,
    MAIL_FROM: 'Tallyport <votes@example.org>',
    ...env,
  });
  const deps = { ...opened, clock };
  return { server, clock, deps, ...bench(deps, server.url) };
}

function bench(deps: AppDeps, SMTP_URL: string) {
  const { mails } = deps;
  return {
    async put(letter: Partial<typeof LETTER> & { id?: string; stopUrl?: string } = {}): Promise<string> {
      await putMail(deps, { ...LETTER, ...letter });
      const newest = await mails.findOne({}, { sort: { createdAt: -1, _id: -1 } });
      return letter.id ?? newest?._id ?? '';
    },
    send: (id: string, { longestMs = 10_000, signal = NEVER } = {}) =>
      sendMail(
        {
          ...deps,
          send: createSmtpSender({ ...deps.config, SMTP_URL, given: new Set(['SMTP_URL']) }, longestMs),
        },
        id,
        signal,
      ),
    async mail(id: string): Promise<Mail> {
      const found = await mails.findOne({ _id: id });
      if (!found) throw new Error(`no mail ${id}`);
      return found;
    },
  };
}

test.each([
  ['https', 'List-Unsubscribe=One-Click'],
  ['http', undefined],
])('a mail that its recipient can stop has the headers of RFC 8058 (%s)', async (scheme, oneClick) => {
  const { put, send, server } = await outbox();
  const stopUrl = `${scheme}://listing.example/reminders/stop-mail/abc`;
  await send(await put({ stopUrl }));
  const [letter] = server.received;
  expect(letter).toMatchObject({ listUnsubscribe: `<${stopUrl}>`, listUnsubscribePost: oneClick });
});

test('the transport is opened by a mail; if that fails, the mail is sent later', async () => {
  const createTransport = vi.fn();
  vi.doMock('nodemailer', async (importOriginal) => {
    const original = await importOriginal<typeof import('nodemailer')>();
    createTransport.mockImplementation(original.createTransport);
    createTransport.mockImplementationOnce(() => {
      throw new Error('no transport');
    });
    return { createTransport };
  });
  onTestFinished(() => void vi.doUnmock('nodemailer'));
  const server = await startMailServer();
  const config = { MAIL_FROM: 'votes@example.org', PUBLIC_URL: 'http://localhost:3000' };
  const send = createSmtpSender({
    ...testConfig(),
    ...config,
    SMTP_URL: server.url,
    given: new Set(['SMTP_URL']),
  });
  // A rejection without a handler would be reported in this turn.
  await nextTurn();
  expect(createTransport).not.toHaveBeenCalled();
  const letter = { ...LETTER, id: 'a' };
  expect(await send(letter, NEVER)).toEqual({ kind: 'failed', reason: 'no transport' });
  expect(await send(letter, NEVER)).toEqual({ kind: 'sent' });
  expect(server.received).toHaveLength(1);
});

test('the greeting is the host of PUBLIC_URL, which a strict mail server wants', async () => {
  const { server, put, send } = await outbox({ PUBLIC_URL: 'https://votes.example.org' });
  server.behaviour.needsFullName = true;
  expect(await send(await put())).toBe('sent');
  expect(server.received[0]?.greeting).toBe('votes.example.org');
});

test('a mail is sent once, and then its text is removed from the database', async () => {
  const { server, deps, put, send, mail } = await outbox();
  const id = await put();
  expect(JSON.stringify(await mail(id))).not.toContain('s3cret');
  const [job] = await deps.queues['send-mail'].getJobs();
  expect(job?.data).toEqual({ mailId: id });

  expect(await send(id)).toBe('sent');
  expect(await send(id)).toBe('not-due');
  expect(server.received).toEqual([
    {
      ...LETTER,
      greeting: '[127.0.0.1]',
      from: 'Tallyport <votes@example.org>',
      messageId: expect.stringMatching(/^<\w+@localhost>$/),
    },
  ]);
  const sent = await mail(id);
  expect(sent).toMatchObject({ sentAt: expect.any(Date), attempts: 1 });
  expect(sent).not.toHaveProperty('sealedText');
  expect(await dueMails(deps)).toEqual([]);
});

test('many workers at once send a mail once', async () => {
  const { server, put, send } = await outbox();
  const id = await put();
  const ends = await Promise.all(Array.from({ length: 8 }, () => send(id)));
  expect(ends.toSorted()).toEqual([...Array(7).fill('not-due'), 'sent']);
  expect(server.received).toHaveLength(1);
});

test('a mail of a notification that was already written is not written again', async () => {
  const { put, deps } = await outbox();
  await put({ id: 'paused:1' });
  await put({ id: 'paused:1', text: 'another' });
  expect(await deps.mails.countDocuments()).toBe(1);
});

test('while the mail server is unavailable a mail is retried with growing delays, and is sent when the server is back', async () => {
  const { server, clock, deps, put, send, mail } = await outbox();
  const id = await put();
  await server.stop();
  expect(await send(id)).toBe('failed');
  const { nextAt, createdAt, lastFault } = await mail(id);
  expect(lastFault).toContain('ECONNREFUSED');
  expect((nextAt?.getTime() ?? 0) - createdAt.getTime()).toBeGreaterThanOrEqual(MINUTE);
  expect(await send(id)).toBe('not-due');
  clock.move(2 * MINUTE);
  expect(await dueMails(deps)).toEqual([id]);
  expect(await send(id)).toBe('failed');
  clock.move(HOUR);
  await server.start();
  expect(await send(id)).toBe('sent');
  expect(server.received).toHaveLength(1);
  expect((await mail(id)).attempts).toBe(3);
});

test('a mail that could not be sent for a day is given up, and its text is removed', async () => {
  const { server, clock, put, send, mail } = await outbox();
  const id = await put();
  await server.stop();
  clock.move(DAY);
  expect(await send(id)).toBe('given-up');
  const given = await mail(id);
  expect(given).toMatchObject({ givenUpAt: expect.any(Date) });
  expect(given).not.toHaveProperty('sealedText');
});

test.each([
  [{ recipientCode: 550 }, 'given-up'],
  [{ recipientCode: 450 }, 'failed'],
  [{ textCode: 554 }, 'given-up'],
  [{ textCode: 451 }, 'failed'],
] as const)('a mail server that answers %j: %s', async (behaviour, end) => {
  const { server, put, send, mail } = await outbox();
  server.behaviour = behaviour;
  const id = await put();
  expect(await send(id)).toBe(end);
  expect((await mail(id)).lastFault).toContain('not this one');
  expect(server.received).toEqual([]);
});

test('a mail server that answers byte by byte does not occupy a worker’s slot', async () => {
  const { deps, put } = await outbox();
  const server = net.createServer((socket) => {
    const drip = setInterval(() => socket.write('2'), 50);
    socket.on('error', () => {}).on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as net.AddressInfo;
  const id = await put();
  // The server itself would never finish.
  const { send } = bench(deps, `smtp://127.0.0.1:${port}`);
  expect(await send(id, { longestMs: 500 })).toBe('failed');
});

test('a worker that stops releases a mail at once', async () => {
  const { server, deps, put, send } = await outbox();
  server.behaviour = { silentAfterText: true };
  const id = await put();
  const stop = new AbortController();
  const sending = send(id, { signal: stop.signal });
  await vi.waitUntil(() => server.received.length === 1, EVENTUALLY);
  stop.abort();
  expect(await sending).toBe('failed');
  expect(await dueMails(deps)).toEqual([id]);
});

test('a mail with an unknown result is sent again with the same message id', async () => {
  const { server, clock, put, send } = await outbox();
  server.behaviour = { cutAfterText: true };
  const id = await put();
  expect(await send(id)).toBe('failed');
  server.behaviour = {};
  clock.move(HOUR);
  expect(await send(id)).toBe('sent');
  expect(server.received).toHaveLength(2);
  expect(server.received[0]?.messageId).toBe(server.received[1]?.messageId);
});

test('a mail sealed under a lost key is given up', async () => {
  const { deps, put, send, mail } = await outbox();
  const id = await put();
  await deps.mails.updateOne({ _id: id }, { $set: { sealedText: 'v1.00000000.AA.AA.AA' } });
  expect(await send(id)).toBe('given-up');
  expect((await mail(id)).lastFault).toContain('SECRET_KEY');
});

test('a mail server that an operator entered passes the address guard', async () => {
  const server = await startMailServer();
  const config = { ...testConfig(), SMTP_URL: server.url, MAIL_FROM: 'votes@example.org' };
  const letter = { ...LETTER, id: 'a' };
  const refused = await createSmtpSender(config)(letter, NEVER);
  expect(refused).toMatchObject({ kind: 'failed', reason: expect.stringContaining('not a public address') });
  const { ALLOWED_PRIVATE_RANGES } = testConfig({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  expect(await createSmtpSender({ ...config, ALLOWED_PRIVATE_RANGES })(letter, NEVER)).toEqual({
    kind: 'sent',
  });
  expect(server.received).toHaveLength(1);
});
