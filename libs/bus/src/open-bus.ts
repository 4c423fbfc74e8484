import type { Bus } from './bus.ts';
import { inProcessBus } from './in-process-bus.ts';
import { natsBus, type NatsOptions } from './nats/nats-bus.ts';

/** Opens the bus at `nats://…`, or an in-process bus without a URL. */
export const openBus = (url: string | undefined, options: Omit<NatsOptions, 'url'>): Promise<Bus> =>
  url === undefined ? Promise.resolve(inProcessBus()) : natsBus({ url, ...options });
