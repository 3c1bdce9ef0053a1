import { isIP, type Socket } from 'node:net';
import tls, { type PeerCertificate } from 'node:tls';
import type { OutcomeCode } from '../listeners/outcomes.ts';
import { type Deadline, PeerConnection } from './peer-connection.ts';

type TlsFailure = {
  fault: OutcomeCode;
  /** Without the TLS library's advice. If the certificate is for another name: that name. */
  detail: string;
};

/** The certificate must be for `host` (an IP address has no brackets) and from an authority that Node trusts. */
export function secure(
  socket: Socket,
  host: string,
  { until, stop }: Deadline,
): Promise<PeerConnection | TlsFailure> {
  return new Promise((resolve) => {
    const secured = tls.connect({
      socket,
      host,
      // An IP address must not be sent as SNI. The certificate is still checked against `host`.
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
    const fail = (fault: OutcomeCode, detail = '') => settle({ fault, detail });
    const onStop = () => fail('stopped-before-written');
    const timer = setTimeout(() => fail('silent'), Math.max(0, until - performance.now()));
    if (stop?.aborted) onStop();
    else stop?.addEventListener('abort', onStop);
    // Never removed: an error after the handshake would be an uncaught exception.
    secured
      .on('error', (error: NodeJS.ErrnoException) => fail(faultOf(error), detailOf(error)))
      .once('secureConnect', () => settle(new PeerConnection(secured)));
  });
}

/** Of any version: the service completes the handshake, sends an alert, or chooses a version that Node refuses. */
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
 * OpenSSL's `reason` if there is one: the message names source files. After `; if ` comes advice for administrators.
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

const MEANINGS: Record<string, OutcomeCode> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-other-name',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-not-yet-valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-self-signed',
  // The authority is a private one, which browsers do not know.
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-incomplete',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-incomplete',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-incomplete',
  // TLS 1.1 or older, or none of the versions that Tallyport offers.
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'tls-too-old',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'tls-too-old',
};

function faultOf({ code = '', syscall }: NodeJS.ErrnoException): OutcomeCode {
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  if (meaning) return meaning;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'tls-failed';
  if (syscall !== undefined || code === 'ECONNRESET') return 'closed-before-greeting';
  return 'certificate-refused';
}
