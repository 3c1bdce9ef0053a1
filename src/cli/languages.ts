import type { Command } from 'commander';
import { reportOf, type TextReport } from '../language/check-texts.ts';
import { allLanguages, nameOfLanguage, SHIPPED_LANGUAGES, useOwnTexts } from '../language/language.ts';
import { ConfigError } from '../platform/environment.ts';
import { type OwnTexts, readOwnTexts } from '../settings/own-texts.ts';
import { type Answer, printAnswer } from './answer.ts';
import { examples } from './invocation.ts';
import { pairs, table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addLanguagesCommand(command: Command, terminal: Terminal): void {
  command
    .argument('[language]', 'the code of one language, such as fr: lists its texts')
    .addHelpText('after', examples(terminal, 'languages', 'languages fr', 'languages --json'))
    .action(async (language: string | undefined, _options: unknown, self: Command) =>
      printAnswer(terminal, await answerOf(terminal.env.LANGUAGES_DIR, language), self),
    );
}

async function answerOf(folder: string | undefined, language: string | undefined): Promise<Answer> {
  const { texts, mistakes } = folder ? await readOwnTexts(folder) : { texts: {} as OwnTexts, mistakes: [] };
  useOwnTexts(texts);
  const reports = allLanguages().map((one) => reportOf(one, texts[one]));
  const [one] = reports.filter((report) => report.language === language);
  if (language !== undefined && !one)
    throw new ConfigError([`There is no language “${language}”. There are ${allLanguages().join(', ')}`]);
  const shown = one ? listed(one) : overview(reports);
  return {
    json: { languages: one ? [one] : reports, mistakes },
    text: [shown, ...mistakes].join('\n\n'),
    ...(mistakes.length > 0 ? { exitCode: 1 as const } : {}),
  };
}

function overview(reports: TextReport[]): string {
  const rows = reports.map(({ language, translated, missing, unused, suspicious }) => [
    language,
    SHIPPED_LANGUAGES.includes(language) ? nameOfLanguage(language) : `${nameOfLanguage(language)} (yours)`,
    translated,
    missing.length,
    unused.length,
    suspicious.length,
  ]);
  return table(['Code', 'Language', 'Translated', 'Missing', 'Unused', 'Suspicious'], rows, 'No languages.');
}

function listed({ language, translated, missing, unused, suspicious }: TextReport): string {
  const block = (title: string, lines: string[]) =>
    lines.length > 0 ? [`${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`] : [];
  return [
    pairs([
      ['Language', nameOfLanguage(language)],
      ['Translated', translated],
      ['Missing', missing.length],
    ]),
    ...block('Missing', missing),
    ...block('Unused', unused),
    ...block(
      'Suspicious',
      suspicious.map(({ source, reason }) => `${source}: ${reason}`),
    ),
  ].join('\n\n');
}
