import { describe, expect, it } from 'vitest';
import { CredentialError } from '../../src/delivery/credentials.ts';
import { rotateSecret, setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { openListener, secretContext } from '../../src/delivery/send-vote.ts';
import { createSecretBox, UnsealError } from '../../src/platform/secrets.ts';
import { deliveryBench } from '../support/delivering.ts';

describe('a listener that is set anew without its key or token', () => {
  it('keeps the one that is set, and everything else is as entered', async () => {
    const { platform, set, listener } = await deliveryBench();
    const changed = await set({ secret: null, host: 'play.example.org', port: 8_193, serviceName: 'Other' });
    expect(openListener(platform.secrets, changed)).toEqual({
      protocol: 'votifier-v2',
      host: 'play.example.org',
      port: 8_193,
      serviceName: 'Other',
      token: listener.token,
    });
  });

  it('is refused where none of its protocol is set, and stays as it was', async () => {
    const { platform, serverId, set } = await deliveryBench();
    const before = await platform.listeners.findOne({ serverId });
    await expect(set({ protocol: 'votifier-v1', secret: null })).rejects.toThrow(CredentialError);
    expect(await platform.listeners.findOne({ serverId })).toEqual(before);
    await platform.listeners.deleteOne({ serverId });
    await expect(set({ secret: null })).rejects.toThrow('The token is empty.');
  });

  it('keeps what another change in the same moment has set', async () => {
    const { platform, serverId, set } = await deliveryBench();
    await Promise.all([set({ secret: 'brand-new-token-1' }), set({ secret: null, port: 8_193 })]);
    await set({ secret: null, port: 8_194 });
    const stands = await platform.listeners.findOne({ serverId });
    expect(stands && openListener(platform.secrets, stands)).toMatchObject({ token: 'brand-new-token-1' });
  });

  it('is sealed again, so that an earlier SECRET_KEY is no longer needed; an unreadable secret is an error', async () => {
    const { platform, serverId, set, listener } = await deliveryBench();
    const { SECRET_KEY } = platform.config;
    const newer = createSecretBox('another-key-for-tests-0123456789-abcdef', SECRET_KEY);
    const stranger = createSecretBox('a-third-key-for-tests-0123456789-abcdef', undefined);
    const own = platform.secrets;
    platform.secrets = stranger;
    await expect(set({ secret: null })).rejects.toThrow(UnsealError);
    platform.secrets = newer;
    await set({ secret: null });
    const stands = await platform.listeners.findOne({ serverId });
    expect(() => own.open(stands?.sealedSecret ?? '', secretContext({ serverId }))).toThrow(UnsealError);
    expect(stands && openListener(newer, stands)).toMatchObject({ token: listener.token });
  });
});

it('a secret is rotated once for one state of its listener, however often it is asked for', async () => {
  const { platform, serverId } = await deliveryBench();
  const settings = { url: 'https://example.org/votes', serviceName: 'x' };
  const { listener } = await setHttpListener(platform, serverId, settings, 'test');
  const ask = () => rotateSecret(platform, serverId, 'test', listener.revision);
  const made = await Promise.all([ask(), ask(), ask()]);
  expect(made.filter((one) => one !== null)).toHaveLength(1);
  expect(await ask()).toBeNull();
});
