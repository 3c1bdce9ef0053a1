import type { Person } from './person.ts';

/** A link that lets one person do one thing once. `address` is whole: with the path that PUBLIC_URL may have. */
export type OneTimeLink = {
  kind: 'set-password' | 'verify-email';
  person: Pick<Person, 'email'>;
  address: string;
};
