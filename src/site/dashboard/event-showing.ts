import type { FastifyRequest } from 'fastify';
import type { ObjectId } from 'mongodb';
import { defineMessage, t } from '../../language/t.ts';
import type { Typed } from '../shared/form.ts';
import type { Html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';

export const EVENT_MESSAGES = {
  added: defineMessage('Destination added. Send a test event to see that it arrives.'),
  saved: defineMessage('Destination saved.'),
  paused: defineMessage('Destination paused. Its events wait until you resume it.'),
  resumed: defineMessage('Destination resumed. Its waiting events are being sent.'),
  removed: defineMessage('Destination removed.'),
  replayed: defineMessage('The event is being sent again.'),
  'live-set': defineMessage('Live status saved. Its message is posted within a minute.'),
  'live-restarted': defineMessage('The live status starts again within a minute.'),
  'live-removed': defineMessage('Live status removed. Its message in Discord is being deleted.'),
};
export type EventMessage = keyof typeof EVENT_MESSAGES;

/** What a page shows after one of its forms: the entered values with errors, a secret shown once, or a result. */
export type EventsShowing = {
  form?: 'http' | 'discord' | 'live';
  typed?: Typed;
  secret?: { text: string; previousValidUntil?: Date };
  message?: Html;
};

export type EventPages = {
  list(request: FastifyRequest, showing?: EventsShowing): Promise<Page>;
  /** @throws {PageError} 404 if the server has no such subscription */
  one(request: FastifyRequest, showing?: EventsShowing, id?: ObjectId): Promise<Page>;
};

/** It may have been removed while the page was open. */
export function noDestination(): string {
  return t('This server has no such destination.');
}
