import { type Command, Option } from 'commander';
import { ANNOUNCEMENT_LEVELS, type Announcement } from '../moderation/announcement.ts';
import { clearAnnouncement, currentAnnouncement, setAnnouncement } from '../moderation/announcements.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { type Answer, withDeps } from './answer.ts';
import { BY } from './find.ts';
import { examples } from './invocation.ts';
import { moment } from './option-values.ts';
import { utc } from './output-format.ts';
import type { Terminal } from './terminal.ts';

export function addAnnouncementCommands(announcement: Command, terminal: Terminal): void {
  announcement
    .command('set')
    .description('show a text on all pages, in place of an earlier one')
    .argument('<text>', 'Markdown')
    .addOption(new Option('--level <level>', 'how it looks').choices(ANNOUNCEMENT_LEVELS).default('info'))
    .option('--until <time>', 'when it ends: a UTC day, or a time with offset; by default it stays', moment)
    .addHelpText(
      'after',
      examples(terminal, 'announcement set "We move on **Sunday**." --level warning --until 2026-12-01'),
    )
    .action(withDeps(terminal, set));

  announcement
    .command('clear')
    .description('remove the announcement')
    .addHelpText('after', examples(terminal, 'announcement clear'))
    .action(withDeps(terminal, clear));

  announcement
    .command('show')
    .description('show the announcement')
    .addHelpText('after', examples(terminal, 'announcement show'))
    .action(withDeps(terminal, show));
}

const NONE = 'There is no announcement.';

async function set(
  deps: AppDeps,
  text: string,
  { level, until }: { level: string; until?: Date },
): Promise<Answer> {
  const announcement = await setAnnouncement(deps, { text, level, until: until ?? null }, BY);
  return { json: record(announcement), text: 'All pages show it within a minute.' };
}

async function clear(deps: AppDeps): Promise<Answer> {
  const cleared = await clearAnnouncement(deps, BY);
  return { json: { cleared }, text: cleared ? 'The announcement is removed.' : NONE };
}

async function show(deps: AppDeps): Promise<Answer> {
  const found = await currentAnnouncement(deps);
  if (!found) return { json: { announcement: null }, text: NONE };
  const end = found.until ? `until ${utc(found.until)}` : 'until it is cleared';
  return { json: { announcement: record(found) }, text: `${found.level}, ${end}:\n${found.text}` };
}

function record({ text, level, until, at }: Announcement): object {
  return { text, level, until: until?.toISOString() ?? null, at: at.toISOString() };
}
