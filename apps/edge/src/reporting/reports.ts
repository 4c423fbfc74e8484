import { randomUUID } from 'node:crypto';
import { type BulkMetricsBody, type MetricsBody, Refusal, type RegisterApplicationBody } from '@bunting/contracts';
import { type Log, startLoop } from '@bunting/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import { checkedFiles, type Files, reasonOf } from '../snapshots/checked-files.ts';
import type { OriginClient } from '../upstream/origin-client.ts';
import { OriginError } from '../upstream/origin-error.ts';

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
  readonly client: Pick<OriginClient, 'post'>;
  readonly log: Log;
  readonly metrics: Registry;
  /** the file system, for tests */
  readonly files?: Files;
}

type Counts = BulkMetricsBody['metrics'][number];
type Application = BulkMetricsBody['applications'][number];
/** What is reported with one token; the keys tell what is summed. */
interface TokenReports {
  readonly counts: Map<string, Counts>;
  readonly applications: Map<string, Application>;
}
interface StoredBatch {
  readonly token: string;
  readonly metrics: readonly Counts[];
  readonly applications: readonly Application[];
}
interface Batch extends StoredBatch {
  readonly bytes: number;
}

const format = 'bunting-reports';
const hourMs = 60 * 60_000;
/** What a map and its keys take besides the text of an entry. */
const overheadBytes = 200;
/** The bytes of the reports of a request: Unleash takes bodies of 100 KiB. */
const maxBatchBytes = 95 * 1024;
/** A token is refused for good only after so many answers in a row: the origin may know it again. */
const maxRefusals = 3;
/** The file of a process that has not written it for so long is that of one that has ended. */
const abandonedAfterMs = 2 * 60_000;

/** The bytes of an entry in a list in JSON. */
function lengthOf(entry: object): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1;
}
function sizeOf(entry: object): number {
  return lengthOf(entry) + overheadBytes;
}

function hourOf(time: string | number): string {
  const ms = new Date(time).getTime();
  return new Date(Math.floor((Number.isNaN(ms) ? Date.now() : ms) / hourMs) * hourMs).toISOString();
}

function addCounts(one: Counts, other: Counts): Counts {
  // Without a prototype, so that a variant may have any name.
  const variants = Object.assign(Object.create(null) as Record<string, number>, one.variants);
  for (const [name, count] of Object.entries(other.variants ?? {})) variants[name] = (variants[name] ?? 0) + count;
  return { ...one, yes: (one.yes ?? 0) + (other.yes ?? 0), no: (one.no ?? 0) + (other.no ?? 0), variants };
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
  const { saveIntervalMs = 10_000, refusedAfterMs = hourMs } = options;
  const registers = [metrics];
  const dropped = new Counter({
    name: 'bunting_edge_reports_dropped_total',
    help: 'metrics and registrations that never reach the origin: full (no space), refused (its token), rejected (by the origin)',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['full', 'refused', 'rejected']) dropped.inc({ reason }, 0);
  const sent = new Counter({
    name: 'bunting_edge_reports_sent_total',
    help: 'metrics and registrations that the origin has taken',
    registers,
  });
  const byToken = new Map<string, TokenReports>();
  /** by token: since when, and how often in a row, the origin has refused its reports */
  const refusals = new Map<string, { readonly since: number; readonly count: number }>();
  let underWay: Batch | undefined;
  let bytes = 0;
  let isChanged = false;
  let isSaved = true;
  let hasBulk = true;
  const pendingCount = (): number => {
    let count = (underWay?.metrics.length ?? 0) + (underWay?.applications.length ?? 0);
    for (const { counts, applications } of byToken.values()) count += counts.size + applications.size;
    return count;
  };
  new Gauge({
    name: 'bunting_edge_reports_pending',
    help: 'metrics and registrations that wait for the origin',
    registers,
    collect() {
      this.set(pendingCount());
    },
  });

  const reportsOf = (token: string): TokenReports => {
    const known = byToken.get(token);
    if (known !== undefined) return known;
    const reports: TokenReports = { counts: new Map(), applications: new Map() };
    byToken.set(token, reports);
    return reports;
  };
  /** Drops what has waited longest until there is space. */
  const makeSpace = (needed: number): void => {
    for (const { counts, applications } of byToken.values())
      for (const map of [counts, applications])
        for (const [key, entry] of map) {
          if (bytes + needed <= maxBytes) return;
          map.delete(key);
          bytes -= sizeOf(entry);
          dropped.inc({ reason: 'full' });
        }
  };
  const put = <T extends object>(map: Map<string, T>, key: string, entry: T): void => {
    const before = map.get(key);
    if (before !== undefined) bytes -= sizeOf(before);
    map.delete(key);
    const size = sizeOf(entry);
    makeSpace(size);
    if (bytes + size > maxBytes) return dropped.inc({ reason: 'full' });
    map.set(key, entry);
    bytes += size;
    isChanged = true;
  };
  /** Takes what has waited longest, as much as fits into a request, and at least one report. */
  const takeBatch = (token: string, { counts, applications }: TokenReports, limit: number): Batch => {
    let length = 0;
    const takeFrom = <T extends object>(map: Map<string, T>): readonly T[] => {
      const taken: T[] = [];
      for (const [key, entry] of map) {
        if (length > 0 && length + lengthOf(entry) > limit) break;
        length += lengthOf(entry);
        map.delete(key);
        bytes -= sizeOf(entry);
        taken.push(entry);
      }
      return taken;
    };
    return { token, applications: takeFrom(applications), metrics: takeFrom(counts), bytes: length };
  };
  const addCount = (token: string, counts: Counts): void => {
    const { counts: map } = reportsOf(token);
    const key = JSON.stringify([counts.appName, counts.environment, counts.featureName, counts.timestamp]);
    const before = map.get(key);
    put(map, key, before === undefined ? counts : addCounts(before, counts));
  };
  const addApplication = (token: string, application: Application): void => {
    const key = JSON.stringify([application.appName, application.instanceId, application.environment]);
    put(reportsOf(token).applications, key, application);
  };
  const addBatch = ({ token, metrics: counts, applications }: StoredBatch): void => {
    for (const count of counts) addCount(token, count);
    for (const application of applications) addApplication(token, application);
  };

  const store =
    folder === undefined
      ? undefined
      : checkedFiles(folder, { format, version: 1, maxBytes: 4 * maxBytes + 1024 * 1024 }, files);
  const name = `${randomUUID()}.${format}`;

  const save = async (): Promise<void> => {
    if (store === undefined || !isChanged) return;
    isChanged = false;
    const waiting = [...byToken].map(([token, { counts, applications }]) => ({
      token,
      metrics: [...counts.values()],
      applications: [...applications.values()],
    }));
    try {
      await store.prepare();
      if (pendingCount() === 0) await store.remove(name);
      else await store.write(name, underWay === undefined ? waiting : [underWay, ...waiting]);
      isSaved = true;
    } catch (error) {
      isChanged = true;
      isSaved = false;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Refusal(
        'ServiceUnavailable',
        `${folder ?? ''} cannot be written (${code ?? message}). Reports wait in memory`,
      );
    }
  };

  /** Takes over what processes have left that have ended. The rename decides which process gets a file. */
  const adopt = async (): Promise<void> => {
    if (store === undefined) return;
    const left = (await store.names().catch(() => [])).filter((file) => file !== name);
    for (const file of left) {
      if (Date.now() - (await store.modifiedAt(file).catch(() => Date.now())) < abandonedAfterMs) continue;
      const mine = `${randomUUID()}.${format}`;
      try {
        await store.rename(file, mine);
        for (const batch of (await store.read(mine)) as readonly StoredBatch[]) addBatch(batch);
        await save();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
        log.warn(`The reports ${file} in ${folder ?? ''}: it ${reasonOf(error)}. They are left out.`);
      }
      await store.remove(mine).catch(() => undefined);
    }
  };

  const saving = startLoop({
    name: 'Keeping reports on the disk',
    intervalMs: saveIntervalMs,
    log,
    run: async () => {
      await adopt();
      // A process that lives shows it by the age of its file.
      isChanged ||= pendingCount() > 0;
      await save();
    },
  });

  /** Sends a batch as an origin without bulk reports takes it. */
  const sendSingly = async ({ token, metrics: counts, applications }: Batch): Promise<void> => {
    const started = new Date().toISOString();
    for (const application of applications)
      await client.post({
        path: '/api/client/register',
        token,
        json: { strategies: [], started, interval: sendIntervalMs, ...application },
      });
    const groups = Map.groupBy(counts, ({ appName, environment, timestamp }) =>
      JSON.stringify([appName, environment, timestamp]),
    );
    for (const group of groups.values()) {
      const [{ appName, environment, timestamp }] = group as [Counts];
      const stop = new Date(new Date(timestamp).getTime() + hourMs).toISOString();
      const toggles = Object.fromEntries(
        group.map(({ featureName, yes, no, variants }) => [featureName, { yes, no, variants }]),
      );
      await client.post({
        path: '/api/client/metrics',
        token,
        json: { appName, instanceId: 'bunting-edge', environment, bucket: { start: timestamp, stop, toggles } },
      });
    }
  };
  const sendBatch = async (batch: Batch): Promise<void> => {
    if (!hasBulk) return sendSingly(batch);
    const { token, metrics: counts, applications } = batch;
    try {
      await client.post({ path: '/api/client/metrics/bulk', token, json: { applications, metrics: counts } });
    } catch (error) {
      if (!(error instanceof OriginError) || error.fault !== 'unsupported') throw error;
      await sendSingly(batch);
      hasBulk = false;
    }
  };
  const reasonToDrop = (token: string, error: OriginError): 'refused' | 'rejected' | undefined => {
    if (error.fault !== 'refused') return isRejected(error) ? 'rejected' : undefined;
    const { since, count } = refusals.get(token) ?? { since: Date.now(), count: 0 };
    refusals.set(token, { since, count: count + 1 });
    if (count + 1 >= maxRefusals && Date.now() - since >= refusedAfterMs) return 'refused';
    if (count === 0) log.warn(`The origin refuses the reports of a token: ${error.message}. They wait for an hour.`);
    return undefined;
  };
  /** Sends all reports of a token. @throws OriginError where some are left, to be sent again */
  const sendOf = async (token: string, { counts, applications }: TokenReports): Promise<void> => {
    let limit = maxBatchBytes;
    while (counts.size + applications.size > 0) {
      // What is counted while a batch is under way is a report of its own.
      const batch = takeBatch(token, { counts, applications }, limit);
      const size = batch.metrics.length + batch.applications.length;
      underWay = batch;
      isChanged = true;
      try {
        await sendBatch(batch);
        underWay = undefined;
        refusals.delete(token);
        sent.inc(size);
      } catch (error) {
        underWay = undefined;
        if (error instanceof OriginError && error.status === 413 && size > 1) {
          // Only a report that is too long alone is lost.
          limit = Math.floor(batch.bytes / 2);
          addBatch(batch);
          continue;
        }
        const reason = error instanceof OriginError ? reasonToDrop(token, error) : undefined;
        if (reason === undefined) {
          addBatch(batch);
          throw error;
        }
        dropped.inc({ reason }, size);
        log.warn(`The origin does not take ${size} reports: ${(error as Error).message}. They are dropped.`);
      }
    }
    byToken.delete(token);
    refusals.delete(token);
  };
  /** Sends the reports of every token: what becomes of those of one does not keep those of others. */
  const sendAll = async (): Promise<void> => {
    let failure: unknown;
    for (const [token, reports] of [...byToken])
      try {
        await sendOf(token, reports);
      } catch (error) {
        // The next round begins with the others.
        byToken.delete(token);
        byToken.set(token, reports);
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
    /** Adds counts of evaluations. Where there is no space, the oldest are dropped, and counted as such. */
    addMetrics: (token: string, { appName, environment = 'default', bucket }: MetricsBody): void => {
      const timestamp = hourOf(bucket.start);
      for (const [featureName, { yes = 0, no = 0, variants = {} }] of Object.entries(bucket.toggles))
        addCount(token, { featureName, appName, environment, timestamp, yes, no, variants });
    },
    /** Adds the registration of an instance of an application; a later one of the same instance replaces it. */
    addRegistration: (token: string, registration: RegisterApplicationBody): void => {
      const { appName, instanceId, environment, sdkVersion, strategies } = registration;
      addApplication(token, {
        appName,
        ...(instanceId === undefined ? {} : { instanceId }),
        ...(environment === undefined ? {} : { environment }),
        ...(sdkVersion === undefined ? {} : { sdkVersion }),
        strategies,
      });
    },
    /** Sends what is pending now, unless the origin is away. */
    send: (): void => sending.wake(),
    /** what waits for the origin, and whether the disk has it as of the last write */
    pending: () => ({ reports: pendingCount(), bytes, isSaved }),
    /** Sends what is pending once more, and leaves on the disk what the origin does not take. */
    close: async (): Promise<void> => {
      await Promise.all([saving.stop(), sending.stop()]);
      for (const [token, reports] of byToken) await sendOf(token, reports).catch(() => undefined);
      isChanged = true;
      await save().catch(() => undefined);
      // The next process takes it over without a wait.
      if (pendingCount() > 0) await store?.release(name).catch(() => undefined);
    },
  };
}
export type Reports = ReturnType<typeof openReports>;
