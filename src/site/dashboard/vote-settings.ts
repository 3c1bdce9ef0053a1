import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BEDROCK_PREFIX, nameKindOfServer } from '../../games/player-names.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import {
  LONGEST_HOW_TO_VOTE,
  LONGEST_PREFIX,
  readHowToVote,
  requireProvenId,
  setHowToVote,
  setPlayerNames,
  switchVoteForm,
} from '../../servers/vote-options.ts';
import { nameOptionsOf } from '../../votes/identity/player-name.ts';
import { offersSteam } from '../../votes/identity/steam-players.ts';
import { OWNER } from '../route-options.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute } from '../shared/form-route.ts';
import { count } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { button, card, checkbox } from '../shared/parts.ts';
import { writtenText } from '../shared/written-text.ts';

/** `preview`: a text about voting that is not saved. */
export type VoteShowing = { howToVote?: Typed; preview?: string; identity?: Typed };

export function voteSettingsCards(
  path: string,
  config: Pick<Config, 'STEAM_SIGN_IN'>,
  server: Server,
  { howToVote, preview, identity }: VoteShowing,
): Html {
  return html`${voteFormCard(`${path}/web-votes`, server)}
      ${identityCard(path, config, server, identity)}
      ${howToVoteCard(`${path}/how-to-vote`, server, howToVote, preview)}`;
}

export function voteSettingsRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  page: (request: FastifyRequest, showing: VoteShowing) => Promise<Page>,
): void {
  formRoute(app, {
    path: '/servers/:serverId/settings/web-votes',
    access: OWNER,
    schema: z.object({ webVotes: z.enum(['on', 'off']) }),
    run: async ({ server, by, path, data }) => {
      await switchVoteForm(deps, server._id, data.webVotes === 'on', by);
      return `${path('/settings')}?done=saved#vote-form`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/how-to-vote',
    access: OWNER,
    schema: z.object({ howToVote: z.string(), do: z.string().optional() }),
    show: (request, typed) => page(request, { howToVote: typed }),
    run: async ({ request, server, by, path, data, values }) => {
      if (data.do === 'preview') {
        const preview = readHowToVote(data.howToVote);
        return { page: page(request, { howToVote: { values, errors: {} }, preview }) };
      }
      await setHowToVote(deps, server._id, data.howToVote, by);
      return `${path('/settings')}?done=saved-text#how-to-vote`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/bedrock-prefix',
    access: OWNER,
    schema: z.object({
      bedrockPrefix: fieldText,
      bedrockPlain: z.string().optional(),
      bedrockSpaces: z.string().optional(),
      offlineMode: z.string().optional(),
    }),
    show: (request, identity) => page(request, { identity }),
    run: async ({ server, by, path, data }) => {
      await setPlayerNames(deps, server._id, data, by);
      return `${path('/settings')}?done=saved#identity`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/proven-id',
    access: OWNER,
    schema: z.object({ required: z.enum(['yes', 'no']) }),
    run: async ({ server, by, path, data }) => {
      await requireProvenId(deps, server._id, data.required === 'yes', by);
      return `${path('/settings')}?done=saved#identity`;
    },
  });
}

function voteFormCard(path: string, { webVotes }: Server): Html {
  const isOn = webVotes !== false;
  const about = isOn
    ? t(
        'Players can vote on the page of your server. A vote needs no account; bulk voting is limited by network, and unusual votes wait for the operator of this listing.',
      )
    : t('The page of your server has no vote form. Players vote only with your plugin or website.');
  return card({
    id: 'vote-form',
    title: t('Vote form'),
    body: html`<p>${about}</p>
      ${button({
        to: path,
        text: isOn ? t('Switch the vote form off') : t('Switch the vote form on'),
        hidden: { webVotes: isOn ? 'off' : 'on' },
      })}`,
  });
}

function identityCard(
  path: string,
  config: Pick<Config, 'STEAM_SIGN_IN'>,
  server: Server,
  typed = UNTOUCHED,
): Content {
  if (offersSteam(config, server)) return steamCard(`${path}/proven-id`, server);
  return nameKindOfServer(server) === 'minecraft' ? bedrockCard(`${path}/bedrock-prefix`, server, typed) : '';
}

function steamCard(to: string, { provenIdOnly }: Server): Html {
  const about = provenIdOnly
    ? t('The vote form takes only SteamIDs that Steam confirmed. Votes of the API are not affected.')
    : t(
        'Players may type any SteamID into the vote form. If you require a sign-in through Steam, only the player with that SteamID can vote with it. Votes of the API are not affected.',
      );
  const text = provenIdOnly ? t('Take every SteamID') : t('Require a sign-in through Steam');
  return card({
    id: 'identity',
    title: t('Steam players'),
    body: html`<p>${about}</p>${button({ to, text, hidden: { required: provenIdOnly ? 'no' : 'yes' } })}`,
  });
}

function bedrockCard(to: string, server: Server, typed: Typed): Html {
  const { values } = typed;
  const about = t(
    'The vote form takes names of Minecraft: Java Edition, and names of Bedrock Edition as Floodgate makes them. Votes of the API take every name.',
  );
  const box = (name: 'bedrockPlain' | 'bedrockSpaces' | 'offlineMode', label: string) =>
    checkbox({
      name,
      label,
      checked: 'bedrockPrefix' in values ? values[name] === 'yes' : nameOptionsOf(server)[name] === true,
    });
  return card({
    id: 'identity',
    title: t('Names of players'),
    body: html`<p>${about}</p>
      <form method="post" action="${to}" class="stack">
        ${fieldsOf(typed).text('bedrockPrefix', {
          label: t('What names of Bedrock Edition begin with'),
          hint: t(
            'The username-prefix of Floodgate. Leave it empty if only players of Java Edition can join.',
          ),
          value: server.bedrockPrefix ?? BEDROCK_PREFIX,
          maxlength: 4 * LONGEST_PREFIX,
          autocapitalize: 'none',
          spellcheck: false,
        })}
        ${box('bedrockPlain', t('Names of Bedrock Edition have no prefix (username-prefix is empty)'))}
        ${box('bedrockSpaces', t('They keep their spaces (replace-spaces: false)'))}
        ${box('offlineMode', t('Names of offline mode: also with one or two characters, dots and hyphens'))}
        <button type="submit" class="quiet">${t('Save')}</button>
      </form>`,
  });
}

function howToVoteCard(path: string, { howToVote }: Server, typed = UNTOUCHED, preview?: string): Html {
  const field = fieldsOf(typed).area('howToVote', {
    label: t('Rewards and how to vote'),
    hint: t('Up to {characters} characters of plain text. URLs that begin with https:// become links.', {
      characters: count(LONGEST_HOW_TO_VOTE),
    }),
    rows: 6,
    value: howToVote ?? '',
  });
  const shown = preview ?? howToVote;
  const heading = preview === undefined ? t('As players see it') : t('Preview (not saved)');
  return card({
    id: 'how-to-vote',
    title: t('How to vote'),
    isResult: preview !== undefined,
    body: html`<form method="post" action="${path}" class="stack">
        ${field}
        <div class="actions">
          <button type="submit">${t('Save')}</button>
          <button type="submit" class="quiet" name="do" value="preview">${t('Preview')}</button>
        </div>
      </form>
      ${shown ? html`<section><h3>${heading}</h3>${writtenText(shown)}</section>` : ''}`,
  });
}
