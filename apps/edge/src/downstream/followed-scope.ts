import { GetClientSegmentBlocks, StreamClientFeatures, StreamFlagChanges } from '@bunting/contracts';
import {
  clientStream,
  type Delivery,
  deliveryOf,
  deliveryStore,
  type DeliveryStreams,
  deliveryStreams,
  featurePollHandlers,
  type fetchModePolicy,
  edgeFrontendHandlers,
  frontendHandlers,
  ofrepHandlers,
  ofrepStream,
  type SdkHandler,
  segmentBlocksHandler,
  type StreamMetrics,
  type StreamPermits,
  type streamTickets,
} from '@bunting/delivery';
import type { ConcurrentRequestLimits, UnreadResponses } from '@bunting/http';
import type { Log } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import type { ServerSettings } from '../config.ts';
import type { OriginState } from '../origin-state.ts';
import type { EdgeLists } from '../segment-lists/edge-lists.ts';
import { storeRows } from './store-rows.ts';
import { scopeKeyOf } from '../token-scope.ts';
import type { EdgeToken } from './token.ts';
import type { EdgeTokens } from './tokens.ts';

/** What all scopes of an edge share. */
export interface ScopeParts {
  readonly config: ServerSettings;
  readonly limits: ConcurrentRequestLimits;
  readonly unread: UnreadResponses;
  readonly permits: StreamPermits;
  readonly streamMetrics: StreamMetrics;
  readonly tickets: ReturnType<typeof streamTickets>;
  readonly fetchMode: ReturnType<typeof fetchModePolicy>;
  readonly tokens: Pick<EdgeTokens, 'authenticate' | 'identifyById'>;
  readonly lists: Pick<EdgeLists, 'find' | 'sweep'>;
  readonly draining: AbortSignal;
  readonly drainDelayMs: number;
  readonly log: Log;
  /** monotonic milliseconds, for tests */
  readonly now?: () => number;
}

/** For how long at least, and for how many refreshes, a client is believed to have a later revision from another edge. */
const minBelievedMs = 30_000;
const believedIntervals = 2;
/** After so many times as long, the same revision is believed once more. */
const forgottenAfter = 10;
const maxLaterRevisions = 1_000;

/** Milliseconds that a request waits for the first state of a scope. */
const firstStateMs = 5_000;

/** An environment and projects that an edge keeps the state of, and what it responds to clients with tokens for them. */
export interface FollowedScope {
  readonly environment: string;
  readonly projects: readonly string[];
  readonly key: string;
  readonly delivery: Delivery;
  readonly streams: DeliveryStreams;
  /** by subject */
  readonly handlers: ReadonlyMap<string, SdkHandler>;
  /** by subject of the operation with the same request: what Unleash Edge evaluates and gateways do not */
  readonly frontend: ReturnType<typeof edgeFrontendHandlers>;
  /** the state that is served; undefined before there is one */
  readonly state: () => OriginState | undefined;
  /** Takes over a state. One that the origin had before the present one is ignored, unless it says that the later ones are lost. @throws if it cannot be served: then the present one still is */
  readonly apply: (state: OriginState) => void;
}

/**
 * @param behindMs milliseconds for which the origin has not confirmed the state of the scope although it should have; 0 where it has
 */
export function followedScope(
  { environment, projects }: Pick<EdgeToken, 'environment' | 'projects'>,
  parts: ScopeParts,
  behindMs: () => number,
): FollowedScope {
  const {
    config,
    limits,
    unread,
    permits,
    tickets,
    fetchMode,
    tokens,
    draining,
    drainDelayMs,
    log,
    now = () => performance.now(),
  } = parts;
  const store = deliveryStore({
    lists: { find: parts.lists.find, maxIdsToSdks: config.GATEWAY_MAX_LIST_IDS_TO_SDKS },
  });
  let state: OriginState | undefined;
  const first = Promise.withResolvers<void>();

  const waitForFirst = async (): Promise<number> => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, firstStateMs).unref()));
    await Promise.race([first.promise, timeout]);
    clearTimeout(timer);
    return behindMs();
  };
  // Edges learn of changes at different times, so a client may have a revision of another edge. One that this edge does not get to in the
  // time that edges need is of a history that is lost, or of another origin.
  const believedMs = Math.max(minBelievedMs, believedIntervals * config.FEATURES_REFRESH_INTERVAL_SECONDS * 1_000);
  const laterSince = new LRUCache<number, number>({ max: maxLaterRevisions, ttl: forgottenAfter * believedMs });
  const mayBeLater = (revision: number): boolean => {
    const since = laterSince.get(revision);
    if (since === undefined) laterSince.set(revision, now());
    return since === undefined || now() - since < believedMs;
  };
  const delivery = deliveryOf({
    store,
    isLoaded: () => state !== undefined,
    catchUp: () => (state === undefined ? waitForFirst() : behindMs()),
    mayBeLater,
    config,
    log,
  });
  const streams = deliveryStreams({
    delivery,
    config,
    limits,
    unread,
    permits,
    metrics: parts.streamMetrics,
    draining,
    drainDelayMs,
  });

  const fill = (whole: OriginState): void => {
    store.reset();
    store.apply(storeRows(undefined, whole), whole.revision, true);
    store.hydrateBelow(whole.historyFrom);
  };
  const apply = (next: OriginState): void => {
    const before = state;
    const isContinued =
      before !== undefined && next.historyFrom <= before.historyFrom && next.revision >= before.revision;
    if (before !== undefined && !isContinued && next.historyFrom <= before.historyFrom) return;
    // What has changed under one revision is no history that a delta could tell.
    const isRestart =
      !isContinued || (next.revision === before.revision && storeRows(before, next).next().done !== true);
    try {
      if (isRestart) fill(next);
      else {
        store.apply(storeRows(before, next), next.revision, true);
        if (next.revision > before.revision) store.countAsChanged();
      }
    } catch (error) {
      // Half a state is none of the origin.
      if (before === undefined) store.reset();
      else fill(before);
      throw error;
    }
    state = next;
    for (const revision of [...laterSince.keys()]) if (revision <= next.revision) laterSince.delete(revision);
    first.resolve();
    if (isRestart || next.revision > before.revision) delivery.changed();
  };

  return {
    environment,
    projects,
    key: scopeKeyOf({ environment, projects }),
    delivery,
    streams,
    handlers: new Map([
      ...featurePollHandlers(delivery, fetchMode.directToStream),
      ...frontendHandlers(delivery),
      ...ofrepHandlers({ delivery, tickets }),
      [GetClientSegmentBlocks.subject, segmentBlocksHandler(delivery)],
      [StreamClientFeatures.subject, clientStream({ delivery, streams, authenticate: tokens.authenticate, fetchMode })],
      [StreamFlagChanges.subject, ofrepStream({ delivery, streams, tickets, identifyById: tokens.identifyById })],
    ]),
    frontend: edgeFrontendHandlers(delivery),
    state: () => state,
    apply,
  };
}
