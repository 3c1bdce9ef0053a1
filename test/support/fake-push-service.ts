import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import { listen, testCertificate, trustTestAuthority } from './fake-http-listener.ts';

/** The decryption of browsers (RFC 8188), which comes with `web-push`. */
const ece = createRequire(import.meta.url)('http_ece') as {
  decrypt(body: Buffer, how: object): Buffer;
};

type Message = { path: string; headers: IncomingHttpHeaders; body: Buffer };

/** What a browser's `PushSubscription` has. */
export type FakeSubscription = {
  endpoint: string;
  p256dh: string;
  auth: string;
  /** What this browser reads in a message. */
  read(message: Message): unknown;
};

/** A push service for votes.example.org, until the test ends. The process trusts its certificate. */
export type FakePushService = {
  received: Message[];
  /** How many messages were answered at once, at most. */
  mostAtOnce: number;
  connections: number;
  answer: (response: ServerResponse, message: Message) => void;
  subscribe(): FakeSubscription;
};

export const PUSH_HOST = 'votes.example.org';

/** Resolves each name to this machine. */
export const toThisMachine = async () => [{ address: '127.0.0.1' }];

/** Like a real one, it answers 403 to a message without a valid VAPID token (RFC 8292), and otherwise by default 201. */
export async function startFakePushService(): Promise<FakePushService> {
  trustTestAuthority();
  let running = 0;
  const service: FakePushService = {
    received: [],
    mostAtOnce: 0,
    connections: 0,
    answer: (response) => void response.writeHead(201).end(),
    subscribe: () => newSubscription(port),
  };
  const pem = testCertificate('votes');
  const server = https.createServer({ key: pem, cert: pem }, async (request, response) => {
    running += 1;
    service.mostAtOnce = Math.max(service.mostAtOnce, running);
    response.on('close', () => {
      running -= 1;
    });
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const message = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces) };
    if (!isAuthorized(message.headers, `https://${PUSH_HOST}:${port}`)) return response.writeHead(403).end();
    service.received.push(message);
    return service.answer(response, message);
  });
  server.on('secureConnection', () => {
    service.connections += 1;
  });
  const port = await listen(server);
  return service;
}

function newSubscription(port: number): FakeSubscription {
  const pair = createECDH('prime256v1');
  const p256dh = pair.generateKeys('base64url');
  const auth = randomBytes(16).toString('base64url');
  return {
    endpoint: `https://${PUSH_HOST}:${port}/push/${randomBytes(9).toString('base64url')}`,
    p256dh,
    auth,
    read: ({ body }) =>
      JSON.parse(String(ece.decrypt(body, { version: 'aes128gcm', privateKey: pair, authSecret: auth }))),
  };
}

/** RFC 8292: a token for this origin, signed by the key in `k`, valid for at most a day, that names whom to ask. */
function isAuthorized({ authorization = '' }: IncomingHttpHeaders, origin: string): boolean {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  if (point.length !== 65) return false;
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  const jwk = { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' };
  const publicKey = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    publicKey,
    Buffer.from(signature, 'base64url'),
  );
  const { aud, exp, sub } = JSON.parse(String(Buffer.from(claims, 'base64url')));
  const left = exp - Date.now() / 1_000;
  return isSigned && aud === origin && left > 0 && left <= 86_400 && /^(https:|mailto:)/.test(sub);
}
