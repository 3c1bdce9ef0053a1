import type { Collection, ObjectId } from 'mongodb';
import type { MailDeps } from '../mail/deps.ts';
import type { AddressChange } from './address/address-change.ts';
import type { AccountDeletion } from './deletion/account-deletion.ts';
import type { PasswordHasher } from './password.ts';
import type { Credential, SecondFactor, SignInSession, User, Verification } from './user.ts';

export type AccountsDeps = MailDeps & {
  accountDeletions: Collection<AccountDeletion>;
  addressChanges: Collection<AddressChange>;
  /** Gives the user the imported servers that are reserved for their address. Never rejects. */
  adoptServers: (userId: ObjectId) => Promise<void>;
  credentials: Collection<Credential>;
  passwords: PasswordHasher;
  sessions: Collection<SignInSession>;
  twoFactors: Collection<SecondFactor>;
  users: Collection<User>;
  verifications: Collection<Verification>;
};
