import type { Command } from 'commander';
import type { AppDeps } from '../process/app-deps.ts';
import { addTag, LONGEST_TAG, readTags, removeTag } from '../servers/tag-list.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY } from './find.ts';
import { examples } from './invocation.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addTagCommands(tag: Command, terminal: Terminal): void {
  tag
    .command('list')
    .description('show the list of tags')
    .addHelpText('after', examples(terminal, 'tag list'))
    .action(withDeps(terminal, list));

  tag
    .command('add')
    .description('add a tag to the list')
    .argument('<name>', `up to ${LONGEST_TAG} characters`)
    .addHelpText('after', examples(terminal, 'tag add "Sky wars"'))
    .action(withDeps(terminal, add));

  tag
    .command('remove')
    .description('remove a tag from the list and from all servers')
    .argument('<tag>', 'name or key')
    .addHelpText('after', examples(terminal, 'tag remove sky-wars'))
    .action(withDeps(terminal, remove));
}

async function list(deps: AppDeps): Promise<Answer> {
  const tags = await readTags(deps);
  const rows = tags.map(({ key, name }) => [key, name]);
  return { json: { tags }, text: table(['KEY', 'NAME'], rows, 'There are no tags.') };
}

async function add(deps: AppDeps, name: string): Promise<Answer> {
  const tag = await addTag(deps, { name }, BY);
  return { json: tag, text: `Owners can choose “${tag.name}” now. Its key is ${tag.key}.` };
}

async function remove(deps: AppDeps, text: string): Promise<Answer> {
  const removed = await removeTag(deps, text, BY);
  if (!removed) throw new CommandError('tag-not-found', `There is no tag “${text}”.`);
  const { tag, servers } = removed;
  return {
    json: { ...tag, servers },
    text: `“${tag.name}” is removed; ${servers} ${servers === 1 ? 'server' : 'servers'} had it.`,
  };
}
