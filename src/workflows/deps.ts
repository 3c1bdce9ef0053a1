import type { Collection } from 'mongodb';
import type { FavouritesDeps } from '../favourites/deps.ts';
import type { ModerationDeps } from '../moderation/deps.ts';
import type { NotificationsDeps } from '../notifications/deps.ts';
import type { SiteFigures } from './figures/site-figures.ts';

export type WorkflowsDeps = FavouritesDeps &
  ModerationDeps &
  NotificationsDeps & { siteFigures: Collection<SiteFigures> };
