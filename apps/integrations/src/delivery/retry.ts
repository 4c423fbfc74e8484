import type { Event } from '@bunting/contracts';

/** The outcome of an attempt to deliver an event. */
export interface Outcome {
  readonly state: 'success' | 'successWithErrors' | 'failed';
  /** the status of the response; null if there was none */
  readonly status: number | null;
  /** what happened, for people */
  readonly reason: string;
  /** how long the destination asks to wait, in milliseconds */
  readonly waitMs?: number | undefined;
  /** whether there was nothing to send: it says nothing about the destination, and is not recorded */
  readonly isEmpty?: boolean;
}

/** The status by which a destination asks to be told of nothing any more. */
export const goneStatus = 410;

/** From so many failures in a row on nothing is sent to a destination for a while. */
export const failuresThatPause = 5;
const firstPauseMs = 10_000;
const maxPauseMs = 300_000;
/** The longest wait that a destination may ask for. */
export const maxWaitMs = 86_400_000;

/** Parses the setting with the seconds between attempts. */
export function retrySchedule(seconds: string): readonly number[] {
  return seconds.split(',').map((text) => Number(text) * 1_000);
}

/** The wait that the header `Retry-After` asks for, in seconds or until a date; undefined for none. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, maxWaitMs) : undefined;
}

/**
 * The milliseconds until the next attempt after a failed one; undefined if it was the last.
 * @param attempts how many attempts have failed
 * @param chance 0 to 1: up to a fifth is added, so that the attempts of many events do not come together
 */
export function nextAttemptMs(
  schedule: readonly number[],
  attempts: number,
  { waitMs = 0 }: Pick<Outcome, 'waitMs'>,
  chance: number,
): number | undefined {
  const pause = schedule[attempts - 1];
  return pause === undefined ? undefined : Math.max(waitMs, Math.round(pause * (1 + chance / 5)));
}

/** The milliseconds for which nothing is sent to a destination after failures in a row; 0 for none. */
export function pauseMs(failures: number, { waitMs = 0 }: Pick<Outcome, 'waitMs'>, chance: number): number {
  if (failures < failuresThatPause) return waitMs;
  const pause = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(10, failures - failuresThatPause));
  return Math.max(waitMs, Math.round(pause * (0.75 + chance / 2)));
}

/** The id of an event to its receivers, the same for every attempt, also after the log or this database was restored. */
export function webhookId(uid: string): string {
  return `evt_${uid}`;
}

/** What keeps its order: the events of one flag, and those without a flag of one project. */
export function flagOf({ featureName, project }: Pick<Event, 'featureName' | 'project'>): string {
  return featureName == null ? `project ${project ?? ''}` : `flag ${featureName}`;
}
