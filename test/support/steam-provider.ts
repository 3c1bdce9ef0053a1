import { createHmac, randomBytes } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { atTheEnd } from './at-the-end.ts';

const NAMESPACE = 'http://specs.openid.net/auth/2.0';
/** What Steam signs, in its order. */
const SIGNED = [
  'signed',
  'op_endpoint',
  'claimed_id',
  'identity',
  'return_to',
  'response_nonce',
  'assoc_handle',
];

/** A provider of OpenID 2.0 on loopback. It is closed when the test or the file ends (see `atTheEnd`). */
export type SteamProvider = {
  /** The settings of a listing that uses it as Steam. */
  env: Record<string, string>;
  /** The last part of the identity of the player who is signed in there; null: the player cancels. */
  player: string | null;
  /** The time at the beginning of the nonces. */
  now: () => Date;
  /** How many times it was asked whether it signed an answer. */
  checks: number;
  /** How it answers that question, if not as it should. */
  behaviour: 'answers' | 'hangs' | 'fails' | 'redirects' | 'drips' | 'talks';
};

/**
 * Does what the example server of python3-openid 3.2.0 was seen to do, with the fields that Steam sends: it signs an
 * answer with a key that only it knows, and confirms each answer once; an answer that was changed, or comes again, gets
 * `is_valid:false`.
 */
export async function startSteamProvider(): Promise<SteamProvider> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTheEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openid`;
  const provider: SteamProvider = {
    env: { STEAM_SIGN_IN: 'on', STEAM_OPENID_URL: `${root}/login` },
    player: '76561197960287930',
    now: () => new Date(),
    checks: 0,
    behaviour: 'answers',
  };
  const keys = new Map<string, Buffer>();
  server.on('request', async (request, response) => {
    if (request.method === 'POST') {
      provider.checks += 1;
      return answerCheck(provider, keys, request, response);
    }
    const asked = new URL(request.url ?? '', root).searchParams;
    response.writeHead(302, { location: answerOf(provider, keys, root, asked).href }).end();
  });
  return provider;
}

/** The address to which a player is sent back. */
function answerOf(
  provider: SteamProvider,
  keys: Map<string, Buffer>,
  root: string,
  asked: URLSearchParams,
): URL {
  const returnTo = asked.get('openid.return_to') ?? '';
  const back = new URL(returnTo);
  const set = (fields: Record<string, string>) => {
    for (const [name, value] of Object.entries(fields)) back.searchParams.set(`openid.${name}`, value);
  };
  if (provider.player === null) {
    set({ ns: NAMESPACE, mode: 'cancel' });
    return back;
  }
  const handle = randomBytes(6).toString('hex');
  const identity = `${root}/id/${provider.player}`;
  const time = provider
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');
  keys.set(handle, randomBytes(20));
  set({
    ns: NAMESPACE,
    mode: 'id_res',
    op_endpoint: `${root}/login`,
    claimed_id: identity,
    identity,
    return_to: returnTo,
    response_nonce: `${time}${randomBytes(15).toString('base64')}`,
    assoc_handle: handle,
    signed: SIGNED.join(','),
  });
  set({ sig: signatureOf(keys.get(handle), back.searchParams) });
  return back;
}

function signatureOf(key: Buffer | undefined, fields: URLSearchParams): string {
  const lines = (fields.get('openid.signed') ?? '')
    .split(',')
    .map((name) => `${name}:${fields.get(`openid.${name}`)}\n`);
  return createHmac('sha1', key ?? '')
    .update(lines.join(''))
    .digest('base64');
}

async function answerCheck(
  { behaviour }: SteamProvider,
  keys: Map<string, Buffer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fields = new URLSearchParams(await text(request));
  const handle = fields.get('openid.assoc_handle') ?? '';
  const isAsked = fields.get('openid.mode') === 'check_authentication' && keys.has(handle);
  const isValid = isAsked && signatureOf(keys.get(handle), fields) === fields.get('openid.sig');
  keys.delete(handle);
  switch (behaviour) {
    case 'answers':
      response.end(`ns:${NAMESPACE}\nis_valid:${isValid}\n`);
      return;
    case 'fails':
      response.writeHead(503).end(`ns:${NAMESPACE}\nis_valid:true\n`);
      return;
    case 'redirects':
      response.writeHead(302, { location: '/elsewhere' }).end();
      return;
    case 'talks':
      response.end('<p>is_valid:true</p>');
      return;
    case 'drips':
      response.write('x'.repeat(300 * 1_024));
      return;
    case 'hangs':
  }
}
