import { createECDH } from 'node:crypto';
import { DURABLE, retryOnDuplicateKey } from '../platform/mongo.ts';
import type { RemindersDeps } from './deps.ts';
import type { PushKey } from './push-key.ts';

export type OpenedPushKey = { publicKey: string; privateKey: string };

const VAPID = 'vapid';
const CONTEXT = 'push key';

type KeyDeps = Pick<RemindersDeps, 'pushKeys' | 'secrets' | 'clock'>;

/** The public key. If there is none yet, makes one; of several processes that do so at once, the first one's stays. */
export async function readPushKey(deps: KeyDeps): Promise<string> {
  return (await ensurePushKey(deps)).publicKey;
}

/** @throws {UnsealError} if the key was sealed under another `SECRET_KEY` */
export async function openPushKey(deps: KeyDeps): Promise<OpenedPushKey> {
  const { publicKey, sealedPrivateKey } = await ensurePushKey(deps);
  return { publicKey, privateKey: deps.secrets.open(sealedPrivateKey, CONTEXT) };
}

async function ensurePushKey({ pushKeys, secrets, clock }: KeyDeps): Promise<PushKey> {
  const found = await pushKeys.findOne({ _id: VAPID });
  if (found) return found;
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys('base64url');
  // Node leaves out leading zeros; the key always has 32 bytes.
  const privateKey = pair.getPrivateKey('hex').padStart(64, '0');
  const made = {
    publicKey,
    sealedPrivateKey: secrets.seal(Buffer.from(privateKey, 'hex').toString('base64url'), CONTEXT),
    createdAt: clock.now(),
  };
  const stored = await retryOnDuplicateKey(() =>
    pushKeys.findOneAndUpdate(
      { _id: VAPID },
      { $setOnInsert: made },
      { upsert: true, returnDocument: 'after', writeConcern: DURABLE },
    ),
  );
  return stored ?? { _id: VAPID, ...made };
}
