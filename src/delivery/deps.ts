import type { Collection } from 'mongodb';
import type { VotesDeps } from '../votes/deps.ts';
import type { DeliveryDay } from './figures/delivery-day.ts';

export type DeliveryDeps = VotesDeps & { deliveryDays: Collection<DeliveryDay> };
