/** A write that has succeeded. */
export interface Write {
  /** counts the writes of this page */
  readonly number: number;
  /** the earliest time, by the clock of the server, at which its events can have happened; milliseconds since 1970 */
  readonly since: number;
}

/** By how much the clocks of the server's processes may differ, and what the `Date` header leaves out of a second. */
export const clockToleranceMs = 2_000;
/** A notice that comes later is not about the write: one waits at most a second until the page shows what it did. */
const maxAgeMs = 5_000;

let lastWrite: (Write & { readonly finishedAt: number }) | undefined;
let writes = 0;
let isContinued = false;

/** Remembers a write for the notice that will say that it has succeeded. @param durationMs from sending it to its response */
export function rememberWrite(response: Response, durationMs: number): void {
  const respondedAt = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(respondedAt)) return;
  const since = respondedAt - durationMs - clockToleranceMs;
  writes += 1;
  lastWrite = {
    number: writes,
    since: isContinued ? (lastWrite?.since ?? since) : since,
    finishedAt: performance.now(),
  };
  isContinued = false;
}

/** The next write belongs to the last one: one notice says that both have succeeded. */
export function continueLastWrite(): void {
  isContinued = true;
}

/** The newest write that has just succeeded, for the first notice after it; undefined for any other notice. */
export function takeLastWrite(): Write | undefined {
  const taken = lastWrite;
  lastWrite = undefined;
  return taken !== undefined && performance.now() - taken.finishedAt < maxAgeMs ? taken : undefined;
}
