import { ObjectId } from 'mongodb';
import { putMail } from '../../mail/outbox.ts';
import type { AuditAction } from '../../platform/audit/audit-actions.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { after, DAY } from '../../platform/clock.ts';
import { checked } from '../../platform/document.ts';
import { DURABLE, isDuplicateKey } from '../../platform/mongo.ts';
import { canBeMailed } from '../can-be-mailed.ts';
import type { AccountsDeps } from '../deps.ts';
import { keptText, requestedText } from '../mail-text.ts';
import { hashOneTimeToken, makeOneTimeToken } from '../one-time-token.ts';
import type { User } from '../user.ts';
import { decidingAlone, refuseLastOperator } from '../users.ts';
import type { AccountDeletion } from './account-deletion.ts';

export const DELETION_DELAY_MS = 7 * DAY;
export const DELETION_DELAY_DAYS = DELETION_DELAY_MS / DAY;

/**
 * Mails a link that cancels the deletion. A repeated request changes nothing.
 *
 * @throws {UserError} `last-operator` when no operator would remain
 */
export async function requestDeletion(
  deps: AccountsDeps,
  user: Pick<User, '_id' | 'email' | 'emailVerified' | 'role' | 'suspendedAt'>,
): Promise<AccountDeletion> {
  const token = makeOneTimeToken();
  const { deletion, isNew } = await decidingAlone(deps, async () => {
    const existing = await findDeletion(deps, user._id);
    if (existing) return { deletion: existing, isNew: false };
    const leaving = user.role === 'operator' ? await operatorsLeaving(deps) : [];
    await refuseLastOperator(deps, user, leaving);
    const now = deps.clock.now();
    const deletion = await checked<AccountDeletion>(deps.accountDeletions, {
      _id: user._id,
      deletionId: new ObjectId(),
      requestedAt: now,
      dueAt: after(now, DELETION_DELAY_MS),
      token: hashOneTimeToken(token),
    });
    return storeDeletion(deps, deletion);
  });
  if (isNew) {
    await record(deps, user, 'account.delete-requested');
    await mailRequest(deps, user, deletion, token);
  }
  return deletion;
}

/** `isNew`: this request must mail the link. */
async function storeDeletion(
  deps: AccountsDeps,
  deletion: AccountDeletion,
): Promise<{ deletion: AccountDeletion; isNew: boolean }> {
  const { accountDeletions } = deps;
  try {
    await accountDeletions.insertOne(deletion, { writeConcern: DURABLE });
    return { deletion, isNew: true };
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  // Another request inserted the deletion, but lost the lease and sends no mail. So this request replaces the token:
  // only the link in its own mail cancels the deletion.
  const takenOver = await accountDeletions.findOneAndUpdate(
    { _id: deletion._id, begunAt: { $exists: false } },
    { $set: { token: deletion.token } },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  if (takenOver) return { deletion: takenOver, isNew: true };
  const begun = await accountDeletions.findOne({ _id: deletion._id, begunAt: { $exists: true } });
  // If the user has cancelled the other deletion meanwhile, `begun` is null, and this deletion is stored.
  return begun ? { deletion: begun, isNew: false } : storeDeletion(deps, deletion);
}

async function operatorsLeaving({ users, accountDeletions }: AccountsDeps): Promise<ObjectId[]> {
  const operators = await users.find({ role: 'operator' }, { projection: { _id: 1 } }).toArray();
  const leaving = accountDeletions.find({ _id: { $in: operators.map(({ _id }) => _id) } });
  return leaving.map(({ _id }) => _id).toArray();
}

export function findDeletion({ accountDeletions }: AccountsDeps, userId: ObjectId) {
  return accountDeletions.findOne({ _id: userId });
}

/** Null if the link does not work. */
export function deletionOfLink({ accountDeletions }: AccountsDeps, token: string) {
  return accountDeletions.findOne({ token: hashOneTimeToken(token), begunAt: { $exists: false } });
}

/**
 * Called after a restore. Users may have cancelled since the backup, so each deletion that has not begun gets its whole
 * delay again, and its user a mail with a new link. Returns the number of these.
 */
export async function repeatDeletionRequests(deps: AccountsDeps): Promise<number> {
  let repeated = 0;
  for await (const { _id } of deps.accountDeletions.find({ begunAt: { $exists: false } })) {
    const token = makeOneTimeToken();
    const dueAt = after(deps.clock.now(), DELETION_DELAY_MS);
    const deletion = await deps.accountDeletions.findOneAndUpdate(
      { _id },
      { $set: { dueAt, token: hashOneTimeToken(token) } },
      { returnDocument: 'after', writeConcern: DURABLE },
    );
    const user = await deps.users.findOne({ _id });
    if (!deletion || !user) continue;
    await mailRequest(deps, user, deletion, token);
    repeated += 1;
  }
  return repeated;
}

/** False if there is none, or if the deletion has already begun. */
export async function cancelDeletion(deps: AccountsDeps, userId: ObjectId): Promise<boolean> {
  const cancelled = await deps.accountDeletions.findOneAndDelete(
    { _id: userId, begunAt: { $exists: false } },
    { writeConcern: DURABLE },
  );
  if (!cancelled) return false;
  const user = await deps.users.findOne({ _id: userId });
  if (user) {
    await record(deps, user, 'account.delete-cancelled');
    await mail(deps, user, keptText(deps.config));
  }
  return true;
}

type Whose = Pick<User, '_id' | 'email' | 'emailVerified'>;

function record(deps: AccountsDeps, { _id, email }: Whose, action: AuditAction): Promise<void> {
  const details = { personId: _id.toHexString() };
  return recordAudit(deps, { by: email, action, serverId: null, details });
}

function mailRequest(deps: AccountsDeps, user: Whose, deletion: AccountDeletion, token: string) {
  const link = `${deps.config.PUBLIC_URL}/keep-account?token=${token}`;
  return mail(deps, user, requestedText(deps.config, deletion, link));
}

/** An unconfirmed address may be a stranger's. The account page shows the deletion in any case. */
async function mail(deps: AccountsDeps, user: Whose, text: { subject: string; text: string }): Promise<void> {
  if (canBeMailed(deps.config, user)) await putMail(deps, { to: user.email, ...text });
}
