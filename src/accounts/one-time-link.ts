import type { User } from './user.ts';

/** A link that works once, for one user. `address` is the complete URL, including the path of PUBLIC_URL. */
export type OneTimeLink = {
  kind: 'set-password' | 'verify-email';
  user: Pick<User, 'email'>;
  address: string;
};
