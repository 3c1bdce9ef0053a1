import { defineMessage, type Text } from '../../language/t.ts';

/**
 * Why messages to a webhook were switched off: Discord knows no such webhook (404), or refuses its token (401); it
 * belongs to a forum channel and names no post (220001), or names a new post outside of forums (220003); its thread was
 * deleted or is locked (10003, 50083).
 */
export const OFF_REASONS = ['deleted', 'unauthorized', 'needs-thread', 'no-forum', 'thread-gone'] as const;
export type OffReason = (typeof OFF_REASONS)[number];

export const OFF_TEXTS: Record<OffReason, Text> = {
  deleted: defineMessage('Discord says that the webhook does not exist any more.'),
  unauthorized: defineMessage('Discord refuses the token of the webhook.'),
  'needs-thread': defineMessage(
    'The webhook belongs to a forum channel, and its address names no post of it (Discord: 220001).',
  ),
  'no-forum': defineMessage(
    'Discord takes new posts in forum channels only, and the channel of the webhook is none (220003).',
  ),
  'thread-gone': defineMessage('Discord does not accept messages for the thread that the address names.'),
};

export const OFF_ADVICE: Record<OffReason, Text> = {
  deleted: defineMessage('Create a webhook in Discord and enter its address.'),
  unauthorized: defineMessage('Copy the address of the webhook in Discord again and enter it.'),
  'needs-thread': defineMessage(
    'Create a post for the messages. In Discord switch on the developer mode (“Advanced”), choose “Copy Thread ID” in the menu of the post, and enter the address with ?thread_id= and this number at its end.',
  ),
  'no-forum': defineMessage(
    'Create a webhook in a text channel, or enter the address with ?thread_id= and the id of a thread of its channel.',
  ),
  'thread-gone': defineMessage(
    'Enter the address with ?thread_id= and the id of another thread, or without it for the channel itself.',
  ),
};
