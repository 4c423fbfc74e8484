import { createStore } from '../store.ts';

/** By how many milliseconds the clock of the server is ahead of the browser's; 0 while they differ by less than a response may take. */
export const serverClockOffset = createStore(0);

/** A difference that the time of a response, and what the `Date` header leaves out of a second, may explain, in milliseconds. */
const toleranceMs = 15_000;

/** Compares the clocks by the header of a response that has just come. */
export function compareClocks(response: Response): void {
  const difference = Date.parse(response.headers.get('date') ?? '') - Date.now();
  if (Number.isNaN(difference) || Math.abs(difference - serverClockOffset.get()) < toleranceMs) return;
  serverClockOffset.set(Math.abs(difference) < toleranceMs ? 0 : difference);
}

/** Milliseconds since 1970 by the clock of the server, by which all instants that it answers are. A computer's own clock may be hours off. */
export function serverNow(): number {
  return Date.now() + serverClockOffset.get();
}
