import type { Collection } from 'mongodb';
import type { PlatformDeps } from '../platform/deps.ts';
import type { Mail } from './mail.ts';

export type MailDeps = PlatformDeps & {
  mails: Collection<Mail>;
};
