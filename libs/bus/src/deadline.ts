import { unavailable } from '@bunting/contracts';

/** How far the clocks of one installation may be apart, and how old a call may be before its age counts. */
const clockToleranceMs = 1_000;

/**
 * How long after the deadline of a write its caller waits before it reports an unknown outcome: by then the service cannot commit
 * any more, although its clock may be behind by the tolerance and may have taken the call for new within the tolerance.
 */
export const unknownOutcomeDelayMs = 2 * clockToleranceMs;

/** When and for how long a call was sent, by the clock of its caller. */
export interface SentCall {
  /** milliseconds since 1970 */
  readonly sentAt: number;
  readonly timeoutMs: number;
  readonly isWrite: boolean;
}

/**
 * How many milliseconds a call has left when it is read. It may have waited in a queue while this process, or its machine, stood
 * still. Within the tolerance the clocks cannot tell, and the call counts as sent now.
 * @throws Refusal `ServiceUnavailable` when its deadline has passed, or when a write seems to come from the future.
 */
export const remainingMs = ({ sentAt, timeoutMs, isWrite }: SentCall, now: number): number => {
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
};
