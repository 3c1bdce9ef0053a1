import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { ObjectId } from 'mongodb';
import { Webhook } from 'standardwebhooks';
import { setListener } from '../../src/delivery/change-listener.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { MAX_SENDINGS } from '../../src/listeners/delivery-limits.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import type { Receipt } from './history.ts';

/** What a storm can do to a listener. Each may be repeated, or undone twice. */
export type Listening = {
  away(): Promise<void>;
  back(): Promise<void>;
  losesAnswers(): void;
  resets(): void;
  slow(): void;
  behave(): void;
};

/** A listed server whose votes are judged. */
export type Target = Listening & {
  serverId: string;
  token: string;
  kind: 'working' | 'always-failing';
  /** v1 cannot confirm that a vote arrived, so a storm injects nothing that looks like a success. */
  confirms: boolean;
  /** How often a vote may be sent without an answer. */
  maxSendings: number;
  /** Only a website: answers 504, and keeps every second of these votes. */
  answers504?(): void;
  /** Parallel takers may reorder its votes. */
  mayReorder?: true;
  /** The proxy between the workers and its listener, or between what fetches and a web process. */
  line: FaultProxy;
  close(): Promise<void>;
};

/** Lists servers: by the features of this version, or by the command line of an earlier one. */
export type Lister = {
  /** Returns the server's id. */
  addServer(name: string): Promise<string>;
  issueToken(serverId: string): Promise<string>;
  setVotifier(serverId: string, settings: VotifierSettings): Promise<void>;
  /** Returns the secret that signs its requests. `maxSendings`: only this version knows it. */
  setHttp(serverId: string, url: string, maxSendings: number): Promise<string>;
};

export type VotifierSettings = {
  protocol: 'votifier-v1' | 'votifier-v2';
  host: string;
  port: number;
  /** The public key of v1, the token of v2. */
  secret: string;
};

/** Lists servers by the features of this version. */
export function listerOf(deps: AppDeps): Lister {
  return {
    async addServer(name) {
      const server = { name, address: 'play.example.org', port: 25_565 };
      return (await addServer(deps, server, 'storm')).serverId;
    },
    async issueToken(serverId) {
      return (await issueToken(deps, { serverId: new ObjectId(serverId), name: 'storm' })).token;
    },
    async setVotifier(serverId, settings) {
      await setListener(deps, new ObjectId(serverId), { ...settings, serviceName: 'Storm' }, 'storm');
    },
    async setHttp(serverId, url, maxSendings) {
      const settings = { url, serviceName: 'Storm', maxSendings };
      const { secret } = await setHttpListener(deps, new ObjectId(serverId), settings, 'storm');
      return secret ?? '';
    },
  };
}

type Wanted = {
  name: string;
  protocol: 'votifier-v1' | 'votifier-v2' | 'http';
  kind?: Target['kind'];
  /** Only of a website. */
  maxSendings?: number;
};

/** Lists a server and starts its listener behind a proxy that can be cut; every vote that it takes is noted. */
export async function addTarget(
  lister: Lister,
  { name, protocol, kind = 'working', maxSendings = MAX_SENDINGS }: Wanted,
  receipts: Receipt[],
): Promise<Target> {
  const serverId = await lister.addServer(name);
  const token = await lister.issueToken(serverId);
  const note = (receipt: Omit<Receipt, 'serverId' | 'receivedAt'>) =>
    receipts.push({ serverId, receivedAt: Date.now(), ...receipt });

  if (protocol === 'http') {
    const site = await startSite((_, { data }) =>
      note({ voteId: data.vote_id, username: data.username, votedAt: Date.parse(data.voted_at) }),
    );
    const line = await startFaultProxy(site.port, 'chunks');
    const url = `http://127.0.0.1:${line.port}/votes`;
    site.secret = await lister.setHttp(serverId, url, maxSendings);
    return { ...site, serverId, token, kind, confirms: true, maxSendings, line };
  }
  const listener = new VotifierListener({
    onVote: ({ username, timestamp, uuid }) =>
      note({ username, votedAt: Number(timestamp), ...(uuid ? { voteId: String(uuid) } : {}) }),
  });
  await listener.start();
  const line = await startFaultProxy(listener.port, 'chunks');
  const secret = protocol === 'votifier-v1' ? listener.publicKeyLine : listener.token;
  await lister.setVotifier(serverId, { protocol, host: '127.0.0.1', port: line.port, secret });
  if (kind === 'always-failing') listener.behaviour = { onConnect: 'silence' };
  const confirms = protocol !== 'votifier-v1';
  return {
    ...(confirms ? comingAndGoing(listener) : turningAway(listener)),
    serverId,
    token,
    kind,
    confirms,
    maxSendings: MAX_SENDINGS,
    line,
    losesAnswers() {
      listener.behaviour = { onFrame: 'silence' };
    },
    resets() {
      listener.behaviour = { onFrame: 'reset' };
    },
    slow() {
      listener.behaviour = { answerDelayMs: 700 };
    },
    behave() {
      listener.behaviour = {};
    },
    async close() {
      await line.close();
      await listener.stop();
    },
  };
}

/** Its port is closed, and open connections are cut. */
function comingAndGoing(listener: VotifierListener): Pick<Listening, 'away' | 'back'> {
  let open = true;
  return {
    async away() {
      open = false;
      await listener.stop();
    },
    async back() {
      if (open) return;
      await listener.start();
      open = true;
    },
  };
}

/** New connections are reset at once. Open ones stay, because in v1 a lost connection counts as a success. */
function turningAway(listener: VotifierListener): Pick<Listening, 'away' | 'back'> {
  return {
    async away() {
      listener.behaviour = { onConnect: 'reset' };
    },
    async back() {
      listener.behaviour = {};
    },
  };
}

/** The fields of a vote; an event has others too. */
type MessageData = {
  vote_id: string;
  username: string;
  voted_at: string;
  challenge?: string;
  round?: string;
};
type Message = { type: string; data: MessageData };

/** A website that takes signed messages. `take` gets the id and content of each that it took. */
export async function startSite(take: (id: string, message: Message) => void) {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let answer: 'say' | 'keep' | 'reset' | 'late' | '504' = 'say';
  let unavailable = 0;
  let server: Server | undefined;
  const site = {
    port,
    secret: '',
    async back() {
      if (server) return;
      const opened = createServer(async (request, response) => {
        const body = await text(request).catch(() => null);
        if (body === null) return;
        const headers = request.headers as Record<string, string>;
        const message = new Webhook(site.secret).verify(body, headers) as Message;
        if (message.data.challenge) {
          response.end(message.data.challenge);
          return;
        }
        const is504 = answer === '504';
        // The gateway gives up before or after the website has taken the vote.
        if (is504) response.writeHead(504).end();
        if (is504 && unavailable++ % 2 === 0) return;
        take(headers['webhook-id'] ?? '', message);
        if (answer === 'reset') request.socket.resetAndDestroy();
        if (answer === 'say') response.writeHead(204).end();
        if (answer === 'late') setTimeout(() => response.writeHead(204).end(), 700);
      });
      opened.on('connection', (socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
      });
      server = opened;
      await new Promise<void>((resolve) => opened.listen(port, '127.0.0.1', resolve));
    },
    async away() {
      const closing = server;
      server = undefined;
      if (!closing) return;
      const closed = new Promise((resolve) => closing.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    losesAnswers() {
      answer = 'keep';
    },
    resets() {
      answer = 'reset';
    },
    slow() {
      answer = 'late';
    },
    answers504() {
      answer = '504';
    },
    behave() {
      answer = 'say';
    },
    close: () => site.away(),
  };
  await site.back();
  return site;
}
