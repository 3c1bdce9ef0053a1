import type { Command } from 'commander';
import type { AppDeps } from '../process/app-deps.ts';
import { BLOCKS_APPLY_SECONDS, type Block, isEffective, type TypedKind } from '../votes/blocks/block-list.ts';
import { addBlock, liftBlock, listBlocks, type NewBlock } from '../votes/blocks/change-blocks.ts';
import { isWide, networkText, parseNetwork } from '../votes/blocks/network-range.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, objectIdOf } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { limit, moment } from './option-values.ts';
import { iso, utc, when } from './output-format.ts';
import { requireYes } from './prompt.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addBlockCommands(block: Command, terminal: Terminal): void {
  const adding = (kind: TypedKind, argument: string, description: string) =>
    block
      .command(kind)
      .argument(argument, description)
      .requiredOption('--reason <text>', 'why, for operators and the audit log')
      .option(
        '--until <time>',
        'end: a UTC day, or a time with offset; without it, until it is lifted',
        moment,
      );
  adding('name', '<username>', 'the player, in any spelling')
    .description('block a player’s name: refused on pages; by API accepted, not counted, not delivered')
    .addHelpText('after', examples(terminal, 'block name Steve --reason "Insults" --until 2026-12-24'))
    .action(
      withDeps(terminal, (session, name: string, options: Options) => add(session, 'name', name, options)),
    );
  adding('network', '<range>', 'an address, or a range in CIDR notation')
    .option('--yes', 'do not ask for confirmation of a range below IPv4 /16 or IPv6 /32')
    .description('block a network: its votes on pages are refused')
    .addHelpText('after', examples(terminal, 'block network 203.0.113.0/24 --reason "Bots"'))
    .action(
      withDeps(terminal, (session, range: string, options: Options) =>
        add(session, 'network', range, options),
      ),
    );

  block
    .command('list')
    .description('show the blocks, newest first, and how many votes each stopped')
    .option('--limit <n>', 'how many', limit, 50)
    .addHelpText('after', examples(terminal, 'block list'))
    .action(withDeps(terminal, list));

  block
    .command('lift')
    .description('end a block')
    .argument('<block_id>', 'the id that `block list` shows')
    .addHelpText('after', examples(terminal, 'block lift 6b019ace24981ba2c7ac8bec'))
    .action(withDeps(terminal, lift));
}

type Options = { reason: string; until?: Date; yes?: boolean };

async function add(
  session: Session,
  kind: TypedKind,
  value: string,
  { reason, until, yes = false }: Options,
): Promise<Answer> {
  const isWideMeant = yes || (kind === 'network' && (await confirmsWide(session.terminal, value)));
  const input: NewBlock = { kind, value, reason, endsAt: until, isWideMeant };
  const block = await addBlock(session, input, BY);
  return {
    json: blockJson(block, session.clock.now()),
    text: `${whatOf(block)} is blocked${until ? ` until ${utc(until)}` : ''} (block ${block._id.toHexString()}). It applies within ${BLOCKS_APPLY_SECONDS} seconds.`,
  };
}

/** If the network is very large: asks the user to confirm. Without a terminal, `--yes` is required. */
async function confirmsWide(terminal: Terminal, text: string): Promise<boolean> {
  const range = parseNetwork(text);
  if (!range || !isWide(range)) return false;
  const shown = networkText(range);
  const isLarge = `${shown} is a very large network.`;
  await requireYes(terminal, `${isLarge} Block all of it?`, `${isLarge} Add --yes to block all of it.`);
  return true;
}

function whatOf({ kind, username, value }: Block): string {
  if (username) return `“${username}”`;
  return kind === 'origin' ? `The network with the hash ${value}` : value;
}

async function list(deps: AppDeps, options: { limit: number }): Promise<Answer> {
  const { rows } = await listBlocks(deps, { from: undefined, limit: options.limit });
  const now = deps.clock.now();
  return {
    json: { blocks: rows.map((block) => blockJson(block, now)) },
    text: table(
      ['BLOCK', 'KIND', 'NAME OR NETWORK', 'STATE', 'STOPPED', 'LAST', 'BY', 'REASON'],
      rows.map((block) => [
        block._id.toHexString(),
        block.kind,
        block.username ?? block.value,
        stateOf(block, now),
        block.hits,
        block.lastHitAt ? when(block.lastHitAt, now) : '-',
        `${block.by}, ${when(block.at, now)}`,
        block.reason,
      ]),
      'Nothing is blocked.',
    ),
  };
}

function stateOf(block: Block, now: Date): string {
  if (block.lifted) return 'lifted';
  if (!isEffective(block, now)) return 'ended';
  return block.endsAt ? `until ${utc(block.endsAt)}` : 'blocked';
}

async function lift(deps: Session, text: string): Promise<Answer> {
  const id = objectIdOf(text);
  const block = id && (await liftBlock(deps, id, BY));
  if (!block) throw new CommandError('block-not-found', `No active block has the id “${text}”.`);
  return {
    json: blockJson(block, deps.clock.now()),
    text: `${whatOf(block)} is no longer blocked. Votes that the block held back stay excluded. See them: ${invocation('vote exclusions SERVER', deps.terminal.env)}`,
  };
}

function blockJson(block: Block, now: Date): Record<string, unknown> {
  const { lifted } = block;
  return {
    block_id: block._id.toHexString(),
    kind: block.kind,
    value: block.username ?? block.value,
    reason: block.reason,
    by: block.by,
    at: iso(block.at),
    ends_at: iso(block.endsAt),
    lifted: lifted ? { by: lifted.by, at: iso(lifted.at) } : null,
    in_effect: isEffective(block, now),
    hits: block.hits,
    last_hit_at: iso(block.lastHitAt),
  };
}
