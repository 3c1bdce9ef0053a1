import type { ObjectId } from 'mongodb';
import type { EventText } from '../events/event.ts';
import type { EventName } from './kinds.ts';

/** The last paragraph of a text introduces the link, which is added below it. */
export type Notification = {
  name: EventName;
  /** Distinguishes events of one name. */
  about: string;
  mail: EventText;
  /** For people who get the event; without names of players and the words of a listener, which may have some. */
  text: EventText;
  /** Of the event. */
  data: Record<string, unknown>;
  reviewId?: ObjectId;
};
