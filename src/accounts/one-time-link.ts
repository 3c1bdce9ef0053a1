import type { User } from './user.ts';

/** A link that lets one user do one thing once. `address` is whole: with the path that PUBLIC_URL may have. */
export type OneTimeLink = {
  kind: 'set-password' | 'verify-email';
  user: Pick<User, 'email'>;
  address: string;
};
