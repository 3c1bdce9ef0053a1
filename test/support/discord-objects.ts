/** What a webhook sends. */
export type DiscordMessage = {
  content?: string;
  thread_name?: string;
  embeds?: DiscordEmbed[];
  allowed_mentions?: { parse: string[] };
};

type DiscordEmbed = {
  title?: string;
  description?: string;
  url?: string;
  color?: number;
  timestamp?: string;
  footer?: { text: string };
  fields?: { name: string; value: string }[];
};

/** A message in the channel, or in a thread of it. */
export type ShownMessage = DiscordMessage & {
  id: string;
  threadId: string | null;
  at: Date;
  /** When it was edited. */
  edits: Date[];
};

export const WEBHOOK_ID = '1099999999999991234';
export const WEBHOOK_TOKEN = `to-ken_${'Ab3'.repeat(20)}z`;
export const WEBHOOK_ADDRESS = `https://discord.com/api/webhooks/${WEBHOOK_ID}/${WEBHOOK_TOKEN}`;

const CHANNEL_ID = '1088888888888880001';

/** docs.discord.com, "Embed Limits"; the total is that of all embeds. */
export function isWithinLimits({ content = '', embeds = [] }: DiscordMessage): boolean {
  let total = 0;
  const fits = (text: string | undefined, most: number, least = 0) => {
    const length = text?.trim().length ?? least;
    total += length;
    return length >= least && length <= most;
  };
  const fit = embeds.map(
    ({ title, description, footer, fields = [] }) =>
      fits(title, 256) &&
      fits(description, 4_096) &&
      fits(footer?.text, 2_048) &&
      fields.length <= 25 &&
      fields.every(({ name, value }) => fits(name, 256, 1) && fits(value, 1_024, 1)),
  );
  return embeds.length <= 10 && !fit.includes(false) && total <= 6_000 && content.length <= 2_000;
}

/** As Discord answers with `wait=true`: the id comes after the embeds. */
export function messageObject({ id, threadId, at, edits, content = '', embeds = [] }: ShownMessage): object {
  return {
    type: 0,
    content,
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: embeds.map((embed) => ({ type: 'rich', content_scan_version: 3, ...embed })),
    timestamp: at.toISOString(),
    edited_timestamp: edits.at(-1)?.toISOString() ?? null,
    flags: 0,
    components: [],
    id,
    channel_id: threadId ?? CHANNEL_ID,
    author: { id: WEBHOOK_ID, username: 'Captain Hook', avatar: null, discriminator: '0000', bot: true },
    pinned: false,
    mention_everyone: false,
    tts: false,
    webhook_id: WEBHOOK_ID,
  };
}

export function webhookObject(): object {
  return {
    application_id: null,
    avatar: null,
    channel_id: CHANNEL_ID,
    guild_id: '1077777777777770001',
    id: WEBHOOK_ID,
    name: 'Captain Hook',
    type: 1,
    token: WEBHOOK_TOKEN,
    url: WEBHOOK_ADDRESS,
  };
}
