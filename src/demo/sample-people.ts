import { randomBytes } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { createAuth } from '../accounts/auth.ts';
import { makePasswordLink } from '../accounts/make-link.ts';
import { createOperator, ensurePerson } from '../accounts/people.ts';
import type { Platform } from '../process/platform.ts';

/** Who can sign in to a demo; the passwords are new with every start. */
export type SamplePeople = Record<'owner' | 'operator', { email: string; password: string }>;

/** Makes the demo's owner, to whom these servers belong, and its operator, or finds those of an earlier one. */
export async function openSamplePeople(platform: Platform, serverIds: ObjectId[]): Promise<SamplePeople> {
  const who = { personId: null, by: 'demo' };
  const owner = { email: 'owner@example.org', name: 'Olivia Owner' };
  const operator = { email: 'operator@example.org', name: 'Oscar Operator' };
  const { person } = await ensurePerson(platform, owner);
  await platform.servers.updateMany({ _id: { $in: serverIds } }, { $set: { ownerId: person._id } });
  await createOperator(platform, operator, who);
  return {
    owner: { email: owner.email, password: await setAnyPassword(platform, owner) },
    operator: { email: operator.email, password: await setAnyPassword(platform, operator) },
  };
}

async function setAnyPassword(platform: Platform, person: { email: string }): Promise<string> {
  const password = randomBytes(9).toString('base64url');
  const token = new URL(await makePasswordLink(platform, person)).searchParams.get('token') ?? '';
  await createAuth(platform, async () => {}).api.resetPassword({ body: { token, newPassword: password } });
  return password;
}
