import { randomBytes } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { createAuth } from '../accounts/auth.ts';
import { makePasswordLink } from '../accounts/make-link.ts';
import { createOperator, ensureUser } from '../accounts/users.ts';
import type { AppDeps } from '../process/app-deps.ts';

/** The users who can sign in to a demo. Every start sets new passwords. */
export type SampleUsers = Record<'owner' | 'operator', { email: string; password: string }>;

/** The owner gets these servers. Reuses the users of an earlier demo. */
export async function openSampleUsers(deps: AppDeps, serverIds: ObjectId[]): Promise<SampleUsers> {
  const who = { userId: null, by: 'demo' };
  const owner = { email: 'owner@example.org', name: 'Olivia Owner' };
  const operator = { email: 'operator@example.org', name: 'Oscar Operator' };
  const { user } = await ensureUser(deps, owner);
  await deps.servers.updateMany({ _id: { $in: serverIds } }, { $set: { ownerId: user._id } });
  await createOperator(deps, operator, who);
  return {
    owner: { email: owner.email, password: await setAnyPassword(deps, owner) },
    operator: { email: operator.email, password: await setAnyPassword(deps, operator) },
  };
}

async function setAnyPassword(deps: AppDeps, user: { email: string }): Promise<string> {
  const password = randomBytes(9).toString('base64url');
  const token = new URL(await makePasswordLink(deps, user)).searchParams.get('token') ?? '';
  await createAuth(deps, async () => {}).api.resetPassword({ body: { token, newPassword: password } });
  return password;
}
