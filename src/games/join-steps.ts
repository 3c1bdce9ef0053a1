import { defineMessage, filled, type Text } from '../language/t.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import { findGame, type Game, queryPorts } from './games.ts';

/** `address` and `port` are those for players. */
export type Joined = {
  game?: string | null | undefined;
  address: string;
  port: number;
  queryPort?: number | null | undefined;
};

/** `link` opens the game. */
export type JoinSteps = { steps: Text[]; link: string | null };

/** A host name, or an IPv4 address. Nothing else becomes part of a link. */
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

/** `whole` is the address with its port. */
type Place = { game: string; host: string; port: string; whole: string };

const open = ({ game }: Place) => filled(defineMessage('Open {game}.'), { game });
const paste = ({ whole }: Place) => filled(defineMessage('Paste the address: {address}'), { address: whole });
const enter = (command: string) => filled(defineMessage('Enter: {command}'), { command });
const twoFields = ({ host, port }: Place) =>
  filled(defineMessage('Enter the address {host} and the port {port}.'), { host, port });

const STEPS: Record<string, (place: Place) => Text[]> = {
  minecraft: (place) => [
    open(place),
    defineMessage('Choose “Multiplayer”, then “Add Server”.'),
    paste(place),
  ],
  mbe: (place) => [
    open(place),
    defineMessage('Choose “Play”, then “Servers”, then “Add Server”.'),
    twoFields(place),
  ],
  rust: (place) => [
    open(place),
    defineMessage('Press F1 to open the console.'),
    enter(`client.connect ${place.whole}`),
  ],
  gta5f: (place) => [defineMessage('Open FiveM and press F8.'), enter(`connect ${place.whole}`)],
  valheim: (place) => [open(place), defineMessage('Choose “Join Game”, then “Add server”.'), paste(place)],
  terrariatshock: (place) => [
    open(place),
    defineMessage('Choose “Multiplayer”, then “Join via IP”.'),
    twoFields(place),
  ],
};

/** For games whose servers are in Steam's own list. */
const inSteam = (whole: string): Text[] => [
  defineMessage('In Steam, choose “View”, then “Game Servers”, then “Favorites”.'),
  filled(defineMessage('Press “+” and paste the address: {address}'), { address: whole }),
  defineMessage('Choose the server and press “Connect”.'),
];

const STEAM = ['valve', 'dayz', 'sdtd'];

/** A game without known steps gets those of Steam's list, or steps that name the address. */
export function joinSteps(server: Joined): JoinSteps {
  const { address: host, port } = server;
  const whole = hostAndPort(host, port);
  const game = findGame(server.game ?? '');
  const steam = game && STEAM.includes(game.protocol) ? `${host}:${steamPort(game, server)}` : null;
  const link = steam && HOST.test(host) ? `steam://connect/${steam}` : null;
  const place = { game: game?.name ?? '', host, port: String(port), whole };
  const known = game && STEPS[game.id]?.(place);
  if (known) return { steps: known, link };
  if (steam) return { steps: inSteam(steam), link };
  const last = filled(defineMessage('Enter the address where the game asks for a server: {address}'), {
    address: whole,
  });
  return { steps: game ? [open(place), last] : [last], link };
}

/** Steam queries the server before it opens the game, so it needs the port for queries. */
function steamPort(game: Game, { port, queryPort = null }: Joined) {
  const [first = port] = queryPorts({ port, queryPort }, game);
  return first;
}
