import type { Command } from 'commander';
import { type Config, loadConfig } from '../../platform/config.ts';
import { ConfigError } from '../../platform/environment.ts';
import { hiding } from '../../platform/masked.ts';
import { readSecretFiles } from '../../platform/secret-settings.ts';
import { SECRETS, SECRETS_IN_FILES, SETTINGS } from '../../platform/settings/definitions.ts';
import { requireCanaryGames } from '../../probing/canary.ts';
import { readOwnTexts } from '../../settings/own-texts.ts';
import { readLogo } from '../../site/look/logo.ts';
import { readSitePages } from '../../site/site-pages.ts';
import { type Answer, printAnswer } from '../answer.ts';
import { examples } from '../invocation.ts';
import { countWithNoun, sentence } from '../output-format.ts';
import { oneLine, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { checkServices, type ServiceReport } from './check-services.ts';
import { risksOf } from './risks.ts';
import { listSettings, readStored, type ShownSetting } from './settings.ts';

export function addConfigCommands(config: Command, terminal: Terminal): void {
  config
    .command('check')
    .description(
      'print every setting with its source, without secrets, and what is wrong or risky; the exit code is 1 if a process would not start or a service cannot be used',
    )
    .option(
      '--connect',
      'also show the settings that are stored in MongoDB, and connect to MongoDB, Redis, the mail server and the OpenID Connect provider; changes nothing and sends no mail',
    )
    .addHelpText('after', examples(terminal, 'config check', 'config check --connect --json'))
    .action(async ({ connect = false }: { connect?: boolean }, command: Command) =>
      printAnswer(terminal, await checkConfig(terminal, connect), command),
    );
}

type Report = {
  settings: ShownSetting[];
  errors: string[];
  warnings: string[];
  /** The findings for each service; null without `--connect`, or if the configuration cannot be loaded. */
  services: ServiceReport[] | null;
};

async function checkConfig({ env, envFile }: Terminal, connect: boolean): Promise<Answer> {
  const given = readSecretFiles(env);
  const { config, errors } = await load(given.variables, env);
  const { variables } = given;
  const stored = connect && config ? await readStored(config) : null;
  const used = stored?.config ?? config;
  const report: Report = {
    settings: listSettings(given, envFile, config, stored?.texts),
    errors,
    warnings: [
      ...(used ? risksOf(used, variables) : []),
      ...unreadFiles(variables),
      ...(stored?.warnings ?? []),
    ].map(sentence),
    services: connect && used ? await checkServices(used) : null,
  };
  const hide = hiding([
    ...Object.entries(variables).flatMap(([name, value]) => (SECRETS.has(name) ? [value] : [])),
    ...(stored?.secrets ?? []),
  ]);
  return answerOf(report, hide, connect);
}

function unreadFiles(variables: Record<string, string>): string[] {
  return SETTINGS.filter((name) => variables[`${name}_FILE`] !== undefined)
    .filter((name) => !SECRETS_IN_FILES.includes(name))
    .map((name) => `The variable ${name}_FILE is not read: only secrets can be in a file`);
}

/** Loads the configuration as each process does, and reads the files and games that web and worker read at their start. */
async function load(
  variables: Record<string, string>,
  env: Terminal['env'],
): Promise<{ config: Config | null; errors: string[] }> {
  const errors: string[] = [];
  const attempt = async <T>(read: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      errors.push(...error.errors.map(sentence));
      return null;
    }
  };
  const config = await attempt(() => loadConfig(env));
  if (config) await attempt(() => requireCanaryGames(config));
  const { SITE_PAGES_DIR: folder, LOGO: logo, LANGUAGES_DIR: languages } = variables;
  if (folder) await attempt(() => readSitePages(folder));
  if (logo) await attempt(() => readLogo(logo));
  if (languages) await attempt(() => requireOwnTexts(languages));
  return { config, errors };
}

/** @throws {ConfigError} with each text that no process would use */
async function requireOwnTexts(folder: string): Promise<void> {
  const { mistakes } = await readOwnTexts(folder).catch((error: Error) => ({
    mistakes: [`LANGUAGES_DIR (“${folder}”) cannot be read: ${error.message}`],
  }));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}

function answerOf(
  { settings, errors, warnings, services }: Report,
  hide: (text: string) => string,
  connect: boolean,
): Answer {
  const shown = services?.map((report) => ({
    ...report,
    facts: report.facts.map(hide),
    warnings: report.warnings.map(hide),
    errors: report.errors.map(hide),
  }));
  const isOk = errors.length === 0 && !shown?.some(({ status }) => status === 'failed');
  const report = {
    settings,
    errors: errors.map(hide),
    warnings: warnings.map(hide),
    services: shown ?? null,
  };
  return {
    json: { ok: isOk, ...report },
    text: textOf(report, connect),
    ...(isOk ? {} : { exitCode: 1 as const }),
  };
}

function textOf({ settings, errors, warnings, services }: Report, connect: boolean): string {
  const rows = settings.map(({ name, source, value, file }) => [
    name,
    source,
    `${value ?? '-'}${file === undefined ? '' : ` (from ${file})`}`,
  ]);
  const allErrors = [...errors, ...(services ?? []).flatMap((service) => service.errors)];
  const allWarnings = [...warnings, ...(services ?? []).flatMap((service) => service.warnings)];
  const facts = (services ?? []).flatMap((service) => service.facts);
  return [
    table(['SETTING', 'SOURCE', 'VALUE'], rows, ''),
    ...(connect
      ? []
      : ['', 'Settings that operators changed in the admin area are not shown: add --connect.']),
    ...section('Services', facts),
    ...section('Warnings', allWarnings),
    ...section('Errors', allErrors),
    '',
    `${countWithNoun(allErrors.length, 'error')}, ${countWithNoun(allWarnings.length, 'warning')}.`,
  ].join('\n');
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${oneLine(line)}`)];
}
