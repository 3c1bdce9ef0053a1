import http from 'node:http';
import net, { type Socket } from 'node:net';
import { freePort } from '../../src/own-services/free-port.ts';
import { Responder, UdpResponder } from './fake-game-servers.ts';

/** What the HTTP side of a FiveM server does. */
export type WebManner = 'answers' | 'forbids' | 'closed' | 'silent' | 'drips' | 'resets' | 'speaks-html';

/** A FiveM server (citizenfx/fivem, `GameServer` and `InfoHttpHandler`): `getinfo` over UDP, `/info.json` on the same port. */
export class FivemServer extends UdpResponder {
  settings: Record<string, string> = {
    sv_maxclients: '128',
    clients: '77',
    challenge: 'xxx',
    gamename: 'CitizenFX',
    protocol: '4',
    hostname: '^1Night ^7City',
    iv: '-1362142591',
  };
  info: unknown = {
    server: 'FXServer-master SERVER v1.0.0.7290 win32',
    version: 1_362_142_591,
    vars: { sv_projectName: 'Night City' },
  };
  web: WebManner = 'answers';
  /** The paths of the HTTP requests. */
  readonly paths: string[] = [];
  #http: http.Server | undefined;

  protected answerTo(request: Buffer): Buffer | undefined {
    if (!request.toString('latin1').startsWith('\xff\xff\xff\xffgetinfo ')) return undefined;
    const settings = Object.entries(this.settings).map(([name, value]) => `\\${name}\\${value}`);
    return Buffer.concat([
      Buffer.from('\xff\xff\xff\xffinfoResponse\n', 'latin1'),
      Buffer.from(settings.join('')),
    ]);
  }

  override async start(): Promise<void> {
    this.port ||= await freePort();
    await super.start();
    if (this.web === 'closed') return;
    const server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#http = server;
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    this.paths.push(request.url ?? '');
    response.on('error', () => {});
    switch (this.web) {
      case 'silent':
        return;
      case 'resets':
        response.socket?.resetAndDestroy();
        return;
      case 'forbids':
        response.writeHead(403).end('Forbidden');
        return;
      case 'speaks-html':
        response.end('<html>Nothing here</html>');
        return;
      case 'drips':
        for (let index = 0; index < 100; index += 1) setTimeout(() => response.write(' '), index * 100);
        return;
      default:
        response.end(JSON.stringify(this.info));
    }
  }

  override async stop(): Promise<void> {
    this.#http?.closeAllConnections();
    this.#http?.close();
    await super.stop();
  }
}

/** A server of San Andreas Multiplayer (wiki.sa-mp.com, "Query Mechanism"), or of Vice City Multiplayer. */
export class SampServer extends UdpResponder {
  isVcmp = false;
  name: Buffer = Buffer.from('Los Santos');
  players = 3;
  maxPlayers = 50;
  rules: [name: string, value: string][] = [
    ['lagcomp', 'On'],
    ['version', '0.3.7-R2'],
  ];
  /** The letters of the questions that the server answers. */
  answered = 'ircd';
  /** The letters of all received questions. */
  readonly letters: string[] = [];

  protected answerTo(request: Buffer): Buffer | undefined {
    const letter = request.toString('latin1', 10, 11);
    this.letters.push(letter);
    if (!this.answered.includes(letter)) return undefined;
    const header = Buffer.from(request.subarray(0, 11));
    if (this.isVcmp) header.write('MP04');
    return Buffer.concat([header, letter === 'r' ? this.#rules() : this.#info()]);
  }

  #info(): Buffer {
    const counts = Buffer.alloc(5);
    counts.writeUInt16LE(this.players, 1);
    counts.writeUInt16LE(this.maxPlayers, 3);
    const version = Buffer.alloc(this.isVcmp ? 12 : 0);
    version.write('04rel006');
    return Buffer.concat([
      version,
      counts,
      ...[this.name, Buffer.from('Roleplay'), Buffer.from('en')].map(sized),
    ]);
  }

  #rules(): Buffer {
    const count = Buffer.alloc(2);
    count.writeUInt16LE(this.rules.length);
    const texts = this.rules.flat().map((text) => Buffer.from([text.length, ...Buffer.from(text)]));
    return Buffer.concat([count, ...texts]);
  }
}

/** A text with its length in four bytes before it. */
function sized(text: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text]);
}

const OK = 'error id=0 msg=ok\n\r';
/** The answer of a TeamSpeak 3 server if the client lacks the permission. */
export const NO_PERMISSION = 'error id=2568 msg=insufficient\\sclient\\spermissions failed_permid=4\n\r';

/** A TeamSpeak 3 server: ServerQuery over TCP (TeamSpeak 3 Server Query Manual). */
export class TeamspeakServer extends Responder {
  /** The answer to `serverinfo`. A string is sent unchanged. */
  info: Record<string, string> | string = {
    virtualserver_name: 'Our\\sroom',
    virtualserver_maxclients: '32',
    virtualserver_clientsonline: '6',
    virtualserver_queryclientsonline: '1',
    virtualserver_version: '3.13.7\\s[Build:\\s1655727713]',
  };
  /** Answers that replace the usual ones, by the first word of the command. `''`: no answer. */
  answers: Record<string, string> = {};
  greeting = 'TS3\n\rWelcome to the TeamSpeak 3 ServerQuery interface.\n\r';
  readonly commands: string[] = [];
  readonly #sockets = new Set<Socket>();
  #server: net.Server | undefined;

  get open(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    const server = net.createServer((socket) => this.#accept(socket));
    this.port ||= await freePort();
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket
      .on('close', () => this.#sockets.delete(socket))
      .on('error', () => socket.destroy())
      .write(this.greeting);
    socket.on('data', (bytes) => {
      const command = bytes.toString().trim();
      this.commands.push(command);
      if (!this.hears()) return;
      const answer = this.answers[command.split(' ')[0] ?? ''] ?? this.#usual(command);
      // Like many real servers, send the answer in two segments.
      const half = Math.floor(answer.length / 2);
      socket.write(answer.slice(0, half));
      setImmediate(() => socket.write(answer.slice(half)));
    });
  }

  #usual(command: string): string {
    if (command === 'clientlist') return `clid=1 client_nickname=Ada client_type=0\n\r${OK}`;
    if (command !== 'serverinfo') return OK;
    if (typeof this.info === 'string') return this.info;
    const fields = Object.entries(this.info).map(([name, value]) => `${name}=${value}`);
    return `virtualserver_unique_identifier=aBc\\/dEf= ${fields.join(' ')}\n\r${OK}`;
  }
}
