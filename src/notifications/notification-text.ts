import type { ObjectId } from 'mongodb';
import type { EventText } from '../events/event.ts';
import type { EventName } from './kinds.ts';

/** The last paragraph of a text introduces the link, which is added below it. */
export type Notification = {
  name: EventName;
  /** Distinguishes events of one name. */
  about: string;
  /** Worded in the language of `languageNow`, so it is made for its reader. */
  mail: () => EventText;
  /**
   * Of an event that concerns owners alone; without names of players and the words of a listener, which may have some.
   * Others are worded from their data.
   */
  text?: EventText;
  /** Of the event. */
  data: Record<string, unknown>;
  reviewId?: ObjectId;
};
