import type { EdgeReport } from '@bunting/contracts';
import { formatCount } from '../../../text/format-number.ts';

/** An edge reports each minute: without so many reports in a row it has ended, or is cut off. */
const silentAfterMs = 5 * 60_000;

/** Whether the last report of an edge is so old that it has ended, or is cut off. */
export function isSilent(reportedAt: string, now: number): boolean {
  return now - Date.parse(reportedAt) > silentAfterMs;
}

/** A duration in the unit that a reader counts it in: `12 seconds`, `3 hours`. */
export function staleText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  if (seconds < 120) return formatCount(seconds, 'second');
  if (seconds < 7_200) return formatCount(Math.round(seconds / 60), 'minute');
  return formatCount(Math.round(seconds / 3_600), 'hour');
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** What the list of edges shows of a report; whatever a report has instead of a number counts nothing. */
export function edgeFigures(edge: EdgeReport): {
  readonly streams: number;
  /** of SDKs, since the report before */
  readonly requests: number;
  /** the average milliseconds of an answer with features; undefined where there was none */
  readonly latencyMs: number | undefined;
  /** answers of the origin, and responses to SDKs, that went wrong since the report before */
  readonly errors: number;
} {
  const byPath = edge['requestsSinceLastReport'];
  const requests = typeof byPath === 'object' && byPath !== null ? Object.values(byPath) : [];
  const features = memberOf(edge['latencyUpstream'], 'features');
  const { upstream = 0, responses = 0 } = edge.errorsSinceLastReport ?? {};
  return {
    streams: edge.connectedStreamingClients ?? 0,
    requests: requests.reduce<number>(
      (sum, counts) => sum + numberOf(memberOf(counts, 'requests200')) + numberOf(memberOf(counts, 'requests304')),
      0,
    ),
    latencyMs: numberOf(memberOf(features, 'count')) > 0 ? numberOf(memberOf(features, 'avg')) : undefined,
    errors: upstream + responses,
  };
}
