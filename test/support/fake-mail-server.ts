import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { freePort } from '../../src/own-services/free-port.ts';

/** A mail as its reader sees it. */
export type Received = {
  to: string;
  from: string;
  subject: string;
  text: string;
  messageId: string;
  /** Of RFC 2369 and RFC 8058. */
  listUnsubscribe: string | undefined;
  listUnsubscribePost: string | undefined;
  /** The name with which the sender greeted. */
  greeting: string;
};

/** How the mail server behaves. By default it accepts everything. */
export type MailBehaviour = {
  /** It refuses senders whose greeting is not the full name of a host, as Gmail's relay and a strict Postfix do. */
  needsFullName?: boolean;
  /** Its answer to the recipient: codes such as 450 are transient, 550 is final. */
  recipientCode?: number;
  /** Its answer to the text of the mail. */
  textCode?: number;
  /** It receives the text and sends no answer. */
  silentAfterText?: boolean;
  /** It receives the text and closes the connection. */
  cutAfterText?: boolean;
};

/** A mail server on loopback. It is stopped when the test ends. */
export type MailServer = {
  url: string;
  received: Received[];
  behaviour: MailBehaviour;
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
};

export async function startMailServer(): Promise<MailServer> {
  const port = await freePort();
  let server: SMTPServer | undefined;
  const mails: MailServer = {
    get url() {
      return `smtp://127.0.0.1:${port}`;
    },
    received: [],
    behaviour: {},
    async start() {
      const next = open(mails);
      server = next;
      await new Promise<void>((resolve, reject) => {
        next.once('error', reject);
        next.listen(port, '127.0.0.1', resolve);
      });
      next.on('error', () => {});
    },
    async stop() {
      const last = server;
      server = undefined;
      if (!last) return;
      for (const connection of last.connections) connection.close();
      await new Promise<void>((resolve) => last.close(() => resolve()));
    },
  };
  await mails.start();
  onTestFinished(() => mails.stop());
  return mails;
}

function open(mails: MailServer): SMTPServer {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 100,
    onMailFrom(_address, { hostNameAppearsAs: name }, done) {
      const isRefused = mails.behaviour.needsFullName && !/^[a-z][\w-]*(\.[\w-]+)+$/i.test(String(name));
      done(refusal(isRefused ? 504 : undefined));
    },
    onRcptTo(_address, _session, done) {
      done(refusal(mails.behaviour.recipientCode));
    },
    onData(stream, session, done) {
      let source = '';
      stream.on('data', (chunk: Buffer) => {
        source += chunk.toString('latin1');
      });
      stream.on('end', () => {
        const { textCode, silentAfterText, cutAfterText } = mails.behaviour;
        if (!textCode) {
          const greeting = String(session.hostNameAppearsAs);
          mails.received.push({ ...read(source, session.envelope.rcptTo[0]?.address ?? ''), greeting });
        }
        if (cutAfterText) for (const connection of server.connections) connection.close();
        else if (!silentAfterText) done(refusal(textCode));
      });
    },
  });
  return server;
}

function refusal(code: number | undefined): Error | null {
  return code ? Object.assign(new Error('not this one'), { responseCode: code }) : null;
}

function read(source: string, to: string): Omit<Received, 'greeting'> {
  const [head = '', ...body] = source.split('\r\n\r\n');
  const headers = new Map(
    head
      .replace(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const encoding = headers.get('content-transfer-encoding') ?? '7bit';
  return {
    to,
    from: headers.get('from') ?? '',
    subject: words(headers.get('subject') ?? ''),
    messageId: headers.get('message-id') ?? '',
    listUnsubscribe: headers.get('list-unsubscribe'),
    listUnsubscribePost: headers.get('list-unsubscribe-post'),
    text: decoded(body.join('\r\n\r\n'), encoding).replaceAll('\r\n', '\n').trim(),
  };
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  return encoding === 'quoted-printable' ? quotedPrintable(body.replaceAll('=\r\n', '')) : body;
}

function quotedPrintable(value: string): string {
  return Buffer.from(
    value.replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}

/** Decodes the RFC 2047 words in a header. */
function words(value: string): string {
  return value
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : quotedPrintable(word.replaceAll('_', ' ')),
    );
}
