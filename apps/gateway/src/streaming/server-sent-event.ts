import type { ServerResponse } from 'node:http';

/** A server-sent event (WHATWG HTML, 9.2). */
export interface ServerSentEvent {
  /** `message` when left out */
  readonly event?: string;
  /** what the client sends as `Last-Event-ID` when it reconnects; the revision up to which it has everything */
  readonly id: number;
  /** without line breaks */
  readonly data: string | Buffer;
}

/** A comment, which clients ignore. It shows proxies and clients that the stream is alive. */
export const keepAliveComment = ': keep-alive\n\n';

const headOf = ({ event, id }: ServerSentEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}id: ${id}\ndata: `;

/** Events with data up to this length are written as one buffer, made once for all streams of the data: each write costs a system call. */
const maxJoinedLength = 64 * 1024;
const joinedEvents = new WeakMap<Buffer, { readonly head: string; readonly bytes: Buffer }>();
const joinToBuffer = (event: ServerSentEvent, suffix: string): Buffer | string => {
  const { data } = event;
  const head = headOf(event);
  if (typeof data === 'string') return `${head}${data}\n\n${suffix}`;
  const cached = joinedEvents.get(data);
  if (cached?.head === head && suffix === '') return cached.bytes;
  const bytes = Buffer.concat([Buffer.from(head), data, Buffer.from(`\n\n${suffix}`)]);
  if (suffix === '') joinedEvents.set(data, { head, bytes });
  return bytes;
};

/** Writes an event to a response, and then `suffix` as it is. */
export const writeEvent = (raw: ServerResponse, event: ServerSentEvent, suffix: string): void => {
  const { data } = event;
  if (data.length <= maxJoinedLength) return void raw.write(joinToBuffer(event, suffix));
  raw.cork();
  raw.write(headOf(event));
  raw.write(data);
  raw.write(`\n\n${suffix}`);
  raw.uncork();
};
