import { type Log, backoffMs, logFailure, startLoop } from '@bunting/runtime';
import { segmentListsHeader, segmentListsVersion } from '@bunting/contracts';
import type { OriginState } from '../origin-state.ts';
import type { ListClaim } from '../segment-lists/edge-lists.ts';
import type { OriginClient } from './origin-client.ts';
import { OriginError } from './origin-error.ts';
import { fetchBlocksFrom } from './fetch-blocks.ts';
import { HeldContents } from './held-contents.ts';
import { type RestorationSettings, restorationWatch } from './restored-origin.ts';
import { type ReadStream, readStream } from './read-stream.ts';
import type { StreamEvent } from './stream-events.ts';
import { scopeInToken, validateTokens } from './validate-tokens.ts';
import { TokenRefusals } from './token-refusals.ts';
import type { UpstreamMetrics } from './upstream-metrics.ts';
import { type Mode, modes, UsableModes } from './usable-modes.ts';

/** Times are milliseconds. */
export interface FollowSettings extends RestorationSettings {
  /** the modes that may be used; `polling` is used where no other works */
  readonly modes: ReadonlySet<Mode>;
  /** between two questions, without a stream */
  readonly refreshMs: number;
  /** how long a stream may be silent before the edge asks whether it missed something, and between two questions how old the origin's data is */
  readonly probeAfterMs: number;
  /** until a stream has sent its first event */
  readonly firstEventTimeoutMs: number;
  /** the longest pause after a failure, unless the origin asks for a longer one */
  readonly maxBackoffMs: number;
  /** until a mode that the origin does not have, or that did not work, is tried again */
  readonly betterModeAfterMs: number;
  /** for how long the origin must refuse a token, in at least three answers, until its state is given up */
  readonly refusedAfterMs: number;
  /** between two uses of a token that is refused */
  readonly refusedRetryMs: number;
  /** between two questions what the token is for, without a stream */
  readonly validateAfterMs: number;
}

export const defaultFollowSettings: FollowSettings = {
  modes: new Set(modes),
  refreshMs: 15_000,
  probeAfterMs: 6_000,
  firstEventTimeoutMs: 30_000,
  maxBackoffMs: 3_000,
  betterModeAfterMs: 5 * 60_000,
  olderAnswers: 5,
  olderForMs: 5_000,
  refusedAfterMs: 3_000,
  refusedRetryMs: 60_000,
  validateAfterMs: 60_000,
};

export interface FollowOptions {
  readonly client: OriginClient;
  readonly token: string;
  /** what a snapshot has of the token */
  readonly held?: OriginState | undefined;
  /** the least `historyFrom` of the states: clients with earlier revisions have what the token was for before */
  readonly historyFrom?: number;
  /** the name and the id of this edge, as origins list applications */
  readonly appName: string;
  readonly instanceId: string;
  readonly settings: FollowSettings;
  /** the lists of segments, which are there before a state that needs them is handed over */
  readonly lists: ListClaim;
  /** Takes each state that the origin had; none is older than the one before, unless its `historyFrom` is higher. */
  readonly onState: (state: OriginState) => void;
  /** The origin refuses the token: what it delivered must not be served any longer. */
  readonly onRefused: () => void;
  readonly log: Log;
  readonly metrics: UpstreamMetrics;
  /** monotonic milliseconds, for tests */
  readonly now?: () => number;
}

/** The version of the client specification that an edge reads: with segments beside the features, and deltas. */
const clientSpec = '5.2.0';
/** How often in a row the question for blocks may be blocked before features are asked for without lists for a while. */
const maxTimesBlocked = 3;

/** Whether features are asked for with lists of segments: not for a while once questions for blocks are blocked on their way. */
function listsOrIds(pauseMs: number, log: Log, now: () => number) {
  let timesBlocked = 0;
  let withoutListsUntil = Number.NEGATIVE_INFINITY;
  return {
    headers: (): Readonly<Record<string, string>> =>
      now() < withoutListsUntil ? {} : { [segmentListsHeader]: segmentListsVersion },
    onBlocked: (): void => {
      timesBlocked++;
      if (timesBlocked < maxTimesBlocked || now() < withoutListsUntil) return;
      withoutListsUntil = now() + pauseMs;
      timesBlocked = 0;
      log.warn(
        'The origin, or a proxy in front of it, does not let POST /api/client/segment-blocks pass. The edge gets lists of segments as SDKs do: those with many ids match nobody.',
      );
    },
    onPassed: (): void => void (timesBlocked = 0),
  };
}

/**
 * Follows what the origin delivers to a token: by its stream, else by deltas, else by polls, whichever the origin has. After an interruption
 * it asks for everything, since the origin may have been restored from a backup meanwhile; after the end of a stream it resumes.
 */
export function followOrigin(options: FollowOptions) {
  const { client, token, settings, lists, onState, onRefused, log, metrics, now = () => performance.now() } = options;
  const closing = new AbortController();
  const watch = restorationWatch(settings, now);
  const headersOfEdge = {
    'unleash-appname': options.appName,
    'unleash-instanceid': options.instanceId,
    'unleash-client-spec': clientSpec,
    'unleash-sdk': 'bunting-edge',
    'unleash-sdk-type': 'edge',
    'unleash-interval': String(settings.refreshMs),
  };
  const withLists = listsOrIds(settings.betterModeAfterMs, log, now);
  const headersNow = (): Readonly<Record<string, string>> => ({ ...headersOfEdge, ...withLists.headers() });
  const fetchBlocks = fetchBlocksFrom(client, { token, headers: headersOfEdge, signal: closing.signal }, withLists);

  const suspectedPauseMs = settings.olderForMs / settings.olderAnswers;
  const reopening = { firstMs: 50, maxMs: settings.maxBackoffMs };

  const jsonOf = (event: StreamEvent): unknown => {
    try {
      return event.json();
    } catch (error) {
      if (error instanceof OriginError) throw error;
      throw new OriginError('unusable', 'an event of its stream is no JSON');
    }
  };
  const usable = new UsableModes(settings, now);
  const refusals = new TokenRefusals(settings, now);
  let validatedAt = Number.NEGATIVE_INFINITY;
  let stream: ReadStream | undefined;
  /** ends the request of the stream, also before it is answered */
  let streaming: AbortController | undefined;
  let mode: Mode = 'polling';
  let reopenAt = 0;
  let confirmedAt: Date | undefined;
  let failure: string | undefined;
  /** how old the data of the origin was at its last answer, and when that was */
  let originStaleMs = 0;
  let toldAt = 0;

  const told = (staleMs: number): void => {
    originStaleMs = staleMs;
    toldAt = now();
  };

  /** The origin has answered with something usable. */
  const onAnswered = (isConfirmed: boolean): void => {
    refusals.end();
    if (!isConfirmed) return;
    confirmedAt = new Date();
    failure = undefined;
    refusals.restore();
  };

  /** Learns what the token is for. @throws OriginError `refused` if the origin says that it is not valid */
  const validate = async (): Promise<void> => {
    try {
      const [valid] = await validateTokens(client, [token], { signal: closing.signal });
      if (valid === undefined) throw new OriginError('refused', 'it does not know the token');
      contents.setScope(valid);
      validatedAt = now();
    } catch (error) {
      const isDecisive = error instanceof OriginError && (error.fault === 'refused' || error.fault === 'unreachable');
      if (isDecisive || !(error instanceof OriginError)) throw error;
      // What delivers features decides; a token names its scope itself.
      if (contents.scope !== undefined) return;
      const scope = scopeInToken(token);
      if (scope === undefined) throw error;
      contents.setScope(scope);
    }
  };

  const contents = new HeldContents({
    token,
    held: options.held,
    historyFrom: options.historyFrom ?? 0,
    lists,
    fetchBlocks,
    watch,
    onState,
    onAnswered,
    validate,
    staleMs: () => originStaleMs,
    isClosed: () => closing.signal.aborted,
    log,
    metrics,
  });
  const { readJson } = contents;

  const revisionHeader = (name: string): Record<string, string> =>
    contents.needsEverything ? {} : { [name]: String(contents.revision) };

  const poll = async (): Promise<void> => {
    const tag = contents.entityTag;
    const {
      status,
      body,
      headers: received,
      staleMs,
    } = await client.get({
      path: '/api/client/features',
      token,
      headers: { ...headersNow(), ...(tag === null ? {} : { 'if-none-match': tag }) },
      signal: closing.signal,
      readJson,
    });
    if (status === 304 && tag === null)
      throw new OriginError('unusable', 'it answers 304 to a question for everything');
    told(staleMs);
    if (status === 304) return contents.confirm();
    await contents.adoptAnswer(body, received.get('etag'));
  };

  const askForDelta = async (): Promise<void> => {
    const isEverything = contents.needsEverything;
    const { status, body, staleMs } = await client.get({
      path: '/api/client/delta',
      token,
      headers: { ...headersNow(), ...revisionHeader('if-none-match') },
      signal: closing.signal,
      readJson,
    });
    if (status === 304 && isEverything)
      throw new OriginError('unusable', 'it answers 304 to a question for everything');
    told(staleMs);
    if (status === 304) return contents.confirm();
    await contents.adoptEvents(body, isEverything);
  };

  const onEvent = async (message: StreamEvent): Promise<void> => {
    const { event, data } = message;
    if (event === 'fetch-mode' && data.trim() === 'polling') {
      usable.leaveUnsupported('streaming');
      throw new OriginError('unsupported', 'it asks for polls instead of a stream');
    }
    if (event !== 'unleash-connected' && event !== 'unleash-updated') return;
    await contents.adoptEvents(jsonOf(message), contents.needsEverything);
    if (watch.isSuspected) throw new OriginError('unusable', 'its stream has an older state');
  };

  const openStream = async (): Promise<void> => {
    const controller = new AbortController();
    streaming = controller;
    if (closing.signal.aborted) controller.abort();
    const { pieces, staleMs } = await client.stream({
      path: '/api/client/streaming',
      token,
      headers: { ...headersNow(), ...revisionHeader('last-event-id') },
      signal: controller.signal,
    });
    told(staleMs);
    const opened = readStream(pieces, { controller, onEvent, readJson, maxBytes: client.maxBytes, now });
    stream = opened;
    let isConnected = false;
    const onEnd = (error: OriginError | undefined): void => {
      stream = undefined;
      usable.streamEnded(opened.openedAt, watch.isSuspected);
      if (error !== undefined) {
        failure = error.message;
        contents.doubt();
      }
      if (!isConnected) return;
      reopenAt = now() + (watch.isSuspected ? suspectedPauseMs : backoffMs(usable.streamFailures + 1, reopening));
      loop.wake();
    };
    opened.ended.then(onEnd, (error: unknown) => {
      logFailure(log, 'The stream of the origin ended by a defect', error);
      onEnd(new OriginError('unusable', 'its stream cannot be read'));
    });
    const deadline = setTimeout(() => {
      if (!opened.isTaking()) opened.end(new OriginError('unreachable', 'its stream sends no event'));
    }, settings.firstEventTimeoutMs);
    isConnected = await opened.isConnected;
    clearTimeout(deadline);
    if (isConnected || watch.isSuspected) return;
    throw (await opened.ended) ?? new OriginError('failing', 'its stream ended before its first event');
  };

  /**
   * Asks whether a silent stream missed something, as its connection may be dead, and how old the data of the origin is, which a stream does
   * not tell. The question waits as long as the origin is silent, too, and is answered when it is back.
   * @returns the pause before the next question
   */
  const probe = async (open: ReadStream): Promise<number> => {
    if (open.isTaking()) return settings.probeAfterMs;
    const lastPieceAt = open.lastPieceAt();
    const isSilent = now() - lastPieceAt >= settings.probeAfterMs;
    const pauseMs = toldAt + settings.probeAfterMs - now();
    if (!isSilent && pauseMs > 0) return Math.min(pauseMs, lastPieceAt + settings.probeAfterMs - now());
    const hasDelta = usable.has('delta');
    // Everything is too much to ask for, unless the origin would seem to be stale for as long as the stream is open.
    if (!hasDelta && originStaleMs === 0) return settings.probeAfterMs;
    const { revision } = contents;
    try {
      await (hasDelta ? askForDelta() : poll());
      const isMissed = isSilent && contents.revision !== revision && open.lastPieceAt() === lastPieceAt;
      if (watch.isSuspected || isMissed) open.end(undefined);
    } catch (error) {
      if (!(error instanceof OriginError)) throw error;
      if (error.fault === 'unsupported') usable.leaveUnsupported('delta');
      else if (isSilent) open.end(error);
    }
    return settings.probeAfterMs;
  };

  const attempts: { readonly [M in Mode]: () => Promise<void> } = {
    streaming: openStream,
    delta: askForDelta,
    polling: poll,
  };

  const round = async (): Promise<number> => {
    if (stream !== undefined) return probe(stream);
    if (now() < reopenAt) return reopenAt - now();
    // In a suspicion each question is one request, so that a balancer leads them to each replica in turn.
    if (!watch.isSuspected && (contents.needsEverything || now() - validatedAt > settings.validateAfterMs))
      await validate();
    const left = new Map<Mode, number>();
    for (const candidate of usable.list()) {
      try {
        await attempts[candidate]();
        mode = candidate;
        for (const [broken, pauseMs] of left) usable.leave(broken, pauseMs);
        break;
      } catch (error) {
        if (!(error instanceof OriginError)) throw error;
        if (candidate === 'streaming' && stream === undefined) usable.streamFailed();
        const pauseMs = usable.pauseAfter(candidate, error);
        if (pauseMs === undefined) throw error;
        left.set(candidate, pauseMs);
      }
    }
    if (watch.isSuspected) return suspectedPauseMs;
    return mode === 'streaming' ? settings.probeAfterMs : settings.refreshMs * (0.9 + Math.random() / 5);
  };

  /** @returns the pause before the next use of the token */
  const refused = (error: OriginError): number => {
    contents.doubt();
    const { pauseMs, isGivenUpNow } = refusals.add();
    if (!isGivenUpNow) return pauseMs;
    contents.giveUp();
    log.warn(
      `The origin refuses the token ${token.slice(0, token.indexOf('.') + 5)}…: ${error.message}. What it delivered is given up.`,
    );
    onRefused();
    return pauseMs;
  };

  const loop = startLoop({
    name: 'Following the origin',
    intervalMs: settings.refreshMs,
    maxBackoffMs: settings.maxBackoffMs,
    retryAfterMs: (error) => (error instanceof OriginError ? error.retryAfterMs : undefined),
    log,
    run: async () => {
      try {
        return await round();
      } catch (error) {
        if (closing.signal.aborted) return 0;
        contents.doubt();
        if (!(error instanceof OriginError)) throw error;
        failure = error.message;
        metrics.answers.inc({ outcome: error.fault });
        if (error.fault === 'refused') return refused(error);
        refusals.end();
        throw error;
      }
    },
  });

  return {
    mode: (): Mode => mode,
    /** when the origin last confirmed what is held, whether it has told of something newer whose lists are on their way, how many milliseconds old its data was then by its own account, and why it does not now */
    status: () => ({ mode, confirmedAt, originStaleMs, failure, isLoadingLists: contents.isLoadingLists }),
    close: async (): Promise<void> => {
      closing.abort();
      streaming?.abort();
      await loop.stop();
      lists.close();
    },
  };
}
