import type { Bus } from '@bunting/bus';
import { type DeliveryScope, scopeKey, StreamClientFeatures, StreamFlagChanges } from '@bunting/contracts';
import { startInMemoryProjection } from '@bunting/outbox';
import type { Log, ServiceContext } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import type { Registry } from 'prom-client';
import { unreadResponses } from '../admission/unread-responses.ts';
import type { Authentication } from '../authentication.ts';
import type { GatewayConfig } from '../config.ts';
import { clientStream } from './client/client-stream.ts';
import { featurePollHandlers, fetchModePolicy } from './client/polls.ts';
import { preRoutingPollResponses } from './client/pre-routed-polls.ts';
import { frontendHandlers } from './frontend.ts';
import { ofrepStream, streamTickets } from './ofrep/changes.ts';
import { ofrepHandlers } from './ofrep/evaluations.ts';
import { deliveryStore } from './store/delivery-store.ts';
import { deliveryStreams, streamMetrics } from './streams/delivery-streams.ts';
import { type DeliveryView, deliveryView } from './view/delivery-view.ts';
import { evaluatorCache } from './view/evaluator-cache.ts';
import { resultCache } from './view/result-cache.ts';

export interface DeliveryOptions {
  readonly bus: Bus;
  readonly config: Pick<
    GatewayConfig,
    'GATEWAY_DELIVERY_POLL_INTERVAL_MS' | 'GATEWAY_DELIVERY_WAIT_TIMEOUT_MS' | 'GATEWAY_DELIVERY_CACHE_MIB'
  >;
  readonly metrics?: Registry | undefined;
  readonly log: Log;
}

/** The results of evaluations have this part of the size of the cache of full responses, besides it. */
const resultsShare = 4;

/**
 * The delivery to SDKs from the memory of this process: a projection of the `delivery` rows of the features service, and a view for each
 * scope. It serves its last state while PostgreSQL or NATS is unavailable.
 */
export async function startDelivery({ bus, config, metrics, log }: DeliveryOptions) {
  const store = deliveryStore();
  const listeners: (() => void)[] = [];
  const projection = await startInMemoryProjection({
    consumer: 'gateway',
    producer: 'features',
    topic: 'delivery',
    bus,
    metrics,
    log,
    intervalMs: config.GATEWAY_DELIVERY_POLL_INTERVAL_MS,
    apply: (messages, upTo, isComplete) => {
      store.apply(messages, upTo, isComplete);
      if (isComplete) for (const listener of listeners) listener();
    },
    reset: store.reset,
  });
  const maxSize = config.GATEWAY_DELIVERY_CACHE_MIB * 1024 * 1024;
  const views = new LRUCache<string, DeliveryView>({
    maxSize,
    // A view that alone exceeds the maximum is cached all the same: otherwise each poll would serialise all features of its scope.
    sizeCalculation: (view) => Math.min(maxSize, view.bytes),
  });
  let hasWarned = false;
  /** Updates the size of a view in the cache. */
  const resize = (key: string, view: DeliveryView): void => {
    // The cache does not update the size of an entry whose value is set again.
    views.delete(key);
    views.set(key, view);
    if (hasWarned || view.bytes <= maxSize) return;
    hasWarned = true;
    const neededMib = Math.ceil(view.bytes / 1024 / 1024);
    log.warn(
      `The responses to SDKs of one scope in the environment ${view.scope.environment} take ${neededMib} MiB, more than all that ` +
        `GATEWAY_DELIVERY_CACHE_MIB=${config.GATEWAY_DELIVERY_CACHE_MIB} allows, so that they evict those of all other scopes. Set it to a few times as much.`,
    );
  };

  return {
    store,
    evaluationOf: evaluatorCache(store),
    resultOf: resultCache(maxSize / resultsShare),
    /** Whether the memory holds a complete state; until then there is nothing to serve. */
    get isLoaded(): boolean {
      return projection.isLoaded && store.isComplete;
    },
    /** Waits until everything that was committed before this call is in memory. @returns the staleness in milliseconds */
    catchUp: (): number | Promise<number> => projection.catchUp(config.GATEWAY_DELIVERY_WAIT_TIMEOUT_MS),
    /** Calls a listener after each change, once everything is applied that was committed when the change was read. */
    onChange: (listener: () => void): void => void listeners.push(listener),
    /** @param key of the scope, for a caller that has it already */
    viewOf: (scope: DeliveryScope, key = scopeKey(scope)): DeliveryView => {
      const cached = views.get(key);
      if (cached !== undefined) return cached;
      const view = deliveryView(store, scope, () => resize(key, view));
      views.set(key, view);
      return view;
    },
    stop: (): Promise<void> => projection.stop(),
  };
}
export type Delivery = Awaited<ReturnType<typeof startDelivery>>;

/** Starts the delivery to SDKs: the features in memory, streams, and the handlers that respond from both. */
export async function startSdkDelivery(
  { config, bus, log, metrics, onStop, draining, drainDelayMs }: ServiceContext<typeof GatewayConfig>,
  { hasher, authenticate, authenticateFromCache, identifyById, admitBeforeRouting, limits }: Authentication,
) {
  const delivery = await startDelivery({ bus, config, metrics, log });
  onStop('delivery to SDKs', () => delivery.stop());
  const unread = unreadResponses(config);
  const measures = streamMetrics(metrics);
  measures.open.set({ kind: 'events' }, 0);
  const streams = deliveryStreams({ delivery, config, limits, unread, metrics: measures, draining, drainDelayMs });
  // Derived from the key of tokens, which all gateways share.
  const tickets = streamTickets(hasher('the key of stream tickets').hash);
  const fetchMode = fetchModePolicy(config);
  const { directToStream } = fetchMode;
  return {
    delivery,
    unread,
    streams,
    openStreams: measures.open,
    sdkHandlers: new Map([
      ...featurePollHandlers(delivery, directToStream),
      ...frontendHandlers(delivery),
      ...ofrepHandlers({ delivery, tickets }),
      [StreamClientFeatures.subject, clientStream({ delivery, streams, authenticate, fetchMode })],
      [StreamFlagChanges.subject, ofrepStream({ delivery, streams, tickets, identifyById })],
    ]),
    respondBeforeRouting: preRoutingPollResponses({
      delivery,
      authenticateFromCache,
      admitBeforeRouting,
      directToStream,
    }),
  };
}
