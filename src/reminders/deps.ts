import type { Collection } from 'mongodb';
import type { VotesDeps } from '../votes/deps.ts';
import type { PushKey } from './push-key.ts';
import type { Reminder } from './reminder.ts';

export type RemindersDeps = VotesDeps & {
  pushKeys: Collection<PushKey>;
  reminders: Collection<Reminder>;
};
