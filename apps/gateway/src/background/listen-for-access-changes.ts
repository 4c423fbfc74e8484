import { type Log, startLoop } from '@bunting/runtime';
import { Gauge, type Registry } from 'prom-client';
import { accessChangeListener } from '../access/rights/background.ts';

/** Milliseconds between checks that notifications arrive. */
const intervalMs = 30_000;

interface Options {
  readonly database: Parameters<typeof accessChangeListener>[0];
  /** called with the table whose rights or tokens have changed, and without one when notifications may have been missed */
  readonly onChange: (table?: string) => void;
  readonly metrics?: Registry;
  readonly log: Log;
}

/** Listens for changes of rights and tokens by other replicas, and keeps checking that they arrive. */
export const listenForAccessChanges = ({ database, onChange, metrics, log }: Options) => {
  const listener = accessChangeListener(database, { onChange, onLost: () => loop.wake() });
  const loop = startLoop({
    name: 'The listening for changes of rights and tokens',
    run: listener.check,
    intervalMs,
    log,
  });
  if (metrics !== undefined) {
    new Gauge({
      name: 'bunting_gateway_access_changes_heard',
      help: '1 while changes of rights and tokens by other gateways are heard at once; 0 while only the TTL of the cache ends stale entries',
      registers: [metrics],
      collect() {
        this.set(listener.isListening ? 1 : 0);
      },
    });
  }
  return {
    stop: async (): Promise<void> => {
      listener.stop();
      await loop.stop();
    },
  };
};
