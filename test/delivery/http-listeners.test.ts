import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { resumeListener, setListener, showListener } from '../../src/delivery/change-listener.ts';
import { rotateSecret, setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { openListener } from '../../src/delivery/send-vote.ts';
import { HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';
import { type HttpListener, startFakeHttpListener } from '../support/fake-http-listener.ts';

const deliveryBench = deliveryBenchesOfFile();

/** A server whose votes are posted to a running website. */
async function httpBench(env: Record<string, string> = {}) {
  const bench = await deliveryBench(env);
  const site = await startFakeHttpListener();
  const url = `http://127.0.0.1:${site.port}/votes`;
  const { secret } = await setHttpListener(
    bench.deps,
    bench.serverId,
    { url, serviceName: 'Tallyport' },
    'test',
  );
  if (!secret) throw new Error('a new listener has a secret');
  const show = () => showListener(bench.deps, bench.serverId);
  return { ...bench, site, url, secret, show };
}

/** Whether `secret` verifies the newest message. */
function verifies(secret: string, { received }: HttpListener): boolean {
  const newest = received.at(-1);
  try {
    new Webhook(secret).verify(newest?.body ?? '', newest?.headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

describe('a website that gets votes', () => {
  it('gets each of them once, in order, with the vote’s own id', async () => {
    const { cast, drain, site, secret, vote } = await httpBench();
    const votes = [await cast('Alex'), await cast('Steve')];
    await drain();
    expect(site.received.map(({ headers }) => headers['webhook-id'])).toEqual(
      votes.map(({ _id }) => _id.toString()),
    );
    expect(verifies(secret, site)).toBe(true);
    for (const one of votes) expect((await vote(one)).delivery.state).toBe('delivered');
  });

  it('is paused when it refuses votes, and gets the waiting ones after a resume', async () => {
    const { cast, drain, site, show, deps, serverId, vote } = await httpBench();
    site.answer = (response) => response.writeHead(401).end('who are you?');
    const waiting = await cast('Alex');
    await drain();
    expect(await show()).toMatchObject({
      state: 'paused',
      waiting: 1,
      pause: { by: 'tallyport', code: 'http-forbidden', words: 'HTTP 401 who are you?' },
    });
    site.answer = (response) => response.writeHead(200).end();
    await resumeListener(deps, serverId, 'test');
    await drain();
    expect((await vote(waiting)).delivery.state).toBe('delivered');
  });

  it('gets no vote for as long as it requests, up to an hour', async () => {
    const { cast, drain, site, clock, vote, show } = await httpBench({ BREAKER_SCHEDULE: '5s' });
    clock.stop(new Date());
    site.answer = (response) => response.writeHead(503, { 'retry-after': '600' }).end();
    const first = await cast('Alex');
    await drain();
    const { nextAt } = (await vote(first)).delivery;
    expect(nextAt?.getTime()).toBe(clock.now().getTime() + 10 * MINUTE);

    site.answer = (response) => response.writeHead(429, { 'retry-after': '86400' }).end();
    await Promise.all(['Steve', 'Herobrine'].map(cast));
    await drain();
    const shown = await show();
    expect(shown?.state).toBe('unreachable');
    expect(shown?.breaker.nextTestAt?.getTime()).toBe(clock.now().getTime() + HOUR);
  });

  it('gets a retry by the schedule if it requests a shorter delay', async () => {
    const { cast, drain, site, clock, vote } = await httpBench({ DELIVERY_SCHEDULE: '0s,30s' });
    clock.stop(new Date());
    site.answer = (response) => response.writeHead(500, { 'retry-after': '1' }).end();
    const cast1 = await cast('Alex');
    await drain();
    const { nextAt } = (await vote(cast1)).delivery;
    expect(nextAt?.getTime()).toBeGreaterThanOrEqual(clock.now().getTime() + 24 * SECOND);
  });
});

describe('the secret of a website', () => {
  it('is unchanged when only the URL changes, and is new after a time as a Votifier listener', async () => {
    const { deps, serverId, url, secret, listener: votifier } = await httpBench();
    const settings = { url: `${url}/new`, serviceName: 'Tallyport' };
    const moved = await setHttpListener(deps, serverId, settings, 'test');
    expect(moved.secret).toBeNull();
    expect(openListener(deps.secrets, moved.listener)).toMatchObject({ secret, url: `${url}/new` });

    const { port, token } = votifier;
    await setListener(
      deps,
      serverId,
      { protocol: 'votifier-v2', host: '127.0.0.1', port, secret: token, serviceName: 'Tallyport' },
      'test',
    );
    const again = await setHttpListener(deps, serverId, settings, 'test');
    expect(again.secret).toMatch(/^whsec_/);
    expect(again.secret).not.toBe(secret);
  });

  it('is rotated without losing a vote: both secrets are valid for 24 hours', async () => {
    const { deps, serverId, secret, cast, drain, site, clock } = await httpBench();
    const rotated = await rotateSecret(deps, serverId, 'test');
    expect(rotated?.secret).not.toBe(secret);
    await cast('Alex');
    await drain();
    expect([verifies(secret, site), verifies(rotated?.secret ?? '', site)]).toEqual([true, true]);

    // The valid secrets are chosen when a vote is sent, not when the listener was read.
    const stored = await deps.listeners.findOne({ serverId });
    const until = stored?.previousSecret?.until.getTime() ?? 0;
    expect(Math.abs(until - clock.now().getTime() - 24 * HOUR)).toBeLessThan(MINUTE);
    await deps.listeners.updateOne({ serverId }, { $set: { 'previousSecret.until': new Date() } });
    await cast('Steve');
    await drain();
    expect([verifies(secret, site), verifies(rotated?.secret ?? '', site)]).toEqual([false, true]);
  });

  it('is returned even if it cannot be seen whether earlier attempts have ended', async () => {
    const { deps, serverId } = await httpBench();
    const lease = { owner: 'a worker', until: new Date(Date.now() + MINUTE) };
    await deps.listeners.updateOne({ serverId }, { $set: { lease } });
    const failing = {
      ...deps,
      votes: new Proxy(deps.votes, {
        get: () => () => {
          throw new Error('MongoDB is away');
        },
      }),
    };
    expect((await rotateSecret(failing, serverId, 'test'))?.secret).toMatch(/^whsec_/);
  });

  it('is one of the two last ones, however many rotations run at once', async () => {
    const { deps, serverId } = await httpBench();
    const made = await Promise.all([1, 2, 3].map(() => rotateSecret(deps, serverId, 'test')));
    const listener = await deps.listeners.findOne({ serverId });
    const opened = listener && openListener(deps.secrets, listener);
    if (opened?.protocol !== 'http') throw new Error('no http listener');
    const secrets = made.map((one) => one?.secret);
    expect(secrets).toContain(opened.secret);
    expect(secrets).toContain(opened.previous?.secret);
    expect(listener?.revision).toBe(5);
  });

  it('is not lost if the URL changes, or another first setting is stored, at the same moment', async () => {
    const { deps, serverId, url } = await httpBench();
    const settings = { url: `${url}/new`, serviceName: 'Tallyport' };
    const opened = async () => {
      const listener = await deps.listeners.findOne({ serverId });
      const target = listener && openListener(deps.secrets, listener);
      return target?.protocol === 'http' ? target.secret : null;
    };
    for (let round = 0; round < 20; round += 1) {
      const [rotated] = await Promise.all([
        rotateSecret(deps, serverId, 'test'),
        setHttpListener(deps, serverId, settings, 'test'),
      ]);
      expect(await opened()).toBe(rotated?.secret);
    }
    await deps.listeners.deleteOne({ serverId });
    const first = await Promise.all([1, 2, 3].map(() => setHttpListener(deps, serverId, settings, 'test')));
    const shown = first.flatMap(({ secret }) => secret ?? []);
    expect(shown).toEqual([await opened()]);
  });

  it('is never shown, stored or written to the audit log in clear', async () => {
    const { deps, serverId, secret, show } = await httpBench();
    const rotated = await rotateSecret(deps, serverId, 'test');
    const seen = JSON.stringify([
      await show(),
      await deps.listeners.find().toArray(),
      await deps.auditLog.find().toArray(),
    ]);
    for (const one of [secret, rotated?.secret ?? '']) expect(seen).not.toContain(one.slice('whsec_'.length));
  });

  it('cannot be rotated for a server whose votes are not posted', async () => {
    const { deps, serverId } = await deliveryBench();
    expect(await rotateSecret(deps, serverId, 'test')).toBeNull();
  });
});

describe('a URL', () => {
  it.each([
    ['example.org/votes', /must begin with https/],
    ['ftp://example.org/', /must begin with https/],
    ['https://user:word@example.org/', /no user name/],
    ['https://example.org:22/', /never a vote listener/],
    ['http://exa mple.org/', /must begin with https/],
    [`https://example.org/${'x'.repeat(2_048)}`, /at most 2,048/],
  ])('“%s” is refused with the reason', async (url, reason) => {
    const { deps, serverId } = await deliveryBench();
    const setting = setHttpListener(deps, serverId, { url, serviceName: 'Tallyport' }, 'test');
    await expect(setting).rejects.toThrow(InvalidDocumentError);
    await expect(setting).rejects.toThrow(reason);
  });

  it('keeps its path and query, and loses its fragment', async () => {
    const { deps, serverId } = await deliveryBench();
    const url = 'https://Bücher.example/votes?for=alpha#top';
    const { listener } = await setHttpListener(deps, serverId, { url, serviceName: 'Tallyport' }, 'test');
    expect(listener).toMatchObject({
      url: 'https://xn--bcher-kva.example/votes?for=alpha',
      host: 'xn--bcher-kva.example',
      port: 443,
      protocol: 'http',
    });
  });
});
