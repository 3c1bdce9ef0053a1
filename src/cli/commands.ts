import type { Command } from 'commander';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../votes/ranking-period.ts';
import type { Terminal } from './terminal.ts';

export type TopCommand = {
  /** The name, and the arguments that the help of `tallyport` shows after it. */
  usage: string;
  description: string;
  load(): Promise<(command: Command, terminal: Terminal) => void>;
};

/** In the order of the help. Only the called command is loaded: with all of them, the help would take ten times as long. */
export const TOP_COMMANDS: TopCommand[] = [
  {
    usage: 'server',
    description: 'list, check, change and remove game servers',
    load: async () => (await import('./server.ts')).addServerCommands,
  },
  {
    usage: 'token',
    description: 'make and revoke the API tokens of a server',
    load: async () => (await import('./token.ts')).addTokenCommands,
  },
  {
    usage: 'listener',
    description: 'set and check the vote listener that receives a server’s votes',
    load: async () => (await import('./listener.ts')).addListenerCommands,
  },
  {
    usage: 'vote',
    description: 'show, resend and exclude votes',
    load: async () => (await import('./vote.ts')).addVoteCommands,
  },
  {
    usage: 'goal',
    description: 'the vote goal of a server',
    load: async () => (await import('./goal.ts')).addGoalCommands,
  },
  {
    usage: 'subscription',
    description: 'where the events of a server are sent: URLs and Discord',
    load: async () => (await import('./subscription.ts')).addSubscriptionCommands,
  },
  {
    usage: 'live-status',
    description: 'the message in Discord that shows the state of a server',
    load: async () => (await import('./live-status.ts')).addLiveStatusCommands,
  },
  {
    usage: 'player',
    description: 'answer a player’s request about personal data',
    load: async () => (await import('./player.ts')).addPlayerCommands,
  },
  {
    usage: 'block',
    description: 'block the votes of player names and networks',
    load: async () => (await import('./block.ts')).addBlockCommands,
  },
  {
    usage: 'review',
    description: 'write and moderate reviews of a server',
    load: async () => (await import('./review.ts')).addReviewCommands,
  },
  {
    usage: 'tag',
    description: 'the tags that owners choose from',
    load: async () => (await import('./tag.ts')).addTagCommands,
  },
  {
    usage: 'announcement',
    description: 'the text at the top of all pages of the site',
    load: async () => (await import('./announcement.ts')).addAnnouncementCommands,
  },
  {
    usage: 'import',
    description: 'import the data of another listing; running it again imports nothing twice',
    load: async () => (await import('./import.ts')).addImportCommands,
  },
  {
    usage: 'export',
    description: 'write data as lines of JSON that import accepts',
    load: async () => (await import('./export.ts')).addExportCommands,
  },
  {
    usage: 'backup [options] <folder>',
    description: 'write all data into a new folder, while the platform runs',
    load: async () => (await import('./backup.ts')).addBackupCommand,
  },
  {
    usage: 'restore [options] <folder>',
    description:
      'restore a backup into an empty database that no process uses; votes that were open are held back until you send them',
    load: async () => (await import('./backup.ts')).addRestoreCommand,
  },
  {
    usage: 'aggregate [options]',
    description: 'compute the statistics of finished UTC days from their samples, and all figures, now',
    load: async () => (await import('./aggregate.ts')).addAggregateCommand,
  },
  {
    usage: 'rank',
    description: `compute the ranking now (what the votes of ${RANKING_DAYS} days weigh, then probed uptime, then the older listing); otherwise every ${RANKS_EVERY_MINUTES} minutes and when the list changes`,
    load: async () => (await import('./rank.ts')).addRankCommands,
  },
  {
    usage: 'migrate [options]',
    description:
      'create missing collections and indexes, then run the pending migrations; run it at each release',
    load: async () => (await import('./migrate.ts')).addMigrateCommand,
  },
  {
    usage: 'config',
    description: 'check the configuration',
    load: async () => (await import('./config/check.ts')).addConfigCommands,
  },
  {
    usage: 'languages [language]',
    description: 'the languages of the pages: how many texts are translated, missing, unused or suspicious',
    load: async () => (await import('./languages.ts')).addLanguagesCommand,
  },
  {
    usage: 'setup-link [options]',
    description: 'print the link with which a new site gets its first operator',
    load: async () => (await import('./setup-link.ts')).addSetupLinkCommand,
  },
  {
    usage: 'operator',
    description: 'create and list operators, who may use the admin area',
    load: async () => (await import('./operator.ts')).addOperatorCommands,
  },
];

export async function addCommands(program: Command, args: string[], terminal: Terminal): Promise<void> {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const called = first === 'help' ? second : first;
  for (const { usage, description, load } of TOP_COMMANDS) {
    const [name = ''] = usage.split(' ');
    const command = program.command(name === called ? name : usage).description(description);
    if (name === called) (await load())(command, terminal);
  }
}
