import type { Collection } from 'mongodb';
import type { FavouritesDeps } from '../favourites/deps.ts';
import type { ModerationDeps } from '../moderation/deps.ts';
import type { NotificationsDeps } from '../notifications/deps.ts';
import type { RemindersDeps } from '../reminders/deps.ts';
import type { SiteFigures } from './figures/site-figures.ts';

export type WorkflowsDeps = FavouritesDeps &
  ModerationDeps &
  NotificationsDeps &
  RemindersDeps & { siteFigures: Collection<SiteFigures> };
