import { statusPacket } from '../../src/demo/game-server.ts';
import { textFormatOf } from '../../src/games/text-formats.ts';
import { readA2sReply } from '../../src/probing/protocols/a2s.ts';
import { joinSplits } from '../../src/probing/protocols/a2s-splits.ts';
import { readPong } from '../../src/probing/protocols/bedrock.ts';
import { readMinecraftStatus } from '../../src/probing/protocols/minecraft-java.ts';
import { readKick } from '../../src/probing/protocols/minecraft-legacy.ts';
import { notABot, readQuakeStatus as readQuake, statusSaid } from '../../src/probing/protocols/quake.ts';
import { readInfo, readRules } from '../../src/probing/protocols/samp.ts';
import { readTeamSpeakReply, TEAMSPEAK2, TEAMSPEAK3 } from '../../src/probing/protocols/teamspeak.ts';
import { QueryError } from '../../src/probing/query-error.ts';
import { infoReply } from '../support/a2s-replies.ts';
import { PONG_HEAD, pongOf } from '../support/bedrock-pong.ts';
import { kickPacket } from '../support/fake-game-servers.ts';
import type { Target } from './target.ts';

const never = () => false;
const isQueryError = (error: unknown) => error instanceof QueryError;
const NAMES = 'MCPE;EU\\; EGGWARS;766;1.21.50;42;200;1;Level;Survival;1;19132;19133;';
/** The answers of game servers whose protocols are ours; test/probing/fuzz.slow.test.ts asks all of gamedig's. */
export const GAME_SERVERS: Target[] = [
  {
    name: 'status of a Minecraft server',
    seeds: [
      statusPacket({ players: { online: 3, max: 20 }, description: ['A', { translate: '%s', with: [1] }] }),
    ],
    parse: readMinecraftStatus,
    isOwnError: isQueryError,
    repeated: [{ before: '\xff\xff\x03\0\xff\xff\x03', piece: '[{"a":1},' }, { piece: '\x80' }],
  },
  {
    name: 'kick of an old Minecraft server',
    seeds: [kickPacket('§1\x0078\x001.6.4\0Room\x004\x0020'), kickPacket('A room§4§20')],
    parse: readKick,
    isOwnError: isQueryError,
    repeated: [
      { before: '\xff\x7f\xff', piece: '\0\xa7' },
      { before: '\xff\x7f\xff', piece: '\0\0' },
    ],
  },
  {
    name: 'pong of a Bedrock server',
    seeds: [pongOf(NAMES)],
    parse: readPong,
    isOwnError: isQueryError,
    repeated: [
      { before: `${PONG_HEAD.toString('latin1')}\xff\xf0`, piece: '\\;' },
      { before: `${PONG_HEAD.toString('latin1')}\xff\xf0`, piece: ';' },
    ],
  },
  {
    name: 'answer of a Source server',
    seeds: [
      infoReply({ edf: 0xf1, keywords: 'mp500,cp312', appId: 252_490 }),
      Buffer.from('ffffffff4101020304', 'hex'),
      Buffer.from('feffffff010000000200e004ffffffff49110041', 'hex'),
    ],
    parse(input) {
      const reply = joinSplits()(input) ?? input;
      readA2sReply(reply, (bytes) => bytes.toString());
    },
    isOwnError: isQueryError,
    repeated: [{ before: '\xff\xff\xff\xffI\x11a\0b\0c\0d\0', piece: ',cp1' }, { piece: '\xfe\xff\xff\xff' }],
  },
  {
    name: 'status of a Quake server',
    seeds: [
      '\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\^1A ^7room\\sv_maxclients\\8\n5 48 "Ada"\n0 0 "Sarge"\n',
      '\xff\xff\xff\xffstatusResponse\n\\hostname\\A\\clients\\7\\bots\\3\\maxclients\\8\n',
      '\xff\xff\xff\xffstatusResponse\n\\hostname\\A\\clients\\7\\g_humanplayers\\2\n',
    ].map((text) => Buffer.from(text, 'latin1')),
    parse(input) {
      const status = readQuake(input, 'statusResponse\n');
      if (status) statusSaid(status, textFormatOf({ id: 'xonotic', protocol: 'xonotic' }), notABot(1));
    },
    isOwnError: never,
    repeated: [
      { before: '\xff\xff\xff\xffstatusResponse\n', piece: '\\hostname\\^1' },
      { before: '\xff\xff\xff\xffstatusResponse\n\\hostname\\A\n', piece: '1 2 "a"\n' },
      { before: '\xff\xff\xff\xffstatusResponse\n\\hostname\\A\n', piece: ' ' },
    ],
  },
  {
    name: 'answers of a SA-MP server',
    seeds: [
      Buffer.from('\0\x03\0\x32\0\x0a\0\0\0Los Santos\x04\0\0\0Mode\x02\0\0\0en', 'latin1'),
      Buffer.from('\0\x03\0\x32\0\x06\0\0\0\xcf\xf0\xe8\xe2\xe5\xf2', 'latin1'),
      Buffer.from('\x02\0\x07version\x080.3.7-R2\x07lagcomp\x02On', 'latin1'),
    ],
    parse(input) {
      const format = textFormatOf({ id: 'gtasam', protocol: 'samp' });
      return [readInfo(input, format, false), readInfo(input, format, true), readRules(input, format)];
    },
    isOwnError: never,
    repeated: [
      { before: '\x02\0', piece: '\x01a' },
      { before: '\x02\0', piece: '\0' },
      { before: '\0\x03\0\x32\0\xff\xff\0\0', piece: '\xc7a' },
    ],
  },
  {
    name: 'reply of a TeamSpeak server',
    seeds: [
      'TS3\n\rWelcome\n\rerror id=0 msg=ok\n\r',
      'virtualserver_name=Our\\sroom\\p virtualserver_clientsonline=6\n\rerror id=0 msg=ok\n\r',
      'error id=2568 msg=insufficient\\sclient\\spermissions failed_permid=4\n\r',
      '[TS]\r\nserver_name=Old\r\nOK\r\n',
    ].map((text) => Buffer.from(text)),
    parse(input) {
      const format = textFormatOf({ id: 'teamspeak3', protocol: 'teamspeak3' });
      for (const { end } of [TEAMSPEAK3, TEAMSPEAK2])
        format.shown(readTeamSpeakReply(input, format, end)?.refusal ?? '');
    },
    isOwnError: never,
    repeated: [
      { piece: '\n\rerror id=' },
      { before: 'error id=', piece: '1' },
      { piece: '\\s' },
      { piece: '\n\r', behind: 'error id=0 msg=ok\n\r' },
    ],
  },
];
