import type { ObjectId } from 'mongodb';
import { type SecretBox, UnsealError } from '../platform/secrets.ts';
import {
  endingOf,
  readWebhookAddress,
  type WebhookKey,
  webhookIn,
  webhookText,
} from './discord/webhook-address.ts';
import type { Subscription } from './subscription.ts';

/** The encryption context: a secret of another subscription cannot be decrypted with it. */
function contextOf(subscriptionId: ObjectId): string {
  return `subscription ${subscriptionId.toHexString()}`;
}

export function sealForSubscription(secrets: SecretBox, subscriptionId: ObjectId, secret: string): string {
  return secrets.seal(secret, contextOf(subscriptionId));
}

/** The signing secrets (`whsec_…`) of `http`. @throws {UnsealError} when the key that sealed one is lost */
export function openSigningSecrets(
  secrets: SecretBox,
  { _id, sealedSecret, previousSecret }: Pick<Subscription, '_id' | 'sealedSecret' | 'previousSecret'>,
): { secret: string; previous: { secret: string; until: Date } | null } {
  const open = (sealed: string) => secrets.open(sealed, contextOf(_id));
  const previous = previousSecret
    ? { secret: open(previousSecret.sealed), until: previousSecret.until }
    : null;
  return { secret: open(sealedSecret), previous };
}

/** Migration 0008 has no key, so the address of an earlier notification webhook keeps its context. */
function earlierContextOf(serverId: ObjectId): string {
  return `discord webhook of ${serverId.toHexString()}`;
}

/** Of `discord`. @throws {UnsealError} when the key that sealed it is lost */
export function openSubscribedWebhook(
  secrets: SecretBox,
  subscription: Pick<Subscription, '_id' | 'serverId' | 'sealedSecret'>,
): WebhookKey {
  const { _id, serverId, sealedSecret } = subscription;
  try {
    return webhookIn(secrets.open(sealedSecret, contextOf(_id)));
  } catch (error) {
    // The migrated subscription has the server's id, until its address is replaced it is sealed as before.
    if (!(error instanceof UnsealError) || !_id.equals(serverId)) throw error;
    return webhookIn(secrets.open(sealedSecret, earlierContextOf(serverId)));
  }
}

/**
 * False if the stored one cannot be opened.
 *
 * @throws {InvalidDocumentError} for `webhook`, if the address is invalid
 */
export function isSubscribedWebhook(
  secrets: SecretBox,
  subscription: Pick<Subscription, '_id' | 'serverId' | 'sealedSecret'>,
  address: string,
): boolean {
  const key = readWebhookAddress(address);
  try {
    return webhookText(openSubscribedWebhook(secrets, subscription)) === webhookText(key);
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}

/** @throws {InvalidDocumentError} for `webhook`, if the address is invalid */
export function webhookFields(
  secrets: SecretBox,
  subscriptionId: ObjectId,
  address: string,
): Pick<Subscription, 'sealedSecret'> & { ending: string } {
  const key = readWebhookAddress(address);
  const sealedSecret = sealForSubscription(secrets, subscriptionId, webhookText(key));
  return { sealedSecret, ending: endingOf(key) };
}
