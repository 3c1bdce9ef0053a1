import { type Command, Option } from 'commander';
import type { ObjectId, WithId } from 'mongodb';
import { rewardsOf } from '../listeners/listener.ts';
import { after, DAY, HOUR } from '../platform/clock.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { emailsOf } from '../servers/actor-names.ts';
import {
  type ApiToken,
  kindOf,
  scopesOf,
  TOKEN_KINDS,
  type TokenKind,
  type TokenScope,
} from '../servers/api-token.ts';
import {
  isOld,
  issueToken,
  listTokens,
  revokeToken,
  rotateToken,
  USUAL_LIFETIME_MS,
} from '../servers/api-tokens.ts';
import { REVOKED_WITHIN_SECONDS } from '../servers/authenticate-token.ts';
import type { Server } from '../servers/server.ts';
import { vrcFile } from '../votes/claims/vrc-file.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError, wrongUse } from './failure.ts';
import { BY, objectIdOf, requireServer } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { durationOption, durationOrNever, scopes } from './option-values.ts';
import { iso, when } from './output-format.ts';
import type { Session } from './session.ts';
import { oneLine, table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addTokenCommands(token: Command, terminal: Terminal): void {
  token
    .command('issue')
    .description('make a token; it is shown only once')
    .argument('<server>', 'id or slug')
    .option('--name <name>', 'a name for the owner’s list of tokens', 'API token')
    .addOption(
      new Option(
        '--kind <kind>',
        'api: for the whole API; claim: a key for vote plugins that ask, which may only check and claim votes; deliver: for a relay or plugin that fetches, which may only take votes and settle them',
      )
        .choices(TOKEN_KINDS)
        .default('api'),
    )
    .option('--scopes <scopes>', 'what an API token may do: vote, status, read; all by default', scopes)
    .addOption(
      new Option('--expires-in <time>', 'how long it is valid, such as 90d, or never')
        .argParser(durationOrNever)
        .default(USUAL_LIFETIME_MS, `${USUAL_LIFETIME_MS / DAY}d`),
    )
    .addHelpText(
      'after',
      examples(
        terminal,
        'token issue alpha-craft --name website --expires-in 90d',
        'token issue alpha-craft --name status-plugin --scopes status --expires-in never',
        'token issue alpha-craft --kind claim --name EasyVote --json',
        'token issue alpha-craft --kind deliver --name relay --expires-in never',
      ),
    )
    .action(withDeps(terminal, issue));

  token
    .command('list')
    .description('show a server’s tokens')
    .argument('<server>', 'id or slug; also of a removed server')
    .addHelpText('after', examples(terminal, 'token list alpha-craft'))
    .action(withDeps(terminal, listServerTokens));

  token
    .command('revoke')
    .description('revoke a token; it is refused from now on')
    .argument('<server>', 'id or slug; also of a removed server')
    .argument('[token_id]', 'which one; not needed if there is only one')
    .addHelpText(
      'after',
      examples(terminal, 'token revoke alpha-craft', 'token revoke alpha-craft 692019c0f0d3b1a2c4e5f607'),
    )
    .action(withDeps(terminal, revoke));

  token
    .command('rotate')
    .description('replace a token; the old one stays valid for a while')
    .argument('<server>', 'id or slug')
    .argument('<token_id>', 'the one to replace')
    .option('--overlap <time>', 'how long the old one stays valid, such as 1h', durationOption, HOUR)
    .addHelpText(
      'after',
      examples(terminal, 'token rotate alpha-craft 692019c0f0d3b1a2c4e5f607 --overlap 1d'),
    )
    .action(withDeps(terminal, rotate));
}

const KIND_NAMES: Record<TokenKind, string> = {
  api: 'The token',
  claim: 'The claim key',
  deliver: 'The delivery token',
};

type IssueOptions = { name: string; kind: TokenKind; scopes?: TokenScope[]; expiresIn: number | 'never' };

async function issue(deps: Session, text: string, options: IssueOptions): Promise<Answer> {
  const { name, kind, scopes: only, expiresIn } = options;
  if (only && kind === 'claim')
    throw wrongUse('A claim key has no scopes: it may only check and claim votes.');
  if (only && kind === 'deliver')
    throw wrongUse('A delivery token has no scopes: it may only take votes and settle them.');
  const server = await requireServer(deps, text);
  const request = {
    serverId: server._id,
    name,
    kind,
    ...(only ? { scopes: only } : {}),
    maker: { byOperator: true },
    ...(expiresIn === 'never' ? {} : { expiresInMs: expiresIn }),
  } as const;
  const { tokenId, token } = await issueToken(deps, request, BY);
  const now = deps.clock.now();
  const until = expiresIn === 'never' ? 'until it is revoked' : `until ${when(after(now, expiresIn), now)}`;
  const head = `${KIND_NAMES[kind]} ${tokenId} (“${name.trim()}”) is valid for ${server.slug} ${until}:`;
  if (kind === 'claim') return claimKeyAnswer(deps, server, head, tokenId, token);
  return {
    json: { token_id: tokenId, token },
    text: shownOnce(
      head,
      token,
      `Use it for ${deps.config.PUBLIC_URL}/api/v1/servers/${server._id.toHexString()}/${kind === 'deliver' ? 'deliveries/take and /done' : '…'} with the header`,
    ),
  };
}

async function claimKeyAnswer(
  { config, listeners, terminal }: Session,
  server: WithId<Server>,
  head: string,
  tokenId: string,
  key: string,
): Promise<Answer> {
  const url = config.PUBLIC_URL;
  const vrc = vrcFile({ name: config.SERVICE_NAME, url }, `${url}/servers/${server.slug}`, key);
  const listener = await listeners.findOne({ serverId: server._id });
  const rewards = rewardsOf(listener);
  const choice = (values: string) => invocation(`listener rewards ${server.slug} ${values}`, terminal.env);
  const warnings = {
    both: `${server.slug} also has a vote listener: a listener that rewards and a plugin that claims give each vote twice. Choose one (push, claims or both), for example: ${choice('claims')}`,
    push: `Votes of ${server.slug} cannot be claimed, because its owner has chosen the vote listener. Change it: ${choice('claims')}`,
    claims: '',
  };
  const warning = listener?.rewards === 'both' ? '' : warnings[rewards];
  return {
    json: { token_id: tokenId, key, vrc, rewards, ...(warning ? { warning } : {}) },
    text: [
      head,
      '',
      `  ${key}`,
      '',
      'It is shown only once. It may only check and claim votes:',
      `  ${url}/api/?object=votes&element=claim&key=KEY&username=PLAYER`,
      `  ${url}/api/?action=status&key=KEY&username=PLAYER`,
      '',
      'The .vrc file of VoteReward:',
      '',
      JSON.stringify(vrc, null, 2),
      ...(warning ? ['', warning] : []),
    ].join('\n'),
  };
}

function shownOnce(head: string, token: string, use: string): string {
  return `${head}\n\n  ${token}\n\n${use}\n“Authorization: Bearer <token>”. It is shown only once: keep it safe.`;
}

async function revoke(deps: AppDeps, text: string, tokenText: string | undefined): Promise<Answer> {
  const server = await requireServer(deps, text, { removed: true });
  const tokenId = tokenText === undefined ? await onlyToken(deps, server._id) : objectIdOf(tokenText);
  if (!tokenId || !(await revokeToken(deps, server._id, tokenId, BY)))
    throw noSuchToken(server.slug, tokenText);
  return {
    json: { token_id: tokenId.toHexString(), revoked: true },
    text: `Revoked ${tokenId.toHexString()}: it is refused within ${REVOKED_WITHIN_SECONDS} seconds.`,
  };
}

async function onlyToken(deps: AppDeps, serverId: ObjectId): Promise<ObjectId | null> {
  const now = deps.clock.now();
  const valid = (await listTokens(deps, serverId)).filter((token) => tokenState(token, now) === 'valid');
  if (valid.length > 1) {
    const names = valid.map((token) => `  ${token._id.toHexString()}  ${oneLine(token.name)}`);
    throw wrongUse(`Give the id of the token to revoke:\n${names.join('\n')}`);
  }
  return valid[0]?._id ?? null;
}

function noSuchToken(slug: string, tokenText: string | undefined): CommandError {
  const which = tokenText === undefined ? 'no valid token' : `no token with the id “${tokenText}”`;
  return new CommandError('token-not-found', `${slug} has ${which}.`);
}

async function rotate(
  deps: AppDeps,
  text: string,
  tokenText: string,
  { overlap }: { overlap: number },
): Promise<Answer> {
  const server = await requireServer(deps, text);
  const oldId = objectIdOf(tokenText);
  const options = { overlapMs: overlap, maker: { byOperator: true } } as const;
  const issued = oldId && (await rotateToken(deps, server._id, oldId, options, BY));
  if (!issued) {
    throw new CommandError(
      'token-not-found',
      `${server.slug} has no valid token with the id “${tokenText}”.`,
    );
  }
  const old = await deps.apiTokens.findOne({ _id: oldId });
  const now = deps.clock.now();
  return {
    json: {
      token_id: issued.tokenId,
      token: issued.token,
      old_token_id: oldId.toHexString(),
      old_expires_at: iso(old?.expiresAt),
    },
    text: shownOnce(
      `The token ${issued.tokenId} replaces ${oldId.toHexString()}:`,
      issued.token,
      `The old one is refused from ${when(old?.expiresAt, now)}. Use the new one with the header`,
    ),
  };
}

async function listServerTokens(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text, { removed: true });
  const tokens = await listTokens(session, server._id);
  const now = session.clock.now();
  const emails = await emailsOf(
    session,
    tokens.flatMap(({ issuedBy }) => (issuedBy ? [issuedBy] : [])),
  );
  const makerOf = ({ issuedBy, byOperator }: ApiToken) =>
    issuedBy
      ? (emails.get(issuedBy.toHexString()) ?? issuedBy.toHexString())
      : byOperator
        ? 'operator'
        : null;
  const old = tokens.filter((token) => isOld(token, now)).length;
  const rows = tokens.map((token) => [
    token._id.toHexString(),
    token.name,
    kindOf(token) === 'api' ? scopesOf(token).join(',') : kindOf(token),
    `${token.prefix}…`,
    tokenState(token, now),
    when(token.createdAt, now),
    makerOf(token) ?? 'not recorded',
    isOld(token, now) ? 'never (old)' : when(token.expiresAt, now),
    when(token.lastUsedAt, now),
  ]);
  return {
    json: { tokens: tokens.map((token) => ({ ...tokenJson(token, now), made_by: makerOf(token) })) },
    text: `${table(
      ['TOKEN ID', 'NAME', 'FOR', 'BEGINS', 'STATE', 'MADE', 'MADE BY', 'EXPIRES', 'LAST USED'],
      rows,
      `${server.slug} has no token yet. Make one: ${invocation(`token issue ${server.slug}`, session.terminal.env)}`,
    )}${old === 0 ? '' : oldWarning(server.slug, old, session)}`,
  };
}

function oldWarning(slug: string, old: number, { terminal }: Session): string {
  const tokens = old === 1 ? '1 valid token is' : `${old} valid tokens are`;
  return `\n\n${tokens} over a year old and never expire${old === 1 ? 's' : ''}. Replace or revoke: ${invocation(`token rotate ${slug} TOKEN_ID`, terminal.env)}`;
}

function tokenState({ revokedAt, expiresAt }: ApiToken, now: Date): 'valid' | 'expired' | 'revoked' {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt <= now ? 'expired' : 'valid';
}

function tokenJson(token: WithId<ApiToken>, now: Date): Record<string, unknown> {
  return {
    token_id: token._id.toHexString(),
    name: token.name,
    kind: kindOf(token),
    scopes: kindOf(token) === 'api' ? scopesOf(token) : [],
    prefix: token.prefix,
    state: tokenState(token, now),
    created_at: iso(token.createdAt),
    expires_at: iso(token.expiresAt),
    is_old: isOld(token, now),
    revoked_at: iso(token.revokedAt),
    last_used_at: iso(token.lastUsedAt),
  };
}
