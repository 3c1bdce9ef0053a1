import { type InferRawDocType, Schema } from 'mongoose';

const voteWatchDefinition = {
  /** The server. */
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The events of votes that were cast earlier are stored. */
  until: { type: Date, required: true },
  /** The highest that was announced, or passed before anybody wanted to know. Absent until somebody does. */
  milestone: { type: Number },
} as const;

/** How far `watch-votes` has come with a server that somebody wants the votes of. */
export const voteWatchSchema = new Schema(voteWatchDefinition, { collection: 'vote_watches' });

export type VoteWatch = InferRawDocType<typeof voteWatchDefinition>;
