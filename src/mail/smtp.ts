import { createHash } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { AddressRanges } from '../platform/address-guard.ts';
import { SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { within } from '../platform/deadline.ts';
import { hostOf } from '../platform/host-and-port.ts';
import { printable } from '../platform/printable.ts';
import { resolveAddress } from '../platform/resolve-address.ts';

export type Letter = {
  id: string;
  to: string;
  subject: string;
  text: string;
  /** See `Mail`. */
  stopUrl?: string | null | undefined;
};

/**
 * `refused`: the server will never accept this message for this address. `failed`: a later attempt may succeed; if the
 * connection broke after the text was sent, the server may have accepted it. `retryAfterMs`: the delay that the server
 * requested.
 */
export type SendLetterResult =
  | { kind: 'sent' }
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; reason: string; retryAfterMs?: number };

/** Errors of the server are returned, not thrown. */
export type SendLetter = (letter: Letter, signal: AbortSignal) => Promise<SendLetterResult>;

/** Of each step and of the whole attempt: a slow mail server must not occupy a worker's slot for long. */
const CONNECT_MS = 10 * SECOND;
const SILENCE_MS = 20 * SECOND;
const LONGEST_SEND_MS = 60 * SECOND;

export type MailSettings = AddressRanges & Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'PUBLIC_URL' | 'given'>;

/**
 * Each mail has its own connection, because mails are few. A server that was entered in the admin area must have public
 * addresses (design rule 11); one of the environment may be in a private network. `longestMs`: of an attempt, without
 * the look-up of the server.
 */
export function createSmtpSender(config: MailSettings, longestMs = LONGEST_SEND_MS): SendLetter {
  return async ({ id, to, subject, text, stopUrl }, signal) => {
    try {
      const transport = await openTransport(await serverOf(config, signal));
      await transport.sendMail({
        from: config.MAIL_FROM,
        to: { name: '', address: to },
        subject,
        text,
        messageId: messageId(id, config),
        // Prevents automatic replies (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated', ...stopHeaders(stopUrl) },
        signal: AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
      });
      return { kind: 'sent' };
    } catch (error) {
      return failureOf(error);
    }
  };
}

/** RFC 2369, and RFC 8058 for mailboxes that show a button; that one requires HTTPS. */
function stopHeaders(url: Letter['stopUrl']): Record<string, string> {
  if (!url) return {};
  const oneClick = url.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {};
  return { 'List-Unsubscribe': `<${url}>`, ...oneClick };
}

type Server = { url: string; servername?: string; name?: string };

/**
 * A server that was entered in the admin area gets a checked address in place of its name, because a second look-up
 * could return another one.
 * @throws {AddressError} if its name does not resolve, or an address is refused
 */
async function serverOf(config: MailSettings, signal: AbortSignal): Promise<Server> {
  const { SMTP_URL: url } = config;
  if (url === undefined) throw new Error('SMTP_URL is not set');
  const name = greetingName(config);
  if (config.given.has('SMTP_URL')) return { url, ...name };
  const server = new URL(url);
  const host = hostOf(server);
  const [address = host] = await resolveAddress(host, { ranges: config, timeoutMs: CONNECT_MS, signal });
  server.hostname = isIPv6(address) ? `[${address}]` : address;
  return { url: server.href, ...name, ...(isIP(host) ? {} : { servername: host }) };
}

/**
 * The machine's own name has no domain in a container: the library then greets with `[127.0.0.1]`, which Gmail's relay
 * and a strict Postfix refuse.
 */
function greetingName({ PUBLIC_URL }: MailSettings): { name?: string } {
  const name = hostOf(new URL(PUBLIC_URL));
  return isIP(name) || !name.includes('.') ? {} : { name };
}

async function openTransport(
  { url, servername, name }: Server,
  connectMs = CONNECT_MS,
  silenceMs = SILENCE_MS,
) {
  // Processes which send no mail do not load the library.
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    ...(name === undefined ? {} : { name }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(servername === undefined ? {} : { tls: { servername } }),
  });
}

/**
 * Signs in without sending a mail.
 * @param timeoutMs - of each step and of the whole check
 * @throws what the mail server answered, or why the connection failed
 */
export async function verifyMailServer(config: MailSettings, timeoutMs: number): Promise<void> {
  const server = await serverOf(config, AbortSignal.timeout(timeoutMs));
  const transport = await openTransport(server, timeoutMs, timeoutMs);
  await within(timeoutMs, transport.verify()).finally(() => transport.close());
}

/** The same in every attempt, so that a mail server or reader can detect a duplicate. */
function messageId(id: string, { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): string {
  const name = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return `<${name}@${new URL(PUBLIC_URL).hostname}>`;
}

function failureOf(error: unknown): SendLetterResult {
  const { message, code, command, permanent } = error as Error & {
    code?: string;
    command?: string;
    permanent?: boolean;
  };
  const reason = printable(`${code ?? ''} ${message}`);
  // If the sender or the sign-in was refused, an operator can correct the settings, so the mail is tried again.
  const isFinal = permanent === true && (command === 'RCPT TO' || command === 'DATA');
  return { kind: isFinal ? 'refused' : 'failed', reason };
}
