import os from 'node:os';
import ipaddr from 'ipaddr.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AddressError, HostError, parseHost } from '../../src/platform/address-guard.ts';
import { resolveAddress } from '../../src/platform/resolve-address.ts';
import { ipv4, nameServer, silentNameServer, useNameServers } from '../support/fake-name-server.ts';

const NONE = { ranges: { ALLOWED_PRIVATE_RANGES: [], REFUSED_RANGES: [] }, timeoutMs: 1_000 };

/** A resolver with the same answer for every name. */
function answering(...addresses: string[]) {
  return async () => addresses.map((address) => ({ address }));
}

/** A resolver that never answers. */
function silent() {
  return new Promise<never>(() => {});
}

function failing(code: string) {
  return () => Promise.reject(Object.assign(new Error(code), { code }));
}

async function faultOf(resolving: Promise<unknown>): Promise<AddressError['code'] | unknown> {
  return resolving.then(
    (value) => value,
    (error) => error.code,
  );
}

const HOSTILE = [
  ['this network', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['shared (CGNAT)', '100.64.0.1'],
  ['shared (CGNAT)', '100.127.255.255'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['public by its range, Azure’s wire server', '168.63.129.16'],
  ['link-local, where clouds keep their metadata', '169.254.169.254'],
  ['protocol assignments', '192.0.0.8'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.1'],
  ['documentation', '203.0.113.1'],
  ['6to4 relay', '192.88.99.1'],
  ['benchmarking', '198.18.0.1'],
  ['benchmarking', '198.19.255.255'],
  ['multicast', '224.0.0.1'],
  ['multicast', '239.255.255.255'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['loopback, written at length', '0:0:0:0:0:0:0:1'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['IPv4-compatible', '::10.0.0.1'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped', '::ffff:7f00:1'],
  ['IPv4-mapped, public inside', '::ffff:8.8.8.8'],
  ['IPv4-translated', '::ffff:0:10.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64 of a cloud’s metadata', '64:ff9b::a9fe:a9fe'],
  ['NAT64 of Azure’s wire server', '64:ff9b::a83f:8110'],
  ['NAT64, local use', '64:ff9b:1::a00:1'],
  // A prefix of 48 bits has the IPv4 address in the middle: these lead to 10.0.0.1 and 169.254.169.254.
  ['NAT64, local use', '64:ff9b:1:a00:0:100:808:808'],
  ['NAT64, local use', '64:ff9b:1:a9fe:a9:fe00:808:808'],
  ['discard', '100::1'],
  ['Teredo', '2001::1'],
  ['benchmarking', '2001:2::1'],
  ['ORCHID', '2001:10::1'],
  ['ORCHIDv2', '2001:20::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['6to4 of 127.0.0.1', '2002:7f00:1::1'],
  ['segment routing', '5f00::1'],
  ['unassigned', '4000::1'],
  ['unique local', 'fc00::1'],
  ['unique local', 'fd12:3456::1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%1'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
] as const;

describe('resolveAddress', () => {
  it('takes a name whose name server answers with NAT64 (DNS64), alone or beside IPv4', async () => {
    const lookup = answering('64:ff9b::808:808', '8.8.8.8');
    expect(await resolveAddress('name.example', { ...NONE, lookup })).toEqual([
      '64:ff9b::808:808',
      '8.8.8.8',
    ]);
    const alone = answering('64:ff9b::808:808');
    expect(await resolveAddress('name.example', { ...NONE, lookup: alone })).toEqual(['64:ff9b::808:808']);
  });

  it('refuses NAT64 and 6to4 addresses by the IPv4 address that they lead to', async () => {
    const ranges = {
      ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('10.0.0.0/8')],
      REFUSED_RANGES: [ipaddr.parseCIDR('8.8.8.0/24')],
    };
    expect(await faultOf(resolveAddress('64:ff9b::808:808', { ...NONE, ranges }))).toBe('address-refused');
    expect(await faultOf(resolveAddress('2002:808:808::1', { ...NONE, ranges }))).toBe('address-refused');
    expect(await resolveAddress('64:ff9b::a00:1', { ...NONE, ranges })).toEqual(['64:ff9b::a00:1']);
    const local = { ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('64:ff9b:1::/48')], REFUSED_RANGES: [] };
    expect(await resolveAddress('64:ff9b:1::a00:1', { ...NONE, ranges: local })).toEqual([
      '64:ff9b:1::a00:1',
    ]);
    await expect(resolveAddress('64:ff9b::a9fe:a9fe', NONE)).rejects.toThrow(
      '64:ff9b::a9fe:a9fe leads to 169.254.169.254, which is not a public address (linkLocal)',
    );
  });

  it.each(HOSTILE)('refuses an address that is %s: %s', async (_, address) => {
    expect(await faultOf(resolveAddress(address, NONE))).toBe('address-refused');
    expect(await faultOf(resolveAddress('name.example', { ...NONE, lookup: answering(address) }))).toBe(
      'address-refused',
    );
  });

  it.each([
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    'localhost',
  ])('refuses %s, which the system resolves to loopback', async (host) => {
    expect(await faultOf(resolveAddress(host, NONE))).toBe('address-refused');
  });

  it.each([
    '[::1]',
    '127.0.0.1.',
    'localhost:8192',
    '127.0.0.1:80',
    '::1/128',
    '1.2.3.4.5',
    '256.1.1.1',
  ])('treats %s as a name, and checks the address that it resolves to', async (host) => {
    const asked: string[] = [];
    const lookup = async (name: string) => {
      asked.push(name);
      return [{ address: '127.0.0.1' }];
    };
    expect(await faultOf(resolveAddress(host, { ...NONE, lookup }))).toBe('address-refused');
    expect(asked).toEqual([host]);
  });

  it.each([
    ['8.8.8.8', '8.8.8.8'],
    ['100.63.255.255', '100.63.255.255'],
    ['172.32.0.1', '172.32.0.1'],
    ['2606:4700:0:0::1111', '2606:4700::1111'],
    // NAT64 with the well-known prefix, and 6to4: the embedded address is public.
    ['64:ff9b::808:808', '64:ff9b::808:808'],
    ['2002:808:808::1', '2002:808:808::1'],
  ])('accepts the public address %s', async (host, expected) => {
    expect(await resolveAddress(host, NONE)).toEqual([expected]);
  });

  it('returns all addresses of a name, each once, in the order of the resolver', async () => {
    const lookup = answering('2606:4700::2', '8.8.4.4', '8.8.8.8', '8.8.4.4');
    expect(await resolveAddress('name.example', { ...NONE, lookup })).toEqual([
      '2606:4700::2',
      '8.8.4.4',
      '8.8.8.8',
    ]);
  });

  it('refuses a name with one private address among public ones, at any position', async () => {
    for (const addresses of [
      ['8.8.8.8', '10.0.0.1'],
      ['10.0.0.1', '8.8.8.8'],
      ['8.8.8.8', '2606:4700::1', '::ffff:169.254.169.254'],
    ]) {
      const resolving = resolveAddress('name.example', { ...NONE, lookup: answering(...addresses) });
      await expect(resolving).rejects.toMatchObject({
        code: 'address-refused',
        message: expect.stringMatching(/^name\.example has the address .*, which is not a public address \(/),
      });
    }
  });

  it('refuses every address of this machine, unless an operator allows it', async () => {
    const own = (address: string) => [{ address } as os.NetworkInterfaceInfo];
    const interfaces = vi.spyOn(os, 'networkInterfaces');
    onTestFinished(() => interfaces.mockRestore());
    const interfacesOfAll = {
      eth0: own('9.9.9.10'),
      eth1: own('2620:fe::0010'),
      eth2: own('2002:808:808::5'),
    };
    interfaces.mockReturnValue(interfacesOfAll);
    for (const host of ['9.9.9.10', '2620:fe::10']) {
      await expect(resolveAddress(host, NONE)).rejects.toMatchObject({
        code: 'address-refused',
        message: `${host} is an address of this machine itself`,
      });
      const lookup = answering(host);
      expect(await faultOf(resolveAddress('name.example', { ...NONE, lookup }))).toBe('address-refused');
    }
    expect(await faultOf(resolveAddress('2002:808:808::5', NONE))).toBe('address-refused');
    expect(await resolveAddress('9.9.9.9', NONE)).toEqual(['9.9.9.9']);
    const allowed = {
      ...NONE,
      ranges: { ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('9.9.9.10/32')], REFUSED_RANGES: [] },
    };
    expect(await resolveAddress('9.9.9.10', allowed)).toEqual(['9.9.9.10']);
  });

  it('refuses the refused ranges of the operator, even if they are allowed', async () => {
    const [refused, allowed] = ['9.9.9.0/24', '9.9.0.0/16'].map((range) => [ipaddr.parseCIDR(range)]);
    const ranges = { ALLOWED_PRIVATE_RANGES: allowed ?? [], REFUSED_RANGES: refused ?? [] };
    const options = { ranges, timeoutMs: 1_000 };
    await expect(resolveAddress('9.9.9.10', options)).rejects.toMatchObject({
      code: 'address-refused',
      message: '9.9.9.10 is an address that the operator refuses (REFUSED_RANGES)',
    });
    expect(await faultOf(resolveAddress('::ffff:9.9.9.10', options))).toBe('address-refused');
    const lookup = answering('1.1.1.1', '9.9.9.10');
    expect(await faultOf(resolveAddress('name.example', { ...options, lookup }))).toBe('address-refused');
    expect(await resolveAddress('9.9.8.1', options)).toEqual(['9.9.8.1']);
  });

  it('takes a private address that an operator allows, and no other', async () => {
    const ALLOWED_PRIVATE_RANGES = ['127.0.0.0/8', 'fd00::/8'].map((range) => ipaddr.parseCIDR(range));
    const options = { ranges: { ALLOWED_PRIVATE_RANGES, REFUSED_RANGES: [] }, timeoutMs: 1_000 };
    expect(await resolveAddress('127.0.0.1', options)).toEqual(['127.0.0.1']);
    expect(await resolveAddress('localhost', options)).toContain('127.0.0.1');
    expect(await resolveAddress('fd00::7', options)).toEqual(['fd00::7']);
    for (const host of ['10.0.0.1', '::1', '::ffff:127.0.0.1', 'fc00::1']) {
      expect(await faultOf(resolveAddress(host, options))).toBe('address-refused');
    }
  });

  it.each([
    ['ENOTFOUND', 'dns-not-found'],
    ['ENODATA', 'dns-not-found'],
    ['EAI_AGAIN', 'dns-timeout'],
    ['ESERVFAIL', 'dns-timeout'],
  ])('maps the resolver code %s to %s', async (code, fault) => {
    expect(await faultOf(resolveAddress('name.example', { ...NONE, lookup: failing(code) }))).toBe(fault);
  });

  it('reports a name without addresses as not found', async () => {
    expect(await faultOf(resolveAddress('name.example', { ...NONE, lookup: answering() }))).toBe(
      'dns-not-found',
    );
  });

  it('gives up on a resolver that does not answer', async () => {
    const options = { ...NONE, timeoutMs: 50, lookup: silent };
    expect(await faultOf(resolveAddress('name.example', options))).toBe('dns-timeout');
  });

  it('queries the next name server in time when the first does not answer', async () => {
    const zone = { A: ipv4('93.184.216.34') };
    useNameServers([await silentNameServer(), await nameServer(zone)]);
    expect(await faultOf(resolveAddress('play.example.org', NONE))).toEqual(['93.184.216.34']);
  });

  it('uses the addresses of one family when the query for the other has no answer', async () => {
    useNameServers([await nameServer({ A: ipv4('93.184.216.34'), AAAA: 'silent' })]);
    expect(await faultOf(resolveAddress('play.example.org', NONE))).toEqual(['93.184.216.34']);
  });

  it('checks the addresses of one family when the query for the other has no answer', async () => {
    useNameServers([await nameServer({ A: ipv4('10.0.0.1'), AAAA: 'silent' })]);
    expect(await faultOf(resolveAddress('play.example.org', NONE))).toBe('address-refused');
  });

  it('reports that the name servers gave no answer when none of them does', async () => {
    useNameServers([await silentNameServer(), await silentNameServer()]);
    expect(await faultOf(resolveAddress('play.example.org', NONE))).toBe('dns-timeout');
  });

  it('stops when it is aborted, before and during a look-up', async () => {
    const stopping = new AbortController();
    const resolving = resolveAddress('name.example', { ...NONE, lookup: silent, signal: stopping.signal });
    stopping.abort();
    expect(await faultOf(resolving)).toBe('stopped');
    expect(await faultOf(resolveAddress('name.example', { ...NONE, signal: stopping.signal }))).toBe(
      'stopped',
    );
  });
});

describe('parseHost', () => {
  it.each([
    ['play.example.org', 'play.example.org'],
    ['  Play.Example.ORG. ', 'play.example.org'],
    ['a_b.example', 'a_b.example'],
    ['localhost', 'localhost'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['203.0.113.7', '203.0.113.7'],
    ['2606:4700:0:0::1111', '2606:4700::1111'],
    ['[2606:4700::1111]', '2606:4700::1111'],
    ['4x4.example', '4x4.example'],
    [`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`, expect.any(String)],
  ])('takes %s', (text, host) => {
    expect(parseHost(text)).toEqual(host);
  });

  it.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['play.example.org:8192', 'without a port'],
    ['127.0.0.1:8192', 'without a port'],
    ['[::1]:8192', 'without a port'],
    ['http://play.example.org', '://'],
    ['play.example.org/votes', 'path'],
    ['steve@play.example.org', 'user name'],
    ['play example.org', 'white space'],
    ['play.example.org\nevil', 'white space'],
    ['play\u200b.example.org', 'invisible'],
    ['pl\u0000ay', 'invisible'],
    ['127.1', 'four decimal numbers'],
    ['2130706433', 'four decimal numbers'],
    ['0177.0.0.1', 'four decimal numbers'],
    ['0x7f.0.0.1', 'four decimal numbers'],
    ['127.0.0.1.', 'four decimal numbers'],
    ['256.1.1.1', 'four decimal numbers'],
    ['1.2.3.4.5', 'four decimal numbers'],
    ['１２７.０.０.１', 'four decimal numbers'],
    ['[127.0.0.1]', 'square brackets'],
    ['[play.example.org]', 'square brackets'],
    ['fe80::1%eth0', 'zone'],
    ['play..example.org', 'not a host name'],
    ['-play.example.org', 'not a host name'],
    ['play.example.org-', 'not a host name'],
    ['pl%61y.example', 'zone'],
    ['a'.repeat(64), 'not a host name'],
    [`${'a.'.repeat(130)}example`, 'at most 253'],
    [`${'ü.'.repeat(60)}example`, 'at most 253'],
  ])('refuses “%s”', (text, reason) => {
    expect(() => parseHost(text)).toThrow(HostError);
    expect(() => parseHost(text)).toThrow(reason);
  });

  it('returns only hosts that the resolver cannot read as another address', async () => {
    for (const text of ['１２７.０.０.１', '0x7f000001', '127。0。0。1', '①②⑦.0.0.1']) {
      expect(() => parseHost(text)).toThrow(HostError);
    }
  });
});
