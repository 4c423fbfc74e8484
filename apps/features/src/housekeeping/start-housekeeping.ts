import { setTimeout as sleep } from 'node:timers/promises';
import type { HandOver } from '../operations/features/import-proposal.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { handOverImports, keepHouse } from './keep-house.ts';

export interface Housekeeping {
  /** Finishes what is being done, and does no more. */
  stop(): Promise<void>;
}

/** Keeps house again and again, with so long a rest in between. What fails is done the next time. */
export const startHousekeeping = (
  work: UnitOfWork,
  {
    intervalMs,
    applicationDays,
    handOver,
    warn,
  }: {
    readonly intervalMs: number;
    readonly applicationDays: number;
    readonly handOver: HandOver;
    readonly warn: (message: string) => void;
  },
): Housekeeping => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const rest = () => sleep(intervalMs, undefined, { signal }).catch(() => undefined);

  const running = (async () => {
    for (await rest(); !signal.aborted; await rest()) {
      for (const part of [() => keepHouse(work, applicationDays), () => handOverImports(work, handOver)]) {
        await part().catch((error: unknown) => warn(`Housekeeping tries again: ${(error as Error).message}`));
      }
    }
  })();

  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
};
