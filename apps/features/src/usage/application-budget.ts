import type { Log } from '@bunting/runtime';
import { Counter, type Registry } from 'prom-client';

interface Options {
  /** the maximum length of the list of applications */
  readonly limit: number;
  /** the maximum number of new applications in a minute, for each token */
  readonly perMinute: number;
  readonly registry: Registry;
  readonly log: Pick<Log, 'warn'>;
}

const minuteMs = 60_000;
/** The minimum time between warnings about a full list. */
const warnEveryMs = 60 * minuteMs;

/** Limits the list of applications: each new name adds a row for months and an event to the event log. */
export const applicationBudget = ({ limit, perMinute, registry, log }: Options) => {
  let minute = 0;
  let usedByToken = new Map<string, number>();
  let warnedAt = Number.NEGATIVE_INFINITY;
  const counter = new Counter({
    name: 'bunting_features_applications_unlisted_total',
    help: 'new applications in reports that were not listed: the list was full, or the key named too many within a minute',
    labelNames: ['reason'],
    registers: [registry],
  });

  return {
    limit,
    /** Takes up to `requested` new applications from the budget of a token in this minute, and returns how many it grants. */
    takeFromBudget: (tokenId: string, requested: number, now: Date): number => {
      const current = Math.floor(now.getTime() / minuteMs);
      if (current !== minute) [minute, usedByToken] = [current, new Map()];
      const used = usedByToken.get(tokenId) ?? 0;
      const granted = Math.min(requested, Math.max(0, perMinute - used));
      usedByToken.set(tokenId, used + granted);
      return granted;
    },
    /** Counts applications that are not listed, and logs a warning about a full list at most once an hour. */
    onUnlisted: (reason: 'limit' | 'rate', applications: number): void => {
      counter.inc({ reason }, applications);
      if (reason !== 'limit' || performance.now() - warnedAt < warnEveryMs) return;
      warnedAt = performance.now();
      log.warn(
        `The list of applications is full (FEATURES_MAX_APPLICATIONS=${limit}, a tenth of it for frontend keys): ${applications} new applications were not listed. Delete unused applications or raise the limit.`,
      );
    },
  };
};
export type ApplicationBudget = ReturnType<typeof applicationBudget>;
