import type { ObjectId, WithId } from 'mongodb';
import { canBeMailed } from '../accounts/can-be-mailed.ts';
import type { AccountDeletion } from '../accounts/deletion/account-deletion.ts';
import { inLanguageOfUser } from '../accounts/mail-language.ts';
import { deletedText, lastOperatorText } from '../accounts/mail-text.ts';
import type { User } from '../accounts/user.ts';
import {
  decidingAlone,
  endSessions,
  refuseLastOperator,
  revokeAccess,
  UserError,
} from '../accounts/users.ts';
import { putMail } from '../mail/outbox.ts';
import { forgetSender } from '../moderation/complaints.ts';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { DURABLE } from '../platform/mongo.ts';
import { type ActiveLease, withLease } from '../platform/periods/work-lease.ts';
import { stopMailReminder } from '../reminders/keep-mail-reminder.ts';
import { ofUser } from '../reminders/reminder.ts';
import { deleteReviewsOf } from '../reviews/own-review.ts';
import { leaveServer, withdrawInvitation } from '../servers/members.ts';
import type { WorkflowsDeps } from './deps.ts';
import { removeServer } from './remove-server.ts';

/** If a crash interrupts a deletion, the next run completes it. @throws the first failure, after all were tried */
export function deleteDueAccounts(
  deps: WorkflowsDeps,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number> {
  const { accountDeletions, clock, log } = deps;
  const run = async (lease: ActiveLease) => {
    const due = await accountDeletions
      .find({ dueAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
      .sort({ dueAt: 1 })
      .toArray();
    const failures: unknown[] = [];
    let deleted = 0;
    for (const { _id } of due) {
      lease.throwIfLost();
      const userId = _id.toHexString();
      try {
        const begun = await begin(deps, _id);
        if (!begun) continue;
        await carryOut(deps, begun, lease);
        log.info({ event: 'account.deleted', userId });
        deleted += 1;
      } catch (error) {
        lease.throwIfLost();
        log.error({ event: 'account.not_deleted', userId, reason: String(error) });
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return deleted;
  };
  return withLease(deps, 'delete-accounts', run, signal ? { signal } : {});
}

/** From now on nobody can sign in. null when the request was cancelled, or dropped for the last operator. */
function begin(deps: WorkflowsDeps, userId: ObjectId): Promise<AccountDeletion | null> {
  return decidingAlone(deps, async () => {
    const { accountDeletions, users, clock } = deps;
    const user = await users.findOne({ _id: userId });
    // If the user is gone, an earlier run was interrupted in its last steps.
    if (!user) return accountDeletions.findOne({ _id: userId });
    try {
      await refuseLastOperator(deps, user);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      await keepLastOperator(deps, user);
      return null;
    }
    const now = clock.now();
    const begun = await accountDeletions.findOneAndUpdate(
      { _id: userId },
      [{ $set: { begunAt: { $ifNull: ['$begunAt', now] }, email: { $literal: user.email } } }],
      { returnDocument: 'after', writeConcern: DURABLE },
    );
    if (!begun) return null;
    await users.updateOne(
      { _id: userId, suspendedAt: null },
      { $set: { suspendedAt: now, suspendedFor: 'This account is being deleted.' } },
    );
    await endSessions(deps, userId);
    return begun;
  });
}

async function keepLastOperator(deps: WorkflowsDeps, user: WithId<User>): Promise<void> {
  const { _id, email } = user;
  const { config, log } = deps;
  await deps.accountDeletions.deleteOne({ _id });
  log.warn({ event: 'account.not_deleted', userId: _id.toHexString(), reason: 'last-operator' });
  if (canBeMailed(config, user))
    await putMail(deps, { to: email, ...inLanguageOfUser(config, user, () => lastOperatorText(config)) });
}

async function carryOut(deps: WorkflowsDeps, deletion: AccountDeletion, lease: ActiveLease): Promise<void> {
  const { _id, deletionId, email } = deletion;
  const by = email ?? 'tallyport';
  await removeServersOf(deps, _id, by, lease);
  await leaveServersOf(deps, _id, email, by);
  await deps.serverDrafts.deleteMany({ ownerId: _id, slot: { $gte: 0 } });
  await deleteReviewsOf(deps, _id);
  await forgetSender(deps, _id);
  await deps.favourites.deleteOne({ _id });
  await deps.reminders.deleteMany(ofUser(_id));
  await stopMailReminder(deps, { _id });
  lease.throwIfLost();
  await deps.addressChanges.deleteOne({ _id });
  await revokeAccess(deps, _id);
  const details = { personId: _id.toHexString() };
  await recordAuditOnce(deps, deletionId, { by, action: 'account.deleted', serverId: null, details });
  // An unconfirmed address may be a stranger's and gets no mail. If the user is gone, an earlier run wrote the mail.
  const user = await deps.users.findOne({ _id });
  if (email && user && canBeMailed(deps.config, user)) {
    const id = `account-deleted:${deletionId.toHexString()}`;
    const text = inLanguageOfUser(deps.config, user, () => deletedText(deps.config));
    await putMail(deps, { id, to: email, ...text });
  }
  await deps.users.deleteOne({ _id }, { writeConcern: DURABLE });
  await deps.accountDeletions.deleteOne({ _id });
}

async function leaveServersOf(
  deps: WorkflowsDeps,
  userId: ObjectId,
  email: string | null | undefined,
  by: string,
): Promise<void> {
  const { servers } = deps;
  for await (const { _id } of servers.find({ 'members.userId': userId }, { projection: { _id: 1 } })) {
    await leaveServer(deps, _id, { _id: userId, email: by });
  }
  if (!email) return;
  for await (const { _id } of servers.find({ 'invitations.email': email }, { projection: { _id: 1 } })) {
    await withdrawInvitation(deps, _id, email, by);
  }
}

/** The ids are stored first, because a removed server is not found again: the next call completes an interrupted one. */
async function removeServersOf(
  deps: WorkflowsDeps,
  userId: ObjectId,
  by: string,
  lease: ActiveLease,
): Promise<void> {
  const { accountDeletions, servers } = deps;
  const owned = await servers
    .find({ ownerId: userId, removedAt: null }, { projection: { _id: 1 } })
    .map(({ _id }) => _id)
    .toArray();
  const noted = await accountDeletions.findOneAndUpdate(
    { _id: userId },
    { $addToSet: { serverIds: { $each: owned } } },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  for (const serverId of noted?.serverIds ?? []) {
    lease.throwIfLost();
    // A server that an operator has transferred meanwhile stays.
    await removeServer(deps, serverId, by, userId);
    await accountDeletions.updateOne({ _id: userId }, { $pull: { serverIds: serverId } });
  }
}
