import { z } from 'zod';
import { GOAL_PERIODS } from '../goals/goal.ts';
import samples from './samples.json' with { type: 'json' };

const profile = z.strictObject({
  shortText: z.string(),
  tags: z.array(z.string()),
  languages: z.string(),
  description: z.string().optional(),
  /** Whether the server has a website, a Discord invite, a store and rules. */
  hasLinks: z.boolean().default(false),
});

const sample = z.strictObject({
  name: z.string(),
  /** Before it was renamed. */
  formerName: z.string().optional(),
  /** The id of the game in gamedig; null for a game that gamedig cannot query. */
  game: z.string().nullable(),
  /** The port for players, unless it is the default port of the game. */
  port: z.int().optional(),
  /** Geyser answers for players of Bedrock Edition at the same address, with the counts of the server. */
  hasGeyser: z.boolean().default(false),
  countryCode: z.string(),
  version: z.string(),
  motd: z.string(),
  activity: z.strictObject({
    slots: z.int(),
    /** The share of the slots that is used on a busy evening. */
    busy: z.number().min(0).max(1),
    votes: z.int(),
    reviews: z.int(),
  }),
  /** A fake server answers queries, the server reports itself, or it has not answered for some days. */
  kind: z.enum(['probed', 'reporting', 'gone']).default('probed'),
  isPremium: z.boolean().default(false),
  /** How many days ago the server was listed. It has no older history. */
  listedDays: z.int().default(400),
  howToVote: z.string().optional(),
  /** Set before its oldest vote. */
  goal: z.strictObject({ target: z.int(), period: z.enum(GOAL_PERIODS), text: z.string() }).optional(),
  /** Most samples have no banner, to show how a list looks then. */
  hasBanner: z.boolean().default(false),
  /** When the vote listener did not answer; `hours`: null while it still does not. */
  outages: z.array(z.strictObject({ hoursAgo: z.number(), hours: z.number().nullable() })).default([]),
  /** Some samples have none, to show how a page looks without a profile. */
  profile: profile.optional(),
});

export type Sample = z.infer<typeof sample>;

/** Nothing listens at its vote listener's address in the whole demo. */
export function isDown({ outages }: Sample): boolean {
  return outages.some(({ hours }) => hours === null);
}

/** The introduction asks to vote for the first one. The first three belong to the demo's owner. */
export const SAMPLES = z.array(sample).parse(samples);
