/**
 * Loaded before a process of ours starts (`--import`). Writes each connection, name lookup and datagram to the file
 * `DIAL_GUARD_FILE`, one per line, and refuses all except connections to `DIAL_GUARD_ALLOWED` (`127.0.0.1:27017,…`).
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import dnsPromises from 'node:dns/promises';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const { DIAL_GUARD_FILE = '', DIAL_GUARD_ALLOWED = '' } = process.env;
const allowed = DIAL_GUARD_ALLOWED.split(',');

// biome-ignore lint/suspicious/noExplicitAny: the functions of Node have many forms.
type Any = any;

function note(target: string): void {
  appendFileSync(DIAL_GUARD_FILE, `${target}\n`);
  if (!allowed.includes(target)) throw new Error(`refused by the test: ${target}`);
}

/**
 * The target of a connection, from the arguments `connect(options)`, `connect(port, host)`, `connect(path)` or Node's
 * normalized list.
 */
function targetOf(args: Any[]): string {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === 'object') return first.path ?? `${first.host ?? 'localhost'}:${first.port}`;
  return typeof second === 'string' ? `${second}:${first}` : String(first);
}

const { connect } = net.Socket.prototype as Any;
(net.Socket.prototype as Any).connect = function (this: net.Socket, ...args: Any[]) {
  note(targetOf(args));
  return connect.apply(this, args);
};

for (const [what, owner] of Object.entries({
  dns,
  dnsPromises,
  resolver: dns.Resolver.prototype,
  promisesResolver: dnsPromises.Resolver.prototype,
}) as [string, Any][]) {
  for (const name of Object.getOwnPropertyNames(owner).filter((one) =>
    /^(lookup|resolve|reverse)/.test(one),
  )) {
    const original = owner[name];
    owner[name] = function (this: unknown, host: string, ...rest: Any[]) {
      // Listening on an IP address causes a lookup too, which is not recorded.
      if (net.isIP(host) === 0) note(`${what}.${name} ${host}`);
      return original.call(this, host, ...rest);
    };
  }
}

for (const name of ['connect', 'send'] as const) {
  (dgram.Socket.prototype as Any)[name] = () => note(`datagram ${name}`);
}
syncBuiltinESMExports();
