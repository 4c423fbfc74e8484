import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { faultOf, isJson, staleMsOf } from './answer-head.ts';
import { type JsonReader, wholeJson } from './json-reader.ts';
import { OriginError } from './origin-error.ts';

/** How an edge speaks to its origin. Times are milliseconds. */
export interface UpstreamSettings {
  /** headers that every request carries besides those of an SDK */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly rejectUnauthorized?: boolean;
  };
  /** the most decoded bytes of an answer, or of one event of a stream */
  readonly maxBytes: number;
  readonly connectTimeoutMs: number;
  /** until the head of an answer */
  readonly headTimeoutMs: number;
  /** between two pieces of an answer */
  readonly bodyTimeoutMs: number;
  /** for the whole body of an answer, without what it waits for other large ones */
  readonly answerTimeoutMs: number;
  /** how many answers of more than `largeBytes` are read at the same time; the others wait in the network */
  readonly maxLargeAnswers: number;
  readonly largeBytes: number;
  /** between two pieces of a stream, whose origin sends a comment at least every 30 s */
  readonly streamTimeoutMs: number;
  /** how long a request waits before a second one is sent beside it, in case the first waits for a dead connection */
  readonly hedgeAfterMs: number;
}

export const defaultUpstreamSettings: UpstreamSettings = {
  headers: {},
  tls: {},
  maxBytes: 256 * 1024 * 1024,
  connectTimeoutMs: 3_000,
  headTimeoutMs: 30_000,
  bodyTimeoutMs: 10_000,
  answerTimeoutMs: 60_000,
  maxLargeAnswers: 2,
  largeBytes: 4 * 1024 * 1024,
  streamTimeoutMs: 65_000,
  hedgeAfterMs: 3_000,
};

export interface OriginOptions {
  /** with a base path, if the origin has one */
  readonly origin: URL;
  /** the name of the header that carries the token; `Authorization` for most origins */
  readonly tokenHeader: string;
  readonly settings: UpstreamSettings;
  /** Takes the milliseconds that a complete answer took. */
  readonly took?: (path: string, ms: number) => void;
}

export interface OriginRequest {
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** the most decoded bytes of the answer, where that is less than the setting */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Reads the JSON of the answer piece by piece, where all of it would take too much memory at once. */
  readonly readJson?: () => JsonReader;
}

/** An answer with a body in JSON, or none. */
export interface OriginAnswer {
  readonly status: number;
  readonly headers: Response['headers'];
  readonly body: unknown;
  /** milliseconds since the origin last knew its data to be current: an edge that is cut off says so; 0 where it is */
  readonly staleMs: number;
}

interface Head {
  readonly response: Response;
  readonly reader: { read(): Promise<{ done: boolean; value?: unknown }>; cancel(): Promise<void> } | undefined;
  /** Ends the connection, whatever has arrived; every head is discarded in the end. */
  readonly discard: () => void;
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { code, message: causeMessage } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  return causeMessage === undefined || causeMessage === '' ? (code ?? message) : causeMessage;
}

/**
 * The pieces of a body, decoded.
 * @throws OriginError `unreachable` where it breaks off
 */
async function* piecesOf({ reader, discard }: Head): AsyncGenerator<Uint8Array> {
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new OriginError('unreachable', `its answer broke off: ${reasonOf(error)}`);
      });
      if (done) return;
      yield value as Uint8Array;
    }
  } finally {
    discard();
  }
}

/** Lets so many run at a time; the others wait in their order. */
function turns(max: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    take: async (): Promise<void> => {
      if (running < max) running++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    giveBack: (): void => {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    },
  };
}

type Limits = Pick<UpstreamSettings, 'maxBytes' | 'largeBytes' | 'answerTimeoutMs'>;

/** @throws OriginError `unusable` where it is no JSON, or longer than `maxBytes`; `unreachable` where it takes too long */
async function readJson(
  head: Head,
  { maxBytes, largeBytes, answerTimeoutMs }: Limits,
  large: ReturnType<typeof turns>,
  reader: JsonReader,
): Promise<unknown> {
  const { response } = head;
  if (!isJson(response)) {
    const type = response.headers.get('content-type') ?? 'nothing';
    throw new OriginError('unusable', `its answer is of the type ${type.slice(0, 100)}, not JSON`);
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const parse = <T>(job: () => T): T => {
    try {
      return job();
    } catch (error) {
      throw error instanceof SyntaxError ? new OriginError('unusable', 'its answer is no complete JSON') : error;
    }
  };
  let length = 0;
  let isLarge = false;
  let isLate = false;
  const startTimer = (): NodeJS.Timeout =>
    setTimeout(() => {
      isLate = true;
      head.discard();
    }, answerTimeoutMs);
  let timer = startTimer();
  try {
    for await (const piece of piecesOf(head)) {
      length += piece.length;
      if (length > maxBytes) throw new OriginError('unusable', `its answer is longer than ${maxBytes} bytes`);
      parse(() => reader.feed(decoder.decode(piece, { stream: true })));
      if (isLarge || length <= largeBytes) continue;
      clearTimeout(timer);
      await large.take();
      isLarge = true;
      timer = startTimer();
    }
    return parse(() => {
      reader.feed(decoder.decode());
      return reader.end();
    });
  } catch (error) {
    throw isLate ? new OriginError('unreachable', `its answer took longer than ${answerTimeoutMs} ms`) : error;
  } finally {
    clearTimeout(timer);
    if (isLarge) large.giveBack();
  }
}

/**
 * Requests to the origin of an edge. Each has a connection of its own, so that none waits for one that is dead, or stays with one replica of
 * the origin. Redirects are not followed: they would carry the token elsewhere.
 */
export function originClient({ origin, tokenHeader, settings, took }: OriginOptions) {
  const agentWith = (bodyTimeout: number): Agent =>
    new Agent({
      pipelining: 0,
      connect: { timeout: settings.connectTimeoutMs, ...settings.tls },
      headersTimeout: settings.headTimeoutMs,
      bodyTimeout,
    });
  const agents = { answer: agentWith(settings.bodyTimeoutMs), stream: agentWith(settings.streamTimeoutMs) };
  const closing = new AbortController();
  const large = turns(settings.maxLargeAnswers);
  const base = origin.href.replace(/\/+$/, '');

  const headOf = async (
    { path, token, headers, json, signal }: OriginRequest,
    dispatcher: Agent,
    controller = new AbortController(),
  ): Promise<Head> => {
    const signals = signal === undefined ? [closing.signal] : [closing.signal, signal];
    let reader: Head['reader'];
    // The abort alone may not arrive: fetch holds its signal weakly once it has resolved.
    const discard = (): void => {
      for (const source of signals) source.removeEventListener('abort', discard);
      controller.abort();
      reader?.cancel().catch(() => undefined);
    };
    for (const source of signals) source.addEventListener('abort', discard, { once: true });
    const init: RequestInit = {
      dispatcher,
      signal: controller.signal,
      redirect: 'manual',
      method: json === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...settings.headers,
        ...(token === undefined ? {} : { [tokenHeader]: token }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    };
    try {
      if (signals.some(({ aborted }) => aborted)) throw new Error('the edge stops');
      const response = await fetch(`${base}${path}`, init);
      reader = response.body?.getReader();
      return { response, reader, discard };
    } catch (error) {
      discard();
      throw new OriginError('unreachable', reasonOf(error));
    }
  };

  /**
   * The head of an answer to a read. While the first request waits, another one on a connection of its own takes its turn beside it every
   * `hedgeAfterMs`: an origin that is back answers the newer one, a slow one the older.
   */
  const hedgedHeadOf = async (request: OriginRequest, dispatcher: Agent): Promise<Head> => {
    const waiting = new Set<AbortController>();
    const begin = (): { readonly head: Promise<Head>; readonly abort: () => void } => {
      const controller = new AbortController();
      waiting.add(controller);
      const head = headOf(request, dispatcher, controller);
      head.then(
        () => waiting.delete(controller),
        () => undefined,
      );
      return { head, abort: () => controller.abort() };
    };
    const first = begin();
    let second: ReturnType<typeof begin> | undefined;
    const waited = new AbortController();
    try {
      for (;;) {
        const pause = sleep(settings.hedgeAfterMs, undefined, { signal: waited.signal, ref: false });
        pause.catch(() => undefined);
        // A second request that fails proves nothing about the first.
        const secondHead = second === undefined ? [] : [second.head.catch(() => pause)];
        const answer = await Promise.race([first.head, pause, ...secondHead]);
        if (answer !== undefined) return answer;
        second?.abort();
        second = begin();
      }
    } finally {
      waited.abort();
      for (const controller of waiting) controller.abort();
    }
  };

  const answerTo = async (
    { path, maxBytes, readJson: readPieces = wholeJson }: OriginRequest,
    heading: Promise<Head>,
  ): Promise<OriginAnswer> => {
    const startedAt = performance.now();
    const head = await heading;
    const { response, discard } = head;
    const { status, headers } = response;
    try {
      const fault = faultOf(response);
      if (fault !== undefined) throw fault;
      const hasBody = status === 200 || status === 201;
      const body = hasBody
        ? await readJson(head, { ...settings, ...(maxBytes === undefined ? {} : { maxBytes }) }, large, readPieces())
        : undefined;
      took?.(path, performance.now() - startedAt);
      return { status, headers, body, staleMs: staleMsOf(response) };
    } finally {
      discard();
    }
  };

  return {
    maxBytes: settings.maxBytes,
    /** @throws OriginError */
    get: (request: OriginRequest): Promise<OriginAnswer> => answerTo(request, hedgedHeadOf(request, agents.answer)),
    /** Asks with a body, which may arrive twice. @throws OriginError */
    ask: (request: OriginRequest): Promise<OriginAnswer> => answerTo(request, hedgedHeadOf(request, agents.answer)),
    /** Sends once: whether it arrived is not known after an error. @throws OriginError */
    post: (request: OriginRequest): Promise<OriginAnswer> => answerTo(request, headOf(request, agents.answer)),
    /** Opens a stream of server-sent events, which are in the pieces, until it ends or is silent for too long. @throws OriginError */
    stream: async (
      request: OriginRequest,
    ): Promise<Pick<OriginAnswer, 'staleMs'> & { readonly pieces: AsyncGenerator<Uint8Array> }> => {
      const head = await hedgedHeadOf(
        { ...request, headers: { ...request.headers, accept: 'text/event-stream' } },
        agents.stream,
      );
      const isStream = /^text\/event-stream\b/i.test(head.response.headers.get('content-type') ?? '');
      if (head.response.ok && isStream) return { pieces: piecesOf(head), staleMs: staleMsOf(head.response) };
      head.discard();
      throw faultOf(head.response) ?? new OriginError('unsupported', 'it answers no stream');
    },
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.all([agents.answer.destroy(), agents.stream.destroy()]);
    },
  };
}
export type OriginClient = ReturnType<typeof originClient>;
