import type { AuthSources } from './auth.ts';
import type { User } from './user.ts';

/**
 * Makes a link by which a user sets a password, once, within an hour. Whoever has it can take the account
 * over: it is shown once, to whoever asked for it, and kept nowhere.
 *
 * @returns the whole address
 */
export async function makePasswordLink(
  sources: AuthSources,
  { email }: Pick<User, 'email'>,
): Promise<string> {
  // The sign-in library takes a quarter of a second to load: who makes no link does not wait for it.
  const { createAuth } = await import('./auth.ts');
  let address: string | undefined;
  const auth = createAuth(sources, async (link) => {
    address = link.address;
  });
  await auth.api.requestPasswordReset({ body: { email } });
  if (!address) throw new Error('the sign-in library made no link');
  return address;
}
