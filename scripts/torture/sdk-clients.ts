import {
  type ApiToken,
  type ClientDelta,
  type ClientFeature,
  type ClientFeatures,
  type ClientSegment,
} from '@bunting/contracts';
import { eventually, openEventStream } from '@bunting/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { SeededRandom } from './seeded-random.ts';
import { databaseSettingOf } from '../../apps/all-in-one/src/database-setting.ts';
import { featuresOfDatabase } from '../../apps/all-in-one/test/support/hosted-platform.ts';
import type { Cluster } from './cluster.ts';

/** How an SDK receives changes: it polls complete states or deltas, or reads a stream of deltas. */
type Mode = 'polling' | 'delta' | 'streaming';
/** The mode of each SDK of a run. Two of them stream, so that they may be connected to different gateways. */
const modes: readonly Mode[] = ['polling', 'delta', 'streaming', 'streaming'];

interface ClientOptions {
  readonly name: string;
  readonly urls: readonly string[];
  readonly secret: string;
  readonly random: SeededRandom;
  readonly stopping: AbortSignal;
  readonly report: (violation: string) => void;
}

/** The features and segments that an SDK has, and the counts of a run. */
interface SdkState {
  features: Map<string, ClientFeature>;
  segments: Map<number, ClientSegment>;
  /** the revision of the last change; -1 before the first one */
  revision: number;
  /** the number of events that the SDK has applied, complete states included */
  changes: number;
  /** how often a stream has ended */
  interruptions: number;
}

const environment = 'development';
const clientSpec = '5.2.0';
const pollIntervalMs = 250;
const requestTimeoutMs = 10_000;
/** A stream sends a comment every 2 seconds; a client closes a stream that was inactive for longer than this. */
const silenceTimeoutMs = 8_000;
/** The time in which clients must reach the state of the database, also when a process waits for a connection that was lost without a sign. */
const settleTimeoutMs = 60_000;

/** The settings of gateways whose streams these clients read. */
export const sdkClientSettings = { GATEWAY_STREAM_KEEP_ALIVE_SECONDS: '2' };

function byName(features: Iterable<ClientFeature>): ClientFeature[] {
  return [...features].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function applyEvents(state: SdkState, events: ClientDelta['events']): void {
  for (const event of events) {
    if (event.type === 'hydration') {
      state.features = new Map(event.features.map((feature) => [feature.name, feature]));
      state.segments = new Map(event.segments.map((segment) => [segment.id, segment]));
    } else if (event.type === 'feature-updated') state.features.set(event.feature.name, event.feature);
    else if (event.type === 'feature-removed') state.features.delete(event.featureName);
    else if (event.type === 'segment-updated') state.segments.set(event.segment.id, event.segment);
    else state.segments.delete(event.segmentId);
    state.revision = event.eventId;
    state.changes++;
  }
}

/**
 * An SDK that reconnects to any gateway, as often as it has to. It reports each response with an older revision, and each unneeded complete
 * state.
 */
function startClient(mode: Mode, { name, urls, secret, random, stopping, report }: ClientOptions) {
  const state: SdkState = { features: new Map(), segments: new Map(), revision: -1, changes: 0, interruptions: 0 };

  /** Reports an older revision, and a complete state that the SDK did not need. */
  const checkRevision = (revision: number, isComplete: boolean): void => {
    if (revision < state.revision) report(`${name} was taken back from revision ${state.revision} to ${revision}.`);
    if (isComplete && mode !== 'polling' && state.revision >= 0)
      report(`${name} had revision ${state.revision} and got everything again, with revision ${revision}.`);
  };
  const receive = ({ events }: ClientDelta): void => {
    for (const { type, eventId } of events) checkRevision(eventId, type === 'hydration');
    applyEvents(state, events);
  };
  /** Reports a client error. @returns whether the response has a body to apply */
  const isServed = (status: number): boolean => {
    if (status >= 400 && status < 500 && status !== 429) report(`${name} was answered ${status}.`);
    return status === 200;
  };

  let etag: string | undefined;
  const poll = async (): Promise<void> => {
    const path = mode === 'delta' ? '/api/client/delta' : '/api/client/features';
    const response = await fetch(`${random.pick(urls)}${path}`, {
      headers: {
        authorization: secret,
        'unleash-client-spec': clientSpec,
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
      signal: AbortSignal.any([stopping, AbortSignal.timeout(requestTimeoutMs)]),
    });
    const text = await response.text();
    if (response.status === 304 || !isServed(response.status)) return;
    if (mode === 'delta') receive(JSON.parse(text) as ClientDelta);
    else {
      const { features, segments = [], meta } = JSON.parse(text) as ClientFeatures;
      checkRevision(meta.revisionId, true);
      applyEvents(state, [{ type: 'hydration', eventId: meta.revisionId, features, segments }]);
    }
    etag = response.headers.get('etag') ?? undefined;
  };
  const stream = async (): Promise<void> => {
    const lastEventId: Record<string, string> = state.revision < 0 ? {} : { 'last-event-id': String(state.revision) };
    const eventStream = await openEventStream(
      `${random.pick(urls)}/api/client/streaming`,
      { authorization: secret, ...lastEventId },
      ({ data }) => receive(JSON.parse(data) as ClientDelta),
    );
    const close = (): void => eventStream.close();
    stopping.addEventListener('abort', close, { once: true });
    if (stopping.aborted || !isServed(eventStream.status)) close();
    const ended = eventStream.ended.then(() => true);
    for (let length = -1; length < eventStream.text().length;) {
      length = eventStream.text().length;
      if (await Promise.race([ended, sleep(silenceTimeoutMs, false, { ref: false })])) break;
    }
    close();
    stopping.removeEventListener('abort', close);
  };

  const running = (async () => {
    while (!stopping.aborted) {
      await (mode === 'streaming' ? stream() : poll()).catch(() => undefined);
      if (mode === 'streaming') state.interruptions++;
      await sleep(pollIntervalMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  })();
  return { name, state, running };
}

/** Starts SDKs in every mode, whose states are later compared with the database. */
export async function startSdkClients(cluster: Pick<Cluster, 'urls' | 'token' | 'postgres'>, random: SeededRandom) {
  const { urls, token, postgres } = cluster;
  const created = await fetch(`${urls[0]}/api/admin/api-tokens`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ tokenName: 'torture', type: 'client', environment, projects: ['*'] }),
  });
  const { secret } = (await created.json()) as ApiToken;
  const violations: string[] = [];
  const stopping = new AbortController();
  const clients = modes.map((mode, nth) => {
    const name = `SDK ${nth + 1} (${mode})`;
    const report = (violation: string): void => void violations.push(violation);
    return startClient(mode, {
      name,
      urls,
      secret,
      report,
      stopping: stopping.signal,
      random: random.derive(name),
    });
  });

  /** @throws Error if the state of an SDK differs from that of the database */
  const requireCurrent = async (): Promise<void> => {
    const scope = { environment, inlineSegments: false };
    const { features, segments = [] } = await featuresOfDatabase(
      postgres.urlOf(databaseSettingOf('features').database),
      scope,
    );
    for (const { name, state } of clients) {
      const differing = [...new Set([...state.features.keys(), ...features.map((feature) => feature.name)])].filter(
        (feature) =>
          !isDeepStrictEqual(
            state.features.get(feature),
            features.find((one) => one.name === feature),
          ),
      );
      if (differing.length > 0)
        throw new Error(
          `${name} at revision ${state.revision} does not hold what the database says of ${differing[0]}.`,
        );
      if (!isDeepStrictEqual(byName(state.features.values()), byName(features))) throw new Error(`${name} differs.`);
      const missing = segments.find((segment) => !isDeepStrictEqual(state.segments.get(segment.id), segment));
      if (missing !== undefined)
        throw new Error(`${name} does not hold what the database says of segment ${missing.id}.`);
    }
  };

  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all(clients.map(({ running }) => running));
  };
  let stopped: Promise<void> | undefined;

  return {
    violations,
    /** the numbers of changes and reconnects of each SDK, for the log */
    summary: (): string =>
      clients
        .map(({ name, state }) => `${name}: ${state.changes} changes, ${state.interruptions} reconnects`)
        .join('; '),
    /** Waits until the state of each SDK equals that of the database. @throws Error after a minute */
    awaitCurrent: (): Promise<void> => eventually(requireCurrent, { timeoutMs: settleTimeoutMs }),
    stop: (): Promise<void> => (stopped ??= stop()),
  };
}
export type SdkClients = Awaited<ReturnType<typeof startSdkClients>>;
