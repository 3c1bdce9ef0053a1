import type { Collection } from 'mongodb';
import type { User } from '../accounts/user.ts';
import type { MailDeps } from '../mail/deps.ts';
import type { VotesDeps } from '../votes/deps.ts';
import type { MailReminder } from './mail-reminder.ts';
import type { PushKey } from './push-key.ts';
import type { Reminder } from './reminder.ts';

export type RemindersDeps = VotesDeps &
  MailDeps & {
    pushKeys: Collection<PushKey>;
    reminders: Collection<Reminder>;
    mailReminders: Collection<MailReminder>;
    users: Collection<User>;
  };
