import type { CallResponse } from '@bunting/bus';

/** The minimum milliseconds between two reads of a stream with `follow`, however often it is woken, and between retries. */
const minReadIntervalMs = 250;
/** Milliseconds between empty lines that keep an idle stream open through proxies. */
const heartbeatIntervalMs = 8_000;
/** How long a stream waits for a wake-up, which may be lost, before it reads: from the heartbeat on, and not all streams at once. */
const maxWaitMs = (): number => heartbeatIntervalMs + Math.random() * 2_000;
/** Milliseconds of outage of the service after which a stream is cut. */
const maxOutageMs = 30_000;

/** A reply of an operation whose items are streamed. */
interface Page {
  readonly items: readonly unknown[];
  readonly next: number;
  readonly atEnd: boolean;
}

interface LineSource {
  /** the JSON of the first page */
  readonly firstPage: string;
  /** Calls the operation for the page after an id. @throws Refusal once the caller may not continue */
  readonly readAfter: (after: number, isWoken: boolean) => Promise<CallResponse>;
  /** Waits until there may be new items that the last read did not return; false if none were announced within the time. */
  readonly untilWoken: (timeoutMs: number) => Promise<boolean>;
  /** whether the stream waits for new items after the last one */
  readonly follow: boolean;
  readonly isOver: () => boolean;
  /** ends early when the gateway stops */
  readonly pause: (ms: number) => Promise<unknown>;
}

/** The page after an id; retries while the service is unavailable, at most `maxOutageMs`. Undefined once the stream is over. */
const pageAfter = async (
  after: number,
  isWoken: boolean,
  { readAfter, isOver, pause }: LineSource,
): Promise<Page | undefined> => {
  for (const since = performance.now(); !isOver();) {
    const response = await readAfter(after, isWoken);
    if ('reply' in response) return JSON.parse(response.reply.json) as Page;
    const { kind, error } = response.refusal;
    if (kind !== 'ServiceUnavailable' || performance.now() - since > maxOutageMs) throw new Error(error.message);
    await pause(minReadIntervalMs);
  }
  return undefined;
};

/** The lines of a stream, a page at a time: the next page is read when the lines of the one before have been taken. */
export const ndjsonLines = async function* (source: LineSource): AsyncGenerator<string> {
  const { firstPage, follow, isOver, pause, untilWoken } = source;
  let page: Page | undefined = JSON.parse(firstPage) as Page;
  let sentAt = performance.now();
  let readAt = sentAt;
  while (page !== undefined) {
    const { items, next, atEnd }: Page = page;
    if (items.length > 0) {
      yield items.map((item) => `${JSON.stringify(item)}\n`).join('');
      sentAt = performance.now();
    } else if (performance.now() - sentAt >= heartbeatIntervalMs) {
      yield '\n';
      sentAt = performance.now();
    }
    if (atEnd && !follow) return;
    const isWoken: boolean = atEnd && (await untilWoken(maxWaitMs()));
    const restMs = readAt + minReadIntervalMs - performance.now();
    if (isWoken && restMs > 0) await pause(restMs);
    readAt = performance.now();
    page = isOver() ? undefined : await pageAfter(next, isWoken, source);
  }
};
