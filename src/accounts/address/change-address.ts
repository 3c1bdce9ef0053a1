import { type Document, ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { putMail } from '../../mail/outbox.ts';
import { recordAuditOnce } from '../../platform/audit/audit-log.ts';
import { after, DAY } from '../../platform/clock.ts';
import { checked, InvalidDocumentError } from '../../platform/document.ts';
import { emailAddress, LONGEST_EMAIL } from '../../platform/email-address.ts';
import { parseInput } from '../../platform/input.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import { DURABLE, isDuplicateKey, retryOnDuplicateKey } from '../../platform/mongo.ts';
import { reasonText } from '../../platform/text.ts';
import type { AccountsDeps } from '../deps.ts';
import { inLanguageOfUser } from '../mail-language.ts';
import { changedText, confirmNewText, confirmOldText, operatorOldText } from '../mail-text.ts';
import { hashOneTimeToken, makeOneTimeToken } from '../one-time-token.ts';
import { notifyKnownAddress } from '../send-link.ts';
import type { User } from '../user.ts';
import { type Decider, decide, endSessions } from '../users.ts';
import { type AddressChange, CONFIRM_MS } from './address-change.ts';

/** Each request mails an address that the user typed. */
export const ADDRESS_CHANGES = defineLimit({
  key: 'address-change',
  what: 'Changes of the e-mail address on a listing that sends mail',
  of: 'user',
  times: 5,
  windowMs: DAY,
  beyond: '429',
});

type Own = { user: Pick<User, '_id' | 'email'>; sessionId: ObjectId };

export const addressSchema = emailAddress(
  { error: () => t('must be an e-mail address') },
  { error: () => t('must have at most {most} characters', { most: LONGEST_EMAIL }) },
);

const newAddress = z.object({ email: addressSchema });

/**
 * `waiting`: the other address must confirm too. `taken`: another account has the new address by now. `useless-link`:
 * the change is unknown, expired, cancelled or complete, or its user was suspended or deleted, or has a third address
 * by now.
 */
export type Confirmed = 'waiting' | 'changed' | 'taken' | 'useless-link';

/**
 * Each of the two addresses gets a link, and the address changes when both have confirmed. If another account has the
 * new address, only that account's owner learns it, by mail.
 *
 * @throws {InvalidDocumentError} for `email`, if it is not an address or is the present address
 */
export async function requestAddressChange(
  deps: AccountsDeps,
  { user, sessionId }: Own,
  input: { email: string },
): Promise<void> {
  const to = differentAddress(user, input);
  const { change, oldLink, newLink } = await storeChange(deps, user, { to, sessionId });
  await putMail(deps, { to: change.from, ...confirmOldText(deps.config, change, oldLink) });
  const holder = await deps.users.findOne({ email: to });
  if (holder) await notifyKnownAddress(deps, holder);
  else await putMail(deps, { to, ...confirmNewText(deps.config, newLink) });
}

type Wanted = { to: string; sessionId: ObjectId } & Partial<Pick<AddressChange, 'by' | 'oldConfirmedAt'>>;

/** The new change replaces an earlier one. */
async function storeChange(deps: AccountsDeps, user: Pick<User, '_id' | 'email'>, wanted: Wanted) {
  const earlier = await findAddressChange(deps, user._id);
  // Both addresses have confirmed it, so it is completed first.
  if (earlier?.decidedAt) await finishAddressChange(deps, earlier);
  const now = deps.clock.now();
  const [oldToken, newToken] = [makeOneTimeToken(), makeOneTimeToken()];
  const change = await checked<AddressChange>(deps.addressChanges, {
    _id: user._id,
    changeId: new ObjectId(),
    from: user.email,
    oldToken: hashOneTimeToken(oldToken),
    newToken: hashOneTimeToken(newToken),
    requestedAt: now,
    oldConfirmedAt: null,
    newConfirmedAt: null,
    expiresAt: after(now, CONFIRM_MS),
    ...wanted,
  });
  const { _id, ...replacement } = change;
  await retryOnDuplicateKey(() => deps.addressChanges.replaceOne({ _id }, replacement, { upsert: true }));
  const link = (token: string) => `${deps.config.PUBLIC_URL}/confirm-address?token=${token}`;
  return { change, oldLink: link(oldToken), newLink: link(newToken) };
}

/**
 * For a listing that sends no mail and so cannot confirm an address. All sessions of the user except `sessionId` end.
 * `who`: for the audit log: the user, an operator, or `cli`. False if another account has the address.
 *
 * @throws {InvalidDocumentError} for `email`, if it is not an address or is the present address
 */
export async function changeAddressUnconfirmed(
  deps: AccountsDeps,
  { user, sessionId }: Own,
  input: { email: string },
  who = user.email,
): Promise<boolean> {
  const to = differentAddress(user, input);
  const change = { _id: user._id, changeId: new ObjectId(), from: user.email, to, sessionId, by: who };
  const isSet = await setAddress(deps, change, { emailVerified: false });
  if (!isSet) return false;
  await endSessions(deps, user._id, sessionId);
  return true;
}

/** @throws {InvalidDocumentError} for `email`, if it is not an address or is the present address */
function differentAddress({ email }: Pick<User, 'email'>, input: { email: string }): string {
  const { email: to } = parseInput(newAddress, input);
  if (to === email) throw new InvalidDocumentError({ email: t('This is your e-mail address already.') });
  return to;
}

export async function findAddressChange({ addressChanges, clock }: AccountsDeps, userId: ObjectId) {
  return usable(await addressChanges.findOne({ _id: userId }), clock.now());
}

/** `end`: which of the two addresses got the link. Null if the link does not work. */
export async function changeOfLink(
  { addressChanges, clock }: AccountsDeps,
  token: string,
): Promise<{ change: AddressChange; end: 'old' | 'new' } | null> {
  const hash = hashOneTimeToken(token);
  const [byOld, byNew] = await Promise.all([
    addressChanges.findOne({ oldToken: hash }),
    addressChanges.findOne({ newToken: hash }),
  ]);
  const change = usable(byOld ?? byNew, clock.now());
  return change && { change, end: byOld ? 'old' : 'new' };
}

/** Null if expired: MongoDB deletes expired changes up to a minute late. */
function usable(change: AddressChange | null, now: Date): AddressChange | null {
  return change && (change.decidedAt || (change.expiresAt && change.expiresAt > now)) ? change : null;
}

/** If the process dies before the second confirmation has changed the address, a repeated call completes the change. */
export async function confirmAddressChange(deps: AccountsDeps, token: string): Promise<Confirmed> {
  const found = await changeOfLink(deps, token);
  if (!found) return 'useless-link';
  const { _id, changeId } = found.change;
  const now = deps.clock.now();
  const field = found.end === 'old' ? 'oldConfirmedAt' : 'newConfirmedAt';
  const confirmed = await deps.addressChanges.findOneAndUpdate({ _id, changeId }, confirmation(field, now), {
    returnDocument: 'after',
    writeConcern: DURABLE,
  });
  if (!confirmed) return 'useless-link';
  return confirmed.decidedAt ? finishAddressChange(deps, confirmed) : 'waiting';
}

/** With both confirmations, also sets `decidedAt`. */
function confirmation(field: 'oldConfirmedAt' | 'newConfirmedAt', now: Date): Document[] {
  const both = { $and: ['$oldConfirmedAt', '$newConfirmedAt'] };
  return [
    { $set: { [field]: { $ifNull: [`$${field}`, now] } } },
    {
      $set: {
        decidedAt: { $cond: [both, { $ifNull: ['$decidedAt', now] }, '$$REMOVE'] },
        expiresAt: { $cond: [both, '$$REMOVE', '$expiresAt'] },
      },
    },
  ];
}

/** Completes changes that were interrupted after their second confirmation. */
export async function finishAddressChanges(deps: AccountsDeps, signal?: AbortSignal): Promise<number> {
  let finished = 0;
  for await (const change of deps.addressChanges.find({ decidedAt: { $exists: true } })) {
    signal?.throwIfAborted();
    await finishAddressChange(deps, change);
    finished += 1;
  }
  return finished;
}

/** Each step can be repeated: after a crash, a call does all of them. */
async function finishAddressChange(deps: AccountsDeps, change: AddressChange): Promise<Confirmed> {
  const { _id, changeId, to } = change;
  const user = await deps.users.findOne({ _id });
  const isDue = user !== null && !user.suspendedAt && (user.email === change.from || user.email === to);
  if (!isDue || !(await setAddress(deps, change, { emailVerified: true }))) {
    await deps.addressChanges.deleteOne({ _id, changeId });
    return isDue ? 'taken' : 'useless-link';
  }
  await endSessions(deps, _id, change.sessionId);
  await deps.verifications.deleteMany({ value: to });
  for (const [end, address] of Object.entries({ old: change.from, new: to })) {
    const id = `address-changed:${changeId.toHexString()}:${end}`;
    await putMail(deps, { id, to: address, ...changedText(deps.config, change) });
  }
  await deps.adoptServers(_id);
  await deps.addressChanges.deleteOne({ _id, changeId });
  return 'changed';
}

type Decided = Pick<AddressChange, '_id' | 'changeId' | 'from' | 'to' | 'sessionId' | 'by'>;

/** False when another account has the address. */
async function setAddress(
  deps: AccountsDeps,
  { _id, changeId, from, to, by }: Decided,
  { emailVerified }: Pick<User, 'emailVerified'>,
): Promise<boolean> {
  const now = deps.clock.now();
  const set = { email: to, emailVerified, emailChangedAt: now, updatedAt: now };
  try {
    await deps.users.updateOne({ _id, email: from }, { $set: set }, { writeConcern: DURABLE });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return false;
  }
  const details = { personId: _id.toHexString(), from, to };
  const entry = { by: by ?? from, action: 'account.email', serverId: null, details } as const;
  await recordAuditOnce(deps, changeId, entry);
  return true;
}

export async function cancelAddressChange(
  { addressChanges }: AccountsDeps,
  { _id, changeId }: Pick<AddressChange, '_id' | 'changeId'>,
): Promise<boolean> {
  const { deletedCount } = await addressChanges.deleteOne({ _id, changeId, decidedAt: { $exists: false } });
  return deletedCount === 1;
}

/** Called when the user sets a new password: somebody who knew the old one may have requested the change. */
export async function cancelAddressChangeOf({ addressChanges }: AccountsDeps, userId: ObjectId) {
  await addressChanges.deleteOne({ _id: userId, decidedAt: { $exists: false } });
}

const reasonSchema = z.object({ reason: reasonText });

/**
 * For a user who cannot read mails to the old address any more. The new address must confirm, so that a mistyped one
 * gives nobody the account; the old one gets a link that cancels the change. All sessions end; the password and the
 * second factor stay. `input`: `reason` is for the audit log; the user does not see it. Returns `changed` if the
 * listing sends no mail and so cannot confirm an address.
 *
 * @throws {InvalidDocumentError} for invalid input, an address of another account, or a suspended user; {UserError} as
 *   in `decide`
 */
export async function changeAddressFor(
  deps: AccountsDeps,
  userId: ObjectId,
  input: { email: string; reason: string },
  who: Decider,
): Promise<'requested' | 'changed'> {
  const { reason } = parseInput(reasonSchema, { reason: input.reason });
  const sendsMail = deps.config.SMTP_URL !== undefined;
  await decide(deps, userId, who, {}, async (user) => {
    const to = differentAddress(user, input);
    if (user.suspendedAt) throw new InvalidDocumentError({ email: 'Lift the suspension first.' });
    if (await deps.users.findOne({ email: to }, { projection: { _id: 1 } })) throw taken();
    // No session has this id, so all sessions end after the change.
    const sessionId = new ObjectId();
    if (sendsMail) {
      const wanted = { to, sessionId, by: who.by, oldConfirmedAt: deps.clock.now() };
      const { change, oldLink, newLink } = await storeChange(deps, user, wanted);
      const [oldText, newText] = inLanguageOfUser(deps.config, user, () => [
        operatorOldText(deps.config, change, oldLink),
        confirmNewText(deps.config, newLink),
      ]);
      await putMail(deps, { to: change.from, ...oldText });
      await putMail(deps, { to, ...newText });
      await endSessions(deps, userId);
    } else if (!(await changeAddressUnconfirmed(deps, { user, sessionId }, { email: to }, who.by))) {
      throw taken();
    }
    return { action: 'person.email', details: { to, reason } };
  });
  return sendsMail ? 'requested' : 'changed';
}

function taken(): InvalidDocumentError {
  return new InvalidDocumentError({ email: 'Another account has this address.' });
}
