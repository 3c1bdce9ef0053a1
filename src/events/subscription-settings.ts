import { z } from 'zod';
import { listenerUrl } from '../delivery/http/http-listeners.ts';
import { t } from '../language/t.ts';
import { shownText } from '../platform/text.ts';
import { templateSchema } from './discord/vote-template.ts';
import { EVENT_KIND_NAMES } from './kinds.ts';

export const LONGEST_NAME = 60;

const kindsRule = { error: () => t('must be at least one kind of event') };

const common = z.object({
  /** Chosen by the owner, to tell destinations apart. */
  name: shownText(LONGEST_NAME),
  kinds: z
    .array(z.enum(EVENT_KIND_NAMES, kindsRule), kindsRule)
    .min(1, kindsRule)
    .transform((kinds) => EVENT_KIND_NAMES.filter((kind) => kinds.includes(kind))),
});

const url = listenerUrl.transform((address) => address.url);

export const newHttpSchema = common.extend({ type: z.literal('http'), url });
/** `webhook`: the address that “Copy Webhook URL” in Discord gives. */
export const newDiscordSchema = common.extend({
  type: z.literal('discord'),
  webhook: z.string(),
  template: templateSchema.optional(),
});
export type NewSubscription = z.input<typeof newHttpSchema> | z.input<typeof newDiscordSchema>;

/** What is absent stays. A subscription of the other type ignores the other's fields; the type cannot change. */
export const subscriptionChangeSchema = common
  .extend({ url, webhook: z.string(), template: templateSchema })
  .partial();
export type SubscriptionChange = z.input<typeof subscriptionChangeSchema>;
