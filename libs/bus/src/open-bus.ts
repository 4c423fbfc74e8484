import type { Bus } from './bus.ts';
import { inProcessBus } from './in-process.ts';
import { natsBus, type NatsOptions } from './nats.ts';

/** The bus at `nats://…`, or one within this process where no address is given. */
export const openBus = (url: string | undefined, options: Omit<NatsOptions, 'url'>): Promise<Bus> =>
  url === undefined ? Promise.resolve(inProcessBus()) : natsBus({ url, ...options });
