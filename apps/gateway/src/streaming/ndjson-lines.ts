import type { CallResponse } from '@bunting/bus';

/** Milliseconds between polls for new items of a stream with `follow`. */
const pollIntervalMs = 250;
/** Milliseconds between empty lines that keep an idle stream open through proxies. */
const heartbeatIntervalMs = 10_000;
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
  readonly readAfter: (after: number) => Promise<CallResponse>;
  /** whether the stream waits for new items after the last one */
  readonly follow: boolean;
  readonly isOver: () => boolean;
  /** ends early when the gateway stops */
  readonly pause: (ms: number) => Promise<unknown>;
}

/** The page after an id; retries while the service is unavailable, at most `maxOutageMs`. Undefined once the stream is over. */
const pageAfter = async (after: number, { readAfter, isOver, pause }: LineSource): Promise<Page | undefined> => {
  for (const since = performance.now(); !isOver();) {
    const response = await readAfter(after);
    if ('reply' in response) return JSON.parse(response.reply.json) as Page;
    const { kind, error } = response.refusal;
    if (kind !== 'ServiceUnavailable' || performance.now() - since > maxOutageMs) throw new Error(error.message);
    await pause(pollIntervalMs);
  }
  return undefined;
};

/** The lines of a stream, a page at a time: the next page is read when the lines of the one before have been taken. */
export const ndjsonLines = async function* (source: LineSource): AsyncGenerator<string> {
  const { firstPage, follow, isOver, pause } = source;
  let page: Page | undefined = JSON.parse(firstPage) as Page;
  let sentAt = performance.now();
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
    if (atEnd) await pause(pollIntervalMs);
    page = isOver() ? undefined : await pageAfter(next, source);
  }
};
