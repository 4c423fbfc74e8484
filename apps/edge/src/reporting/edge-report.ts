import { type EdgeInstanceBody, type EdgeReport, type EdgeRevision, keptEdgeReport } from '@bunting/contracts';
import { buntingVersion, type Log, startLoop } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import type { Registry } from 'prom-client';
import type { OriginClient } from '../upstream/origin-client.ts';
import { OriginError } from '../upstream/origin-error.ts';
import { type HistogramSample, latenciesOf, type Latency } from './latencies.ts';

export interface EdgeReportOptions {
  readonly client: Pick<OriginClient, 'post'>;
  /** of the process, unlike those of all others */
  readonly identifier: string;
  readonly appName: string;
  readonly region: string | undefined;
  /** milliseconds between two reports */
  readonly intervalMs: number;
  /** the client tokens that a report may be sent with, the best first */
  readonly tokens: () => readonly string[];
  /** what the edge serves, and for how many milliseconds it was not confirmed */
  readonly scopes: () => readonly {
    readonly environment: string;
    readonly projects: readonly string[];
    readonly revision: number | null;
    readonly fetchedAt: string | null;
    readonly staleMs: number | null;
  }[];
  readonly metrics: Registry;
  readonly log: Log;
}

/** An edge that has not reported for so long is not behind this one any more. */
const connectedForMs = 5 * 60_000;
const maxConnected = 100;
/** Milliseconds between two reports to an origin that has no place for them, as Unleash Open Source. */
const unsupportedPauseMs = 60 * 60_000;
const maxTokensTried = 3;

/** The paths that SDKs ask. */
function isSdkRoute(route: unknown): route is string {
  return typeof route === 'string' && /^\/(?:api\/(?:client|frontend)|ofrep)(?:\/|$)/.test(route);
}

const noLatency: Latency = { avg: 0, count: 0, p99: 0 };

function trafficOf(samples: readonly HistogramSample[]) {
  const ofKind = (isOfKind: (status: string, method: string) => boolean) =>
    Object.fromEntries(
      latenciesOf(samples, ({ route, status, method }) =>
        isSdkRoute(route) && isOfKind(String(status), String(method)) ? route : undefined,
      ),
    );
  const isDone = (status: string): boolean => /^20\d$/.test(status);
  return {
    get: ofKind((status, method) => method === 'GET' && isDone(status)),
    post: ofKind((status, method) => method === 'POST' && isDone(status)),
    cachedResponses: ofKind((status) => status === '304'),
    accessDenied: ofKind((status) => status === '401' || status === '403'),
  };
}

/** The numbers of requests of SDKs so far, and of failures on both sides. */
function countsOf(http: readonly HistogramSample[], answers: readonly HistogramSample[]) {
  const requests = new Map<string, { requests200: number; requests304: number }>();
  let responses = 0;
  for (const { metricName = '', labels, value } of http) {
    const { route, status } = labels;
    if (!metricName.endsWith('_count') || !isSdkRoute(route)) continue;
    if (Number(status) >= 500) responses += value;
    const counts = requests.get(route) ?? { requests200: 0, requests304: 0 };
    requests.set(route, counts);
    if (/^20\d$/.test(String(status))) counts.requests200 += value;
    if (String(status) === '304') counts.requests304 += value;
  }
  const upstream = answers
    .filter(({ labels: { outcome } }) => ['unreachable', 'failing', 'unusable', 'refused'].includes(String(outcome)))
    .reduce((sum, { value }) => sum + value, 0);
  return { requests, errors: { upstream, responses } };
}
type EdgeCounts = ReturnType<typeof countsOf>;

function countsSince(before: EdgeCounts | undefined, now: EdgeCounts) {
  const requests = [...now.requests].map(([route, { requests200, requests304 }]) => {
    const last = before?.requests.get(route) ?? { requests200: 0, requests304: 0 };
    return [
      route,
      { requests200: requests200 - last.requests200, requests304: requests304 - last.requests304 },
    ] as const;
  });
  return {
    requestsSinceLastReport: Object.fromEntries(
      requests.filter(([, { requests200, requests304 }]) => requests200 + requests304 > 0),
    ),
    errorsSinceLastReport: {
      upstream: now.errors.upstream - (before?.errors.upstream ?? 0),
      responses: now.errors.responses - (before?.errors.responses ?? 0),
    },
  };
}

/**
 * Tells the origin every minute how this edge is, and passes on what the edges behind it tell. A report that does not arrive is not sent
 * again: the next one says more.
 */
export function startEdgeReports(options: EdgeReportOptions) {
  const { client, identifier, appName, region, intervalMs, metrics, log } = options;
  const started = new Date().toISOString();
  const connected = new LRUCache<string, EdgeReport>({
    max: maxConnected,
    ttl: connectedForMs,
  });
  const closing = new AbortController();
  let reported: EdgeCounts | undefined;

  const samplesOf = async (name: string): Promise<readonly HistogramSample[]> =>
    (await metrics.getSingleMetric(name)?.get())?.values ?? [];
  const revisions = (): readonly EdgeRevision[] =>
    options.scopes().flatMap(({ environment, projects, revision, fetchedAt }) =>
      revision === null
        ? []
        : [
            {
              environment,
              projects,
              revisionId: revision,
              ...(fetchedAt === null ? {} : { lastUpdated: fetchedAt }),
            },
          ],
    );

  const reportAt = async (counts: EdgeCounts, http: readonly HistogramSample[]): Promise<EdgeReport> => {
    const upstream = latenciesOf(await samplesOf('bunting_edge_upstream_answer_seconds'), ({ kind }) => String(kind));
    const streams = await samplesOf('bunting_sdk_streams');
    const { user, system } = process.cpuUsage();
    return {
      identifier,
      appName,
      region: region ?? null,
      edgeVersion: buntingVersion(),
      started,
      processMetrics: { cpuUsage: (user + system) / 1_000_000, memoryUsage: process.memoryUsage.rss() },
      traffic: trafficOf(http),
      latencyUpstream: {
        features: upstream.get('features') ?? noLatency,
        metrics: upstream.get('metrics') ?? noLatency,
        edge: upstream.get('edge') ?? noLatency,
      },
      ...countsSince(reported, counts),
      connectedStreamingClients: streams.reduce((sum, { value }) => sum + value, 0),
      connectedEdges: [...connected.values()],
      edgeApiKeyRevisionIds: revisions(),
      staleMs: Math.round(Math.max(0, ...options.scopes().map(({ staleMs }) => staleMs ?? 0))),
    };
  };

  const send = async (json: EdgeReport): Promise<void> => {
    const tokens = options.tokens().slice(0, maxTokensTried);
    for (const [nth, token] of tokens.entries())
      try {
        await client.post({ path: '/api/client/metrics/edge', token, json, signal: closing.signal });
        return;
      } catch (error) {
        const isRefused = error instanceof OriginError && error.fault === 'refused';
        if (!isRefused || nth === tokens.length - 1) throw error;
      }
  };

  const loop = startLoop({
    name: 'Telling the origin how this edge is',
    intervalMs,
    firstAfterMs: Math.min(intervalMs, 5_000) * (0.5 + Math.random() / 2),
    maxBackoffMs: Math.max(intervalMs, 5_000),
    retryAfterMs: (error) => (error instanceof OriginError ? error.retryAfterMs : undefined),
    log,
    run: async () => {
      if (options.tokens().length === 0) return intervalMs;
      const http = await samplesOf('http_request_duration_seconds');
      const counts = countsOf(http, await samplesOf('bunting_edge_upstream_answers_total'));
      try {
        // An origin keeps no more of it.
        await send(keptEdgeReport(await reportAt(counts, http)));
      } catch (error) {
        if (error instanceof OriginError && error.fault === 'unsupported') return unsupportedPauseMs;
        throw error;
      }
      reported = counts;
      return intervalMs;
    },
  });

  return {
    /** Takes the report of an edge behind this one; it is passed on with the next of this one. */
    addConnected: (report: EdgeInstanceBody): void => {
      // One that reaches itself would grow with each round.
      if (report.identifier !== identifier) connected.set(report.identifier, keptEdgeReport(report));
    },
    close: async (): Promise<void> => {
      closing.abort();
      await loop.stop();
    },
  };
}
export type EdgeReports = ReturnType<typeof startEdgeReports>;
