import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import type { OutcomeCode } from '../listeners/outcomes.ts';
import { type Deadline, PeerConnection } from './connection.ts';

/** Why there is no secure connection. */
type TlsFailure = {
  fault: Extract<
    OutcomeCode,
    'tls-failed' | 'certificate-refused' | 'closed-before-greeting' | 'silent' | 'stopped-before-written'
  >;
  /** The error of the TLS library; for a certificate of another name, that name. */
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
      // SNI must not contain an IP address; the certificate is checked against `host` then.
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
    stop?.addEventListener('abort', onStop);
    // Not removed: after the handshake the connection reports errors.
    secured
      .on('error', (error: NodeJS.ErrnoException) => fail(faultOf(error), detailOf(error)))
      .once('secureConnect', () => settle(new PeerConnection(secured)));
  });
}

/** Node puts OpenSSL's reason into a separate field; its message contains OpenSSL's source lines. */
function detailOf(error: NodeJS.ErrnoException & { reason?: string }): string {
  return faultOf(error) === 'closed-before-greeting' ? '' : (error.reason ?? error.message);
}

function faultOf({ code = '', syscall }: NodeJS.ErrnoException): TlsFailure['fault'] {
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'tls-failed';
  if (syscall !== undefined || code === 'ECONNRESET') return 'closed-before-greeting';
  return 'certificate-refused';
}
