import { isIP, type Socket } from 'node:net';
import tls, { type PeerCertificate } from 'node:tls';
import type { OutcomeCode } from '../listeners/outcomes.ts';
import { type Deadline, PeerConnection } from './connection.ts';

/** Why there is no secure connection. */
type TlsFailure = {
  fault: Extract<
    OutcomeCode,
    | 'tls-failed'
    | 'tls-too-old'
    | 'certificate-refused'
    | 'certificate-other-name'
    | 'certificate-expired'
    | 'certificate-not-yet-valid'
    | 'certificate-self-signed'
    | 'certificate-incomplete'
    | 'closed-before-greeting'
    | 'silent'
    | 'stopped-before-written'
  >;
  /** The error of the TLS library without its advice. For a certificate of another name, that name. */
  detail: string;
};

/**
 * Performs the TLS handshake over a connected socket and checks the certificate against `host` and the authorities that
 * this machine's Node trusts.
 *
 * @param host - the name in the URL, or its IP address without brackets
 */
export function secure(
  socket: Socket,
  host: string,
  { until, stop }: Deadline,
): Promise<PeerConnection | TlsFailure> {
  return new Promise((resolve) => {
    const secured = tls.connect({
      socket,
      host,
      // SNI must not contain an IP address. Without it, the certificate is checked against `host`.
      ...(isIP(host) ? {} : { servername: host }),
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
    });
    const settle = (result: PeerConnection | TlsFailure) => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', onStop);
      if (!(result instanceof PeerConnection)) secured.destroy();
      resolve(result);
    };
    const fail = (fault: TlsFailure['fault'], detail = '') => settle({ fault, detail });
    const onStop = () => fail('stopped-before-written');
    const timer = setTimeout(() => fail('silent'), Math.max(0, until - performance.now()));
    if (stop?.aborted) onStop();
    else stop?.addEventListener('abort', onStop);
    // Never removed: after the handshake, the connection still reports errors.
    secured
      .on('error', (error: NodeJS.ErrnoException) => fail(faultOf(error), detailOf(error)))
      .once('secureConnect', () => settle(new PeerConnection(secured)));
  });
}

/**
 * Whether a service speaks any version of TLS: it completes the handshake or refuses it with an alert. `false` when
 * neither happened before the deadline.
 */
export function speaksTls(connection: PeerConnection, { until, stop }: Deadline): Promise<boolean> {
  return new Promise((resolve) => {
    const secured = tls.connect({ socket: connection.socket, rejectUnauthorized: false });
    const settle = (speaks: boolean) => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', onStop);
      secured.destroy();
      resolve(speaks);
    };
    const onStop = () => settle(false);
    const timer = setTimeout(() => settle(false), Math.max(0, until - performance.now()));
    if (stop?.aborted) onStop();
    else stop?.addEventListener('abort', onStop);
    secured
      .on('error', ({ code = '' }: NodeJS.ErrnoException) =>
        settle(code.includes('ALERT') || code === 'ERR_SSL_UNSUPPORTED_PROTOCOL'),
      )
      .on('close', () => settle(false))
      .once('secureConnect', () => settle(true));
  });
}

/**
 * The reason of a TLS error, for the owner of a website. OpenSSL's reason is in a field of its own, while the message
 * contains source lines. The text after a semicolon is advice for the administrator of this Node process and is cut
 * off.
 */
function detailOf(error: NodeJS.ErrnoException & { reason?: string; cert?: PeerCertificate }): string {
  if (error.cert && faultOf(error) === 'certificate-other-name') {
    const { subject, subjectaltname } = error.cert;
    const names = subjectaltname?.replace(/\b(?:DNS|IP Address|URI|email):/g, '') ?? subject?.CN;
    return names ? `The certificate is for ${[names].flat().join(', ')}` : '';
  }
  const said = faultOf(error) === 'closed-before-greeting' ? '' : (error.reason ?? error.message);
  return said.replace(/; if .*/s, '');
}

/** The fault that an error code of OpenSSL or Node means for the website. */
const MEANINGS: Record<string, TlsFailure['fault']> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-other-name',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-not-yet-valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-self-signed',
  // The certificate's authority is a private one that browsers do not know.
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-incomplete',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-incomplete',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-incomplete',
  // The website chose TLS 1.1 or older, or refused every version that Tallyport offers.
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'tls-too-old',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'tls-too-old',
};

function faultOf({ code = '', syscall }: NodeJS.ErrnoException): TlsFailure['fault'] {
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  if (meaning) return meaning;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'tls-failed';
  if (syscall !== undefined || code === 'ECONNRESET') return 'closed-before-greeting';
  return 'certificate-refused';
}
