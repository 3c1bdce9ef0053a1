import type { Collection } from 'mongodb';
import type { VotesDeps } from '../votes/deps.ts';
import type { FavouriteList } from './favourite-list.ts';

export type FavouritesDeps = VotesDeps & { favourites: Collection<FavouriteList> };
