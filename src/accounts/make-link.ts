import type { AccountsDeps } from './deps.ts';
import { forLibrary } from './library-email.ts';
import type { User } from './user.ts';

/**
 * Makes a link to set a user's password, once, within an hour. It gives the account to anybody who has it, so show it
 * once and do not store it.
 */
export async function makePasswordLink(deps: AccountsDeps, { email }: Pick<User, 'email'>) {
  // The sign-in library takes a quarter of a second to load, so commands load it only when they need it.
  const { createAuth } = await import('./auth.ts');
  let address: string | undefined;
  const auth = createAuth(deps, async (link) => {
    address = link.address;
  });
  await auth.api.requestPasswordReset({ body: { email: forLibrary(email) } });
  if (!address) throw new Error('the sign-in library made no link');
  return address;
}
