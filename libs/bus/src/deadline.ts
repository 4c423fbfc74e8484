import { unavailable } from '@bunting/contracts';

/** The maximum difference between the clocks of one installation; a call younger than this counts as sent now. */
export const clockToleranceMs = 1_000;

/**
 * How long after the deadline of a write its caller reports an unknown outcome. By then the service can no longer commit: its clock
 * is behind by at most the tolerance, and it counts a call as new for at most the tolerance.
 */
export const unknownOutcomeDelayMs = 2 * clockToleranceMs;

/** When and for how long a call was sent, by the clock of its caller. */
interface SentCall {
  /** milliseconds since 1970 */
  readonly sentAt: number;
  readonly timeoutMs: number;
  readonly isWrite: boolean;
}

/**
 * The milliseconds that a call has left when it is read; it may have been queued while this process or its machine was suspended.
 * @throws Refusal `ServiceUnavailable` when its deadline has passed, or when a write seems to come from the future.
 */
export function remainingMs({ sentAt, timeoutMs, isWrite }: SentCall, now: number): number {
  const ageMs = now - sentAt;
  if (isWrite && ageMs < -clockToleranceMs) {
    throw unavailable(
      `The write was sent ${-ageMs} ms from now by its caller's clock and was not begun: the clocks of the machines must agree to within ${clockToleranceMs} ms.`,
    );
  }
  if (ageMs <= clockToleranceMs) return timeoutMs;
  if (ageMs >= timeoutMs) {
    throw unavailable(`The call was read ${ageMs} ms after it was sent, past its deadline, and was not begun.`);
  }
  return timeoutMs - ageMs;
}
