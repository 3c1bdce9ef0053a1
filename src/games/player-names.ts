import { t } from '../language/t.ts';
import { otherEdition } from './editions.ts';
import { storedGameId } from './games.ts';
import { steamIdOf } from './steam-ids.ts';

/** The games whose vote form accepts only certain names, by gamedig's id. */
export const KIND_OF_GAME: Readonly<Record<string, NameKind>> = {
  minecraft: 'minecraft',
  mbe: 'bedrock',
  asa: 'steam',
  ase: 'steam',
  atlas: 'steam',
  conanexiles: 'steam',
  dayz: 'steam',
  dayzmod: 'steam',
  hurtworld: 'steam',
  rust: 'steam',
  sdtd: 'steam',
  unturned: 'steam',
};

/** The kind of names; `name` without a game. */
export function nameKindOf(game: string | null | undefined): NameKind {
  const id = game ? storedGameId(game) : undefined;
  return (id !== undefined && KIND_OF_GAME[id]) || 'name';
}

/** Of a server: with an address of each edition of Minecraft, the form takes names of both. */
export function nameKindOfServer({
  game,
  second,
}: {
  game?: string | null;
  second?: object | null;
}): NameKind {
  return second && otherEdition(game) ? 'minecraft' : nameKindOf(game);
}

/** That of Floodgate, which lets Bedrock players join Java servers. */
export const BEDROCK_PREFIX = '.';

export type NameOptions = {
  /** Empty if the server accepts no such names. */
  bedrockPrefix: string;
  /** Takes names of other lengths, with dots and hyphens. */
  offlineMode?: boolean;
  /** Floodgate gives names of Bedrock Edition no prefix. `bedrockPrefix` is then ignored. */
  bedrockPlain?: boolean;
  /** Floodgate keeps the spaces of gamertags (`replace-spaces: false`). */
  bedrockSpaces?: boolean;
  offersSteam?: boolean;
};

/** `mayBeOlder`: the server may have older votes with the refused name. */
export type ReadName = { name: string } | { error: string; mayBeOlder: boolean };

type NameRule = {
  /** What the names are, in the API's reference. */
  names: string;
  /** What the form takes and what is stored, in docs/player-names.md. */
  takes: string;
  storedAs: string;
  label: () => string;
  hint: (options: NameOptions) => string;
  inputmode: 'text' | 'url';
  /** In code points, as typed. */
  longest: number;
  /** @param text - trimmed */
  read: (text: string, options: NameOptions) => ReadName;
};

const LONGEST_NAME = 50;
/** The most characters of a name in the game. Floodgate cuts longer names, so plugins know only the cut name. */
const LONGEST_IN_GAME = 16;
/** The longest profile link; it may have parameters. */
const LONGEST_LINK = 300;

/** A SteamID and a gamertag are what the vote plugins of such games find votes by. */
export const NAME_RULES = {
  minecraft: {
    names: 'names of Minecraft: Java Edition, and those of Bedrock Edition with `bedrock_prefix`',
    takes: `a name of Java Edition: 3 to ${LONGEST_IN_GAME} letters (a to z), digits and underscores; a name of Bedrock Edition with the server's prefix; a name of another length if the server has a vote of it`,
    storedAs: `as typed; spaces after the prefix become underscores, and with the prefix it is cut to ${LONGEST_IN_GAME} characters, as in Floodgate`,
    label: () => t('Your player name'),
    hint: ({ bedrockPrefix: prefix, bedrockPlain }) =>
      prefix && !bedrockPlain
        ? t(
            'As in the game, for example Steve. On Bedrock Edition with “{prefix}” before it, as this server shows it.',
            {
              prefix,
            },
          )
        : t('As in the game, for example Steve.'),
    inputmode: 'text',
    longest: LONGEST_NAME,
    read: readMinecraftName,
  },
  bedrock: {
    names: 'gamertags',
    takes: `a gamertag of at most ${LONGEST_IN_GAME} letters of any script, digits and spaces; another name if the server has a vote of it`,
    storedAs: 'as typed, with single spaces',
    label: () => t('Your player name'),
    hint: () => t('Your gamertag, as in the game.'),
    inputmode: 'text',
    longest: LONGEST_NAME,
    read: readGamertag,
  },
  steam: {
    names: 'the 17 digits of a SteamID',
    takes: 'a SteamID of a person',
    storedAs: 'its 17 digits (SteamID64)',
    label: () => t('Your SteamID'),
    hint: () =>
      t('The 17 digits, or the address of your Steam profile. The game server finds your reward by it.'),
    inputmode: 'url',
    longest: LONGEST_LINK,
    read: readSteamId,
  },
  name: {
    names: 'any name',
    takes: 'any name but a mail address',
    storedAs: 'as typed',
    label: () => t('Your player name'),
    hint: () => t('As in the game.'),
    inputmode: 'text',
    longest: LONGEST_NAME,
    read: (name) => ({ name }),
  },
} as const satisfies Record<string, NameRule>;
export type NameKind = keyof typeof NAME_RULES;
export const NAME_KINDS = Object.keys(NAME_RULES) as NameKind[];

const JAVA_NAME = /^\w{3,16}$/;
/** Names from the first years of the game. */
const OLDER_JAVA_NAME = /^\w{1,25}$/;
/** Servers in offline mode check only that a name has at most 16 characters; these are the ones that plugins take. */
const OFFLINE_NAME = /^(?=.*\w)[\w.-]{1,16}$/;

function readMinecraftName(text: string, options: NameOptions): ReadName {
  if (JAVA_NAME.test(text)) return { name: text };
  if (options.offlineMode && OFFLINE_NAME.test(text)) return { name: text };
  const bedrock = readBedrockName(text, options);
  if (bedrock !== null) return { name: bedrock };
  return { error: minecraftError(options), mayBeOlder: OLDER_JAVA_NAME.test(text) };
}

function minecraftError({ offlineMode, bedrockPlain, bedrockSpaces, bedrockPrefix: prefix }: NameOptions) {
  if (offlineMode)
    return t(
      'This is not a name of this server: it has at most 16 letters from a to z, digits, underscores, dots and hyphens.',
    );
  if (bedrockPlain && bedrockSpaces)
    return t(
      'This is not a name of Minecraft: it has at most 16 letters, digits, underscores and single spaces.',
    );
  if (bedrockPlain)
    return t('This is not a name of Minecraft: it has at most 16 letters, digits and underscores.');
  return prefix
    ? t(
        'This is not a Minecraft name: it has 3 to 16 letters from a to z, digits and underscores. A name of Bedrock Edition begins with “{prefix}” here.',
        { prefix },
      )
    : t('This is not a Minecraft name: it has 3 to 16 letters from a to z, digits and underscores.');
}

/** As Floodgate makes it; null if the text is none. */
function readBedrockName(
  text: string,
  { bedrockPrefix, bedrockPlain, bedrockSpaces }: NameOptions,
): string | null {
  const prefix = bedrockPlain ? '' : bedrockPrefix;
  if (!text.startsWith(prefix) || (prefix === '' && !bedrockPlain)) return null;
  const typed = text.slice(prefix.length).trim().replaceAll(/ +/g, ' ');
  const gamertag = bedrockSpaces ? typed : typed.replaceAll(' ', '_');
  if (!PLAIN_GAMERTAG.test(gamertag) || gamertag.length > LONGEST_IN_GAME) return null;
  // Floodgate cuts UTF-16 units; half a character at the end is no name that anybody types.
  return `${prefix}${gamertag}`
    .slice(0, LONGEST_IN_GAME)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd();
}

/** Letters of any script, digits, underscores and single spaces. */
const PLAIN_GAMERTAG = /^[\p{L}\p{M}\p{N}_]+(?: [\p{L}\p{M}\p{N}_]+)*$/u;

function readGamertag(text: string): ReadName {
  const name = text.replaceAll(/ +/g, ' ');
  if (PLAIN_GAMERTAG.test(name) && [...name].length <= LONGEST_IN_GAME) return { name };
  return {
    error: t('This is not a gamertag: it has at most 16 letters, digits and spaces.'),
    // A server without Xbox accounts accepts other names, so it may have older votes with such names.
    mayBeOlder: true,
  };
}

function readSteamId(text: string, options: NameOptions): ReadName {
  const id = steamIdOf(text);
  if (id.kind === 'id') return { name: id.digits };
  return {
    error:
      id.kind === 'vanity'
        ? chosenName(options)
        : t(
            'This is not a SteamID. It has 17 digits and begins with 7656. Open Steam, click your name at the top right, then “Account details”: the digits are under your name.',
          ),
    mayBeOlder: false,
  };
}

/** Only Steam knows the SteamID behind a name that the player chose. */
function chosenName({ offersSteam }: NameOptions): string {
  return offersSteam
    ? t(
        'This address has a name of your choice, and not your SteamID. Press “Sign in through Steam” here instead. Or open Steam, click your name at the top right, then “Account details”: the 17 digits are under your name.',
      )
    : t(
        'This address has a name of your choice, and not your SteamID. Open Steam, click your name at the top right, then “Account details”: the 17 digits are under your name.',
      );
}
