import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { putMail } from '../../mail/outbox.ts';
import { InvalidDocumentError } from '../../platform/document.ts';
import { parseInput } from '../../platform/input.ts';
import { reasonText } from '../../platform/text.ts';
import type { AccountsDeps } from '../deps.ts';
import { confirmNewText, operatorOldText } from '../mail-text.ts';
import { type Decider, decide, endSessions } from '../users.ts';
import { changeAddressUnconfirmed, differentAddress, storeChange } from './change-address.ts';

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
      await putMail(deps, { to: change.from, ...operatorOldText(deps.config, change, oldLink) });
      await putMail(deps, { to, ...confirmNewText(deps.config, newLink) });
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
