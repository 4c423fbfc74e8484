import type { OriginClient } from '../upstream/origin-client.ts';
import { OriginError } from '../upstream/origin-error.ts';
import type { Application, Batch, Counts } from './waiting-reports.ts';

/** The length of the buckets that counts are summed in, in milliseconds. */
export const hourMs = 60 * 60_000;

export interface BatchSenderOptions {
  readonly client: Pick<OriginClient, 'post'>;
  /** ends what is under way */
  readonly signal: AbortSignal;
  /** milliseconds between two batches, which an origin takes for the interval of the application */
  readonly intervalMs: number;
}

/** How long an origin without bulk reports is not asked for them again: it may have been upgraded, or a proxy have answered for it. */
const singlyForMs = hourMs;

/** Sends batches of reports to an origin: in one request each, or as SDKs do, where it takes no bulk reports. */
export class BatchSender {
  readonly #options: BatchSenderOptions;
  #singlyUntil = Number.NEGATIVE_INFINITY;

  constructor(options: BatchSenderOptions) {
    this.#options = options;
  }

  /** @throws OriginError where the origin has not taken all of it */
  async send(batch: Batch): Promise<void> {
    if (Date.now() < this.#singlyUntil) return this.#sendSingly(batch);
    const { token, metrics } = batch;
    const applications = batch.applications.map((application) => this.#completed(application));
    try {
      await this.#post('/api/client/metrics/bulk', token, { applications, metrics });
    } catch (error) {
      if (!(error instanceof OriginError) || error.fault !== 'unsupported') throw error;
      await this.#sendSingly(batch);
      this.#singlyUntil = Date.now() + singlyForMs;
    }
  }

  async #sendSingly({ token, metrics, applications }: Batch): Promise<void> {
    for (const application of applications)
      await this.#post('/api/client/register', token, this.#completed(application));
    const groups = Map.groupBy(metrics, ({ appName, environment, timestamp }) =>
      JSON.stringify([appName, environment, timestamp]),
    );
    for (const group of groups.values()) {
      const [{ appName, environment, timestamp }] = group as [Counts];
      const stop = new Date(new Date(timestamp).getTime() + hourMs).toISOString();
      const toggles = Object.fromEntries(
        group.map(({ featureName, yes, no, variants }) => [featureName, { yes, no, variants }]),
      );
      const body = { appName, instanceId: 'bunting-edge', environment, bucket: { start: timestamp, stop, toggles } };
      const sdkVersion = group.find((counts) => counts.sdkVersion !== undefined)?.sdkVersion;
      await this.#post('/api/client/metrics', token, { ...body, ...(sdkVersion !== undefined && { sdkVersion }) });
    }
  }

  /** A registration with what Unleash requires of each. */
  #completed(application: Application) {
    return { strategies: [], started: new Date().toISOString(), interval: this.#options.intervalMs, ...application };
  }

  async #post(path: string, token: string, json: unknown): Promise<void> {
    const { client, signal } = this.#options;
    await client.post({ path, token, signal, json });
  }
}
