import type { Listener } from '../../listeners/listener.ts';
import type { Server } from '../../servers/server.ts';

export type Connected = {
  /** The listing's name, and its URL without a slash at the end. */
  name: string;
  url: string;
  server: Pick<Server, '_id' | 'slug' | 'name' | 'game'>;
  listener: Pick<Listener, 'serviceName' | 'protocol' | 'fetched' | 'rewards'> | null;
  /** A new claim key, which is shown once. */
  key: string | undefined;
};

export type ConnectBlock = {
  id: string;
  title: string;
  /** `push`: the vote listener gets the votes. `claim`: the plugin calls Tallyport with a claim key. */
  way: 'push' | 'claim';
  /** Sentences that say where the owner must paste `text`, or what it is an example of. */
  about: string;
  text: string;
};

/** Shown in a configuration instead of the claim key. */
export const NO_KEY = 'YOUR-CLAIM-KEY';
