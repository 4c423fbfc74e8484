import { describe, expect, it } from 'vitest';
import { unknownOutcomeDelayMs, remainingMs } from './deadline.ts';

const now = Date.UTC(2026, 10, 22);
const write = { timeoutMs: 10_000, isWrite: true };

describe('the deadline of a call', () => {
  it('leaves a call that was just sent its whole timeout', () => {
    expect(remainingMs({ ...write, sentAt: now }, now)).toBe(10_000);
  });

  it.each([1_000, -1_000])(
    'treats a call that was sent %s ms ago as new, because clocks may differ by as much',
    (ageMs) => {
      expect(remainingMs({ ...write, sentAt: now - ageMs }, now)).toBe(10_000);
      expect(remainingMs({ timeoutMs: 100, isWrite: true, sentAt: now - ageMs }, now)).toBe(100);
    },
  );

  it('includes the time that a call has waited in the queue', () => {
    expect(remainingMs({ ...write, sentAt: now - 4_000 }, now)).toBe(6_000);
  });

  it.each([true, false])('refuses a call that is read after its deadline (write: %s)', (isWrite) => {
    const read = () => remainingMs({ timeoutMs: 10_000, isWrite, sentAt: now - 10_000 }, now);
    expect(read).toThrow('read 10000 ms after it was sent, past its deadline, and was not begun');
  });

  it('refuses a write of a caller whose clock is ahead, because this process may have been paused', () => {
    const read = () => remainingMs({ ...write, sentAt: now + 1_001 }, now);
    expect(read).toThrow('the clocks of the machines must agree to within 1000 ms');
  });

  it('accepts a read of a caller whose clock is ahead', () => {
    expect(remainingMs({ timeoutMs: 10_000, isWrite: false, sentAt: now + 60_000 }, now)).toBe(10_000);
  });

  it('has the caller of a write wait until no service can commit it, whichever clock is ahead', () => {
    const clocksApartMs = 1_000;
    const oldestThatCountsAsNewMs = 1_000;
    expect(unknownOutcomeDelayMs).toBeGreaterThanOrEqual(clocksApartMs + oldestThatCountsAsNewMs);
  });
});
