import type { Bus } from './bus.ts';
import { inProcessBus } from './in-process-bus.ts';
import type { NatsOptions } from './nats/nats-bus.ts';

/** Opens the bus at `nats://…`, or an in-process bus without a URL. */
export async function openBus(url: string | undefined, options: Omit<NatsOptions, 'url'>): Promise<Bus> {
  if (url === undefined) return inProcessBus();
  // The client of NATS is loaded where there is a server: one process for all services starts sooner, and is smaller, without it.
  const { natsBus } = await import('./nats/nats-bus.ts');
  return natsBus({ url, ...options });
}
