import { type Bus, systemContext } from '@bunting/bus';
import { GetClientSegmentBlocks, GetSegmentBlocks, StreamClientFeatures, StreamFlagChanges } from '@bunting/contracts';
import { inflateIdBlock } from '@bunting/contracts/id-blocks';
import { startInMemoryProjection } from '@bunting/outbox';
import type { Log, ServiceContext } from '@bunting/runtime';
import { Gauge, type Registry } from 'prom-client';
import { type RespondBeforeRouting, type UnreadResponses, unreadResponses } from '@bunting/http';
import {
  clientStream,
  type Delivery,
  type DeliveryStreams,
  type FetchBlocks,
  type SdkHandler,
  type SegmentLists,
  type StreamMetrics,
  deliveryStore,
  deliveryOf,
  deliveryStreams,
  deliveryView,
  featurePollHandlers,
  fetchModePolicy,
  frontendHandlers,
  ofrepHandlers,
  ofrepStream,
  preRoutingPollResponses,
  segmentBlocksHandler,
  segmentLists,
  streamMetrics,
  streamTickets,
} from '@bunting/delivery';
import type { CurrentRevisionOf } from '../access/edges/current-revisions.ts';
import { call } from '../calls.ts';
import type { Authentication } from '../authentication.ts';
import type { GatewayConfig } from '../config.ts';
import { basePathOf } from '../http/base-path.ts';

export interface DeliveryOptions {
  readonly bus: Bus;
  readonly config: Pick<
    GatewayConfig,
    | 'GATEWAY_MAX_LIST_IDS_TO_SDKS'
    | 'GATEWAY_DELIVERY_POLL_INTERVAL_MS'
    | 'GATEWAY_DELIVERY_WAIT_TIMEOUT_MS'
    | 'GATEWAY_DELIVERY_CACHE_MIB'
  >;
  readonly metrics?: Registry | undefined;
  readonly log: Log;
}

/**
 * The delivery to SDKs from the memory of this process: a projection of the `delivery` rows of the features service. It serves its last state
 * while PostgreSQL or NATS is unavailable.
 */
export async function startDelivery({
  bus,
  config,
  metrics,
  log,
}: DeliveryOptions): Promise<{ readonly delivery: Delivery; readonly stop: () => Promise<void> }> {
  const lists = segmentLists(fetchBlocksBy(bus), (message) => log.warn(message));
  const store = deliveryStore({ lists: { find: lists.find, maxIdsToSdks: config.GATEWAY_MAX_LIST_IDS_TO_SDKS } });
  if (metrics !== undefined) registerListMetrics(metrics, lists);
  const delivery: Delivery = deliveryOf({
    store,
    isLoaded: () => projection.isLoaded,
    catchUp: () => projection.catchUp(config.GATEWAY_DELIVERY_WAIT_TIMEOUT_MS),
    config,
    log,
  });
  const projection = await startInMemoryProjection({
    consumer: 'gateway',
    producer: 'features',
    topic: 'delivery',
    bus,
    metrics,
    log,
    intervalMs: config.GATEWAY_DELIVERY_POLL_INTERVAL_MS,
    prepare: lists.loadFor,
    apply: (messages, upTo, isComplete) => {
      store.apply(messages, upTo, isComplete);
      lists.retain(store.listRoots(), isComplete);
      if (isComplete) delivery.changed();
    },
    reset: store.reset,
  });
  return { delivery, stop: (): Promise<void> => projection.stop() };
}

function registerListMetrics(metrics: Registry, lists: SegmentLists): void {
  new Gauge({
    name: 'bunting_segment_list_bytes',
    help: 'The memory that the ids in lists of segments take in this process',
    registers: [metrics],
    collect() {
      this.set(lists.bytes);
    },
  });
  new Gauge({
    name: 'bunting_segment_lists_unknown',
    help: 'The lists of segments that could not be read: their segments match nobody',
    registers: [metrics],
    collect() {
      this.set(lists.unknown);
    },
  });
}

/** What a stored block says; undefined where it is damaged. */
function bytesOfStored(content: string, kind: 'root' | 'ids'): Uint8Array | undefined {
  const bytes = Buffer.from(content, 'base64');
  try {
    return kind === 'root' ? bytes : new Uint8Array(inflateIdBlock(bytes));
  } catch {
    return undefined;
  }
}

/** Reads blocks of lists from the features service. */
function fetchBlocksBy(bus: Bus): FetchBlocks {
  return async (hashes, kind) => {
    const { blocks } = await call(
      bus,
      GetSegmentBlocks,
      { body: { hashes: [...hashes] } },
      systemContext(blocksTimeoutMs),
    );
    const found = new Map<string, Uint8Array>();
    for (const { hash, content } of blocks) {
      const bytes = bytesOfStored(content, kind);
      if (bytes !== undefined) found.set(hash, bytes);
    }
    return found;
  };
}

const blocksTimeoutMs = 10_000;

export interface SdkDelivery {
  readonly delivery: Delivery;
  readonly unread: UnreadResponses;
  readonly streams: DeliveryStreams;
  readonly openStreams: StreamMetrics['open'];
  /** by subject */
  readonly sdkHandlers: ReadonlyMap<string, SdkHandler>;
  readonly respondBeforeRouting: RespondBeforeRouting;
}

/** Starts the delivery to SDKs: the features in memory, streams, and the handlers that respond from both. */
export async function startSdkDelivery(
  { config, bus, log, metrics, onStop, draining, drainDelayMs }: ServiceContext<typeof GatewayConfig>,
  { hasher, authenticate, authenticateFromCache, identifyById, admitBeforeRouting, limits }: Authentication,
): Promise<SdkDelivery> {
  const { delivery, stop } = await startDelivery({ bus, config, metrics, log });
  onStop('delivery to SDKs', stop);
  const unread = unreadResponses(config);
  const measures = streamMetrics(metrics);
  measures.open.set({ kind: 'events' }, 0);
  const streams = deliveryStreams({ delivery, config, limits, unread, metrics: measures, draining, drainDelayMs });
  // Derived from the key of tokens, which all gateways share.
  const tickets = streamTickets(hasher('the key of stream tickets').hash, { basePath: basePathOf(config) });
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
      [GetClientSegmentBlocks.subject, segmentBlocksHandler(delivery)],
      [StreamClientFeatures.subject, clientStream({ delivery, streams, authenticate, fetchMode })],
      [StreamFlagChanges.subject, ofrepStream({ delivery, streams, tickets, identifyById })],
    ]),
    respondBeforeRouting: preRoutingPollResponses({
      deliveryTo: () => delivery,
      authenticateFromCache,
      admitBeforeRouting,
      directToStream,
    }),
  };
}

/** The revisions of what edges get of existing projects, which are those of SDKs that know segments. */
export async function currentRevisions(
  delivery: Pick<Delivery, 'store' | 'isLoaded' | 'catchUp'>,
  existing: ReadonlySet<string>,
): Promise<CurrentRevisionOf> {
  await delivery.catchUp();
  return ({ environment, projects }) => {
    const isAll = projects.includes('*');
    if (!delivery.isLoaded || !delivery.store.hasEnvironment(environment)) return undefined;
    if (!isAll && !(projects.length > 0 && projects.every((project) => existing.has(project)))) return undefined;
    // Of its own, for this once: whatever an edge reports must not take the places of the views that SDKs get.
    const scope = { environment, ...(isAll ? {} : { projects }), inlineSegments: false };
    return deliveryView(delivery.store, scope).revision();
  };
}
