import { type Bus, serve } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { outboxTables, startTelling } from '@bunting/outbox';
import { freshDatabase } from '@bunting/testing';
import type { AnyState } from './builders.ts';

/** Who tells states in the place of the features service: with an outbox of its own, a relay, and answers to who asks. */
export interface TellingFeatures {
  /** Tells the states in one transaction, and resolves when that is committed. */
  tell(...states: readonly AnyState[]): Promise<void>;
  /** Answers nobody until it is told to again. */
  fallSilent(): Promise<void>;
  answerAgain(): Promise<void>;
  stop(): Promise<void>;
}

export const tellingFeatures = async (bus: Bus): Promise<TellingFeatures> => {
  const fresh = await freshDatabase('telling-features');
  const database = await openDatabase({ url: fresh.url, name: 'telling-features', steps: [outboxTables] });
  const ignore = (): void => undefined;
  const settings = { producer: 'features', intervalMs: 50, retentionHours: 1, warn: ignore } as const;
  const telling = startTelling({ ...settings, database, bus });
  let served = await serve(bus, [telling.endpoint]);
  return {
    tell: (...states) =>
      telling.work(null, async (_tx, outbox) => {
        for (const state of states) outbox.state(state);
      }),
    fallSilent: () => served.stop(),
    answerAgain: async () => {
      served = await serve(bus, [telling.endpoint]);
    },
    stop: async () => {
      await served.stop();
      await telling.relay.stop();
      await database.close();
      await fresh.drop();
    },
  };
};
