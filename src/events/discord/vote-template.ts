import { plural } from '../../language/plural.ts';
import { t } from '../../language/t.ts';
import { longText } from '../../platform/text.ts';
import { numberText } from '../event-text.ts';
import { LONGEST_EMBED_TEXT, literal } from './discord-embed.ts';

export const LONGEST_TEMPLATE = 500;

/** What an owner may write in the text for votes; the page explains each. */
export const PLACEHOLDERS = ['player', 'players', 'votes', 'month', 'server', 'url', 'goal'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

export const DEFAULT_TEMPLATE = [
  '**{players}** voted for [{server}]({url}). Votes this month: {month}',
  'Vote goal: {goal}',
].join('\n');

/** Letters in braces. Other braces are text. */
const BRACES = /\{([A-Za-z_]+)\}/g;

/** An empty one is the same as none. The owner formats it as Discord allows; nothing in it mentions anybody. */
export const templateSchema = longText(LONGEST_TEMPLATE).superRefine((text, context) => {
  const unknown = [...text.matchAll(BRACES)].find(([, name = '']) => !isPlaceholder(name));
  if (!unknown) return;
  const known = PLACEHOLDERS.map((name) => `{${name}}`).join(', ');
  context.addIssue({
    code: 'custom',
    message: t('has no placeholder {unknown}. There are: {known}', { unknown: unknown[0], known }),
  });
});

function isPlaceholder(name: string): name is Placeholder {
  return PLACEHOLDERS.some((one) => one === name);
}

export function usesGoal(template: string): boolean {
  return template.includes('{goal}');
}

export type VotesShown = {
  /** Of each vote, the oldest first; null if the name was erased. */
  names: readonly (string | null)[];
  /** Of the server, with the newest vote. */
  monthlyVotes: number;
  server: string;
  url: string;
  /** Null without a goal: lines that mention it are left out. */
  goal: { votes: number; target: number } | null;
};

/** The description of an embed. Names are shown as they are, whatever is in them. */
export function filledTemplate(template: string, shown: VotesShown): string {
  const { names, monthlyVotes, server, url, goal } = shown;
  const values: Record<Placeholder, string> = {
    player: literal(names.at(-1) ?? 'a player', LONGEST_NAME),
    players: playersIn(names),
    votes: literal(numberText(names.length), LONGEST_NAME),
    month: literal(numberText(monthlyVotes), LONGEST_NAME),
    server: literal(server, 200),
    url,
    goal: goal ? literal(goalVotes(goal), LONGEST_NAME) : '',
  };
  const linesOf = (text: string) => text.split('\n').filter((line) => goal || !usesGoal(line));
  const lines = linesOf(template);
  // Discord refuses a message without a text.
  const filled = (lines.some((line) => line.trim()) ? lines : linesOf(DEFAULT_TEMPLATE))
    .join('\n')
    .replace(BRACES, (braces, name: string) => (isPlaceholder(name) ? values[name] : braces));
  return cut(filled);
}

function goalVotes({ votes, target }: { votes: number; target: number }): string {
  return `${numberText(votes)} of ${numberText(target)} ${plural(target, 'vote', 'votes')}`;
}

const LONGEST_NAME = 80;
const MOST_NAMES = 20;

/** `Alex, Steve and 3 others`, each once. Players without a name are among the others. */
function playersIn(names: readonly (string | null)[]): string {
  const named = [...new Set(names.filter((name) => name !== null))];
  const shown = named.slice(0, MOST_NAMES).map((name) => literal(name, LONGEST_NAME));
  const others = named.length - shown.length + names.filter((name) => name === null).length;
  if (shown.length === 0) return others === 1 ? 'a player' : `${numberText(others)} players`;
  if (others > 0) shown.push(`${numberText(others)} ${others === 1 ? 'other' : 'others'}`);
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

/** To Discord's limit, never between a backslash and its character. */
function cut(text: string): string {
  if (text.length <= LONGEST_EMBED_TEXT) return text;
  const begin = text.slice(0, LONGEST_EMBED_TEXT - 1);
  const [backslashes = ''] = /\\*$/.exec(begin) ?? [];
  return `${backslashes.length % 2 === 1 ? begin.slice(0, -1) : begin}…`;
}
