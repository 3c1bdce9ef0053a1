import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';

export const MOST_FAVOURITES = 200;

const favouriteDefinition = {
  serverId: { type: Schema.Types.ObjectId, required: true },
  at: { type: Date, required: true },
} as const;

const favouriteListDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** Newest first, each server once; at most `MOST_FAVOURITES`. Absent before the first favourite. */
  entries: { type: [new Schema(favouriteDefinition, { _id: false })], default: undefined },
  /** The player name of the user's last vote on a vote page; absent before that vote and after `forgetUsername`. */
  username: { type: String },
} as const;

/** A user's favourite servers. One document for each user, so one update checks the limit and adds an entry. */
export const favouriteListSchema = new Schema(favouriteListDefinition, { collection: 'favourites' });

export type FavouriteList = Omit<InferRawDocType<typeof favouriteListDefinition>, 'entries'> & {
  entries?: Nested<typeof favouriteDefinition>[];
};
