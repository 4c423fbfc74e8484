import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ServiceContext } from '@bunting/runtime';
import type { EdgeConfig } from './config.ts';
import type { Following } from './downstream/scopes.ts';
import type { EdgeToken } from './downstream/token.ts';
import type { OriginState } from './origin-state.ts';
import { type EdgeReportOptions, type EdgeReports, startEdgeReports } from './reporting/edge-report.ts';
import { openReports, type Reports } from './reporting/reports.ts';
import type { EdgeLists } from './segment-lists/edge-lists.ts';
import { openSnapshots, type Snapshots } from './snapshots/snapshots.ts';
import { defaultFollowSettings, followOrigin } from './upstream/follow-origin.ts';
import type { Mode } from './upstream/usable-modes.ts';
import { defaultUpstreamSettings, originClient, type OriginRequest } from './upstream/origin-client.ts';
import { upstreamMetrics } from './upstream/upstream-metrics.ts';
import { validateTokens } from './upstream/validate-tokens.ts';

/** The origin of an edge, as its settings describe it. */
export interface Origin {
  readonly validate: (
    tokens: readonly string[],
    within?: Pick<OriginRequest, 'signal'>,
  ) => Promise<readonly EdgeToken[]>;
  readonly follow: (
    token: EdgeToken,
    on: {
      /** the state that is served already */
      readonly held: OriginState | undefined;
      /** the least `historyFrom` of the states */
      readonly historyFrom: number;
      readonly state: (state: OriginState) => void;
      readonly refused: () => void;
    },
  ) => Following;
  readonly reports: Reports;
  /** Begins to tell the origin how this edge is. */
  readonly startEdgeReports: (of: Pick<EdgeReportOptions, 'tokens' | 'scopes'>) => EdgeReports;
  /** undefined without BACKUP_FOLDER */
  readonly snapshots: Snapshots | undefined;
}

/** Milliseconds that the last reports may take when the edge stops; what the origin has not taken by then stays on the disk. */
const reportsStopLimitMs = 10_000;
/** Without a stream, a state that was not confirmed for so many intervals is stale. */
const staleIntervals = 3;

async function certificatesOf({ UPSTREAM_CERTIFICATE_FILE: file }: EdgeConfig): Promise<{ readonly ca?: string }> {
  if (file === undefined) return {};
  try {
    return { ca: await readFile(file, 'utf8') };
  } catch (error) {
    throw new Error(`The file that UPSTREAM_CERTIFICATE_FILE names cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Prepares the requests to the origin, without sending any. @throws Error that names the setting that is wrong */
export async function connectOrigin(
  config: EdgeConfig,
  { log, metrics, onStop }: Pick<ServiceContext<typeof EdgeConfig>, 'log' | 'metrics' | 'onStop'>,
  lists: EdgeLists,
): Promise<Origin> {
  const { UPSTREAM_URL = '', STREAMING, DELTA } = config;
  const refreshMs = config.FEATURES_REFRESH_INTERVAL_SECONDS * 1_000;
  const counts = upstreamMetrics(metrics);
  const client = originClient({
    took: counts.took,
    origin: new URL(UPSTREAM_URL),
    tokenHeader: config.TOKEN_HEADER,
    settings: {
      ...defaultUpstreamSettings,
      headTimeoutMs: config.UPSTREAM_REQUEST_TIMEOUT * 1_000,
      answerTimeoutMs: config.UPSTREAM_ANSWER_TIMEOUT_SECONDS * 1_000,
      maxBytes: config.UPSTREAM_MAX_ANSWER_MIB * 1024 * 1024,
      tls: await certificatesOf(config),
    },
  });
  onStop('requests to the origin', () => client.close());
  const instanceId = `${hostname()}-${randomUUID().slice(0, 8)}`;
  const folder = config.BACKUP_FOLDER;
  const snapshots = folder === undefined ? undefined : openSnapshots({ folder, lists, log, metrics });
  if (snapshots !== undefined) onStop('snapshots', () => snapshots.close());
  const reports = openReports({
    folder,
    maxBytes: config.BACKUP_MAX_METRICS_MIB * 1024 * 1024,
    sendIntervalMs: config.METRICS_INTERVAL_SECONDS * 1_000,
    client,
    log,
    metrics,
  });
  onStop('reports', () => reports.close(), reportsStopLimitMs);
  const modes = new Set<Mode>([
    'polling',
    ...(STREAMING ? (['streaming'] as const) : []),
    ...(DELTA ? (['delta'] as const) : []),
  ]);

  return {
    validate: (tokens, within) => validateTokens(client, tokens, within),
    follow: (token, { held, historyFrom, state, refused }) => {
      const startedAt = held?.fetchedAt.getTime() ?? Date.now();
      const following = followOrigin({
        client,
        token: token.token,
        held,
        historyFrom,
        appName: config.APP_NAME,
        instanceId,
        settings: { ...defaultFollowSettings, modes, refreshMs },
        lists: lists.claim(),
        onState: state,
        onRefused: refused,
        log,
        metrics: counts,
      });
      return {
        mode: following.mode,
        behindMs: () => {
          const { mode, confirmedAt, originStaleMs, failure, isLoadingLists } = following.status();
          const ageMs = Math.max(1, Date.now() - (confirmedAt?.getTime() ?? startedAt));
          const isConfirmed =
            confirmedAt !== undefined &&
            failure === undefined &&
            !isLoadingLists &&
            originStaleMs === 0 &&
            (mode === 'streaming' || ageMs <= staleIntervals * refreshMs);
          return isConfirmed ? 0 : ageMs + originStaleMs;
        },
        close: following.close,
      };
    },
    reports,
    startEdgeReports: (of) => {
      const edgeReports = startEdgeReports({
        ...of,
        client,
        identifier: instanceId,
        appName: config.APP_NAME,
        region: config.REGION ?? config.AWS_REGION,
        intervalMs: config.METRICS_INTERVAL_SECONDS * 1_000,
        metrics,
        log,
      });
      onStop('reports of this edge', () => edgeReports.close());
      return edgeReports;
    },
    snapshots,
  };
}
