import type { MetricsBody, RegisterApplicationBody } from '@bunting/contracts';
import { type Log, startLoop } from '@bunting/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Files } from '../snapshots/checked-files.ts';
import type { OriginClient } from '../upstream/origin-client.ts';
import { OriginError } from '../upstream/origin-error.ts';
import { BatchSender, hourMs } from './batch-sender.ts';
import { ReportsOnDisk } from './reports-on-disk.ts';
import { type Batch, WaitingReports } from './waiting-reports.ts';

export interface ReportOptions {
  /** where reports survive a restart; undefined: in memory alone */
  readonly folder: string | undefined;
  /** the most bytes of reports, about, in memory and again on the disk */
  readonly maxBytes: number;
  /** milliseconds between two batches to the origin */
  readonly sendIntervalMs: number;
  /** milliseconds of nothing but refusals after which the reports of a token are dropped */
  readonly refusedAfterMs?: number;
  /** milliseconds between two writes to the disk */
  readonly saveIntervalMs?: number;
  /** milliseconds that `close` tries to send for */
  readonly closeSendMs?: number;
  readonly client: Pick<OriginClient, 'post'>;
  readonly log: Log;
  readonly metrics: Registry;
  /** the file system, for tests */
  readonly files?: Files;
}

/** The bytes of the reports of a request: Unleash takes bodies of 100 KiB. */
const maxBatchBytes = 95 * 1024;
/** A token is refused for good only after so many answers in a row: the origin may know it again. */
const maxRefusals = 3;

function hourOf(time: string | number): string {
  const ms = new Date(time).getTime();
  return new Date(Math.floor((Number.isNaN(ms) ? Date.now() : ms) / hourMs) * hourMs).toISOString();
}

/** Whether the origin has understood a batch, and will never take it. */
function isRejected({ status }: OriginError): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![403, 404, 405, 408, 425, 429].includes(status);
}

/** Whether an origin that has answered so would answer the reports of another token no better now. */
function isAway({ fault, retryAfterMs }: OriginError): boolean {
  return fault === 'unreachable' || retryAfterMs !== undefined;
}

/**
 * What applications report: metrics are summed by token, application, environment, feature and hour, registrations are kept once, and both
 * are sent in batches. While the origin is away they wait, in memory and on the disk. What was sent while the connection broke is sent
 * again: the origin gets each report at least once. Reports of the last seconds are lost if the process is killed.
 */
export function openReports(options: ReportOptions) {
  const { folder, maxBytes, sendIntervalMs, client, log, metrics, files } = options;
  const { saveIntervalMs = 10_000, refusedAfterMs = hourMs, closeSendMs = 5_000 } = options;
  const registers = [metrics];
  const dropped = new Counter({
    name: 'bunting_edge_reports_dropped_total',
    help: 'metrics and registrations that never reach the origin: full (no space), limit (too many or too long names), refused (its token), rejected (by the origin)',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['full', 'limit', 'refused', 'rejected']) dropped.inc({ reason }, 0);
  const sent = new Counter({
    name: 'bunting_edge_reports_sent_total',
    help: 'metrics and registrations that the origin has taken',
    registers,
  });
  /** by token: since when, and how often in a row, the origin has refused its reports */
  const refusals = new Map<string, { readonly since: number; readonly count: number }>();
  const closing = new AbortController();
  const sender = new BatchSender({ client, signal: closing.signal, intervalMs: sendIntervalMs });
  let underWay: Batch | undefined;
  let isChanged = false;
  let isSaved = true;
  const waiting = new WaitingReports({
    maxBytes,
    onChange: () => {
      isChanged = true;
    },
    onDropped: (reason, reports) => dropped.inc({ reason }, reports),
  });
  const pendingCount = (): number =>
    waiting.size + (underWay === undefined ? 0 : underWay.metrics.length + underWay.applications.length);
  new Gauge({
    name: 'bunting_edge_reports_pending',
    help: 'metrics and registrations that wait for the origin',
    registers,
    collect() {
      this.set(pendingCount());
    },
  });

  const disk =
    folder === undefined ? undefined : new ReportsOnDisk({ folder, maxBytes: 4 * maxBytes + 1024 * 1024, files, log });

  const save = async (): Promise<void> => {
    if (disk === undefined || !isChanged) return;
    isChanged = false;
    try {
      await disk.write([...(underWay === undefined ? [] : [underWay]), ...waiting.toStore()]);
      isSaved = true;
    } catch (error) {
      isChanged = true;
      isSaved = false;
      throw error;
    }
  };

  const saving = startLoop({
    name: 'Keeping reports on the disk',
    intervalMs: saveIntervalMs,
    log,
    run: async () => {
      if (disk !== undefined && !isChanged && pendingCount() > 0 && !(await disk.touch())) isChanged = true;
      await save();
      await disk?.adopt((batches) => {
        for (const batch of batches) waiting.addBatch(batch);
        isChanged = true;
      });
      await save();
    },
  });

  const reasonToDrop = (token: string, error: OriginError): 'refused' | 'rejected' | undefined => {
    if (error.fault !== 'refused') return isRejected(error) ? 'rejected' : undefined;
    const { since, count } = refusals.get(token) ?? { since: Date.now(), count: 0 };
    refusals.set(token, { since, count: count + 1 });
    if (count + 1 >= maxRefusals && Date.now() - since >= refusedAfterMs) return 'refused';
    if (count === 0) log.warn(`The origin refuses the reports of a token: ${error.message}. They wait for an hour.`);
    return undefined;
  };
  /** Sends all reports of a token. @throws OriginError where some are left, to be sent again */
  const sendOf = async (token: string): Promise<void> => {
    let limit = maxBatchBytes;
    for (;;) {
      // What is counted while a batch is under way is a report of its own.
      const batch = waiting.takeBatch(token, limit);
      if (batch === undefined) break;
      const size = batch.metrics.length + batch.applications.length;
      underWay = batch;
      isChanged = true;
      try {
        await sender.send(batch);
        underWay = undefined;
        refusals.delete(token);
        sent.inc(size);
      } catch (error) {
        underWay = undefined;
        if (error instanceof OriginError && error.status === 413 && size > 1) {
          // Only a report that is too long alone is lost.
          limit = Math.floor(batch.bytes / 2);
          waiting.addBatch(batch);
          continue;
        }
        const reason = error instanceof OriginError ? reasonToDrop(token, error) : undefined;
        if (reason === undefined) {
          waiting.addBatch(batch);
          throw error;
        }
        dropped.inc({ reason }, size);
        log.warn(`The origin does not take ${size} reports: ${(error as Error).message}. They are dropped.`);
      }
    }
    refusals.delete(token);
  };
  /** Sends the reports of every token: what becomes of those of one does not keep those of others. */
  const sendAll = async (): Promise<void> => {
    let failure: unknown;
    for (const token of waiting.tokens())
      try {
        await sendOf(token);
      } catch (error) {
        // The next round begins with the others.
        waiting.putLast(token);
        if (error instanceof OriginError && error.fault === 'refused') continue;
        failure ??= error;
        if (!(error instanceof OriginError) || isAway(error)) break;
      }
    if (failure !== undefined) throw failure;
  };
  const sending = startLoop({
    name: 'Reporting to the origin',
    intervalMs: sendIntervalMs,
    firstAfterMs: sendIntervalMs * Math.random(),
    maxBackoffMs: Math.max(sendIntervalMs, 5_000),
    retryAfterMs: (error) => (error instanceof OriginError ? error.retryAfterMs : undefined),
    log,
    run: async () => {
      await sendAll();
      await save().catch(() => undefined);
    },
  });

  return {
    /**
     * Adds counts of evaluations. Where there is no space, the oldest are dropped, and counted as such; so are names beyond 255 characters,
     * 200 variants of a feature, and 10,000 features of an application in an hour. A report without counts says that the application runs.
     */
    addMetrics: (token: string, body: MetricsBody): void => {
      const { appName, instanceId, environment = 'default', sdkVersion, bucket } = body;
      const timestamp = hourOf(bucket.start);
      const counts = Object.entries(bucket.toggles);
      if (counts.length === 0)
        waiting.addApplication(token, {
          appName,
          environment,
          ...(instanceId === undefined ? {} : { instanceId }),
          ...(sdkVersion === undefined ? {} : { sdkVersion }),
        });
      for (const [featureName, { yes = 0, no = 0, variants = {} }] of counts)
        waiting.addCount(token, {
          featureName,
          appName,
          environment,
          timestamp,
          yes,
          no,
          variants,
          ...(sdkVersion === undefined ? {} : { sdkVersion }),
        });
    },
    /** Adds the registration of an instance of an application; a later one of the same instance replaces it. */
    addRegistration: (token: string, registration: RegisterApplicationBody): void => {
      const { appName, instanceId, environment, sdkVersion, strategies, started, interval } = registration;
      waiting.addApplication(token, {
        appName,
        started,
        interval,
        ...(instanceId === undefined ? {} : { instanceId }),
        ...(environment === undefined ? {} : { environment }),
        ...(sdkVersion === undefined ? {} : { sdkVersion }),
        strategies,
      });
    },
    /** Sends what is pending now, unless the origin is away. */
    send: (): void => sending.wake(),
    /** what waits for the origin, and whether the disk has it as of the last write */
    pending: () => ({ reports: pendingCount(), bytes: waiting.bytes, isSaved }),
    /** Sends what is pending once more, for five seconds at most, and leaves on the disk what the origin does not take. */
    close: async (): Promise<void> => {
      const stopped = Promise.all([saving.stop(), sending.stop()]);
      // The process may be killed before the origin has answered.
      isChanged = true;
      await save().catch(() => undefined);
      const limit = setTimeout(() => closing.abort(), closeSendMs);
      await stopped;
      await sendAll().catch(() => undefined);
      clearTimeout(limit);
      isChanged = true;
      await save().catch(() => undefined);
      if (pendingCount() > 0) await disk?.release();
    },
  };
}
export type Reports = ReturnType<typeof openReports>;
