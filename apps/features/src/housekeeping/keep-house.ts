import { traceparentFrom } from '@bunting/bus';
import { systemCaller } from '@bunting/contracts';
import { told } from '../domain/told.ts';
import type { UnitOfWork, Work } from '../persistence/unit-of-work.ts';

/** How much one transaction takes on. */
const featuresAtOnce = 500;
const figuresAtOnce = 10_000;
const patienceMs = 30_000;

/** Does one part of the work, in transactions of bounded size, until nothing is left of it. */
const untilDone = async (
  work: UnitOfWork,
  atOnce: number,
  part: (work: Work, atMost: number) => Promise<number>,
): Promise<void> => {
  for (;;) {
    const now = new Date();
    const occasion = {
      ...{ caller: systemCaller, now, deadline: new Date(now.getTime() + patienceMs) },
      traceparent: traceparentFrom(),
    };
    if ((await work(occasion, (tx) => part(tx, atOnce))) < atOnce) return;
  }
};

/**
 * Does what time brings about: features that have outlived their type are told of once, whichever process comes first;
 * figures that have changed since they were told are told; figures that are too old are dropped.
 */
export const keepHouse = async (work: UnitOfWork): Promise<void> => {
  await untilDone(work, featuresAtOnce, async ({ upkeep, events }, atMost) => {
    await upkeep.unmarkRejuvenated();
    const aged = await upkeep.markAged(atMost);
    events.record(aged.map((feature) => told('feature-potentially-stale-on', feature)));
    return aged.length;
  });
  await untilDone(work, featuresAtOnce, ({ upkeep }, atMost) => upkeep.tellFigures(atMost));
  await untilDone(work, figuresAtOnce, ({ upkeep }, atMost) => upkeep.dropOldFigures(atMost));
};
