import type { SpanCounts } from './open-telemetry.ts';
import { setStartSpan } from './spans.ts';

/** The samplers of OpenTelemetry, by their names in `OTEL_TRACES_SAMPLER`. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplerNames)[number];

export interface TracingOptions {
  /** where spans are sent by OTLP over HTTP, as protobuf */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** milliseconds that one export may take, with its retries */
  readonly timeoutMs: number;
  readonly compression: 'none' | 'gzip';
  /** PEM text of the certificates that the collector is verified with */
  readonly certificate?: string | undefined;
  /** maximum spans that wait for their export; further ones are dropped */
  readonly maxQueued: number;
  /** milliseconds between two exports */
  readonly delayMs: number;
  readonly sampler: SamplerName;
  /** the share of traces that a sampler by ratio records, from 0 to 1 */
  readonly ratio: number;
  readonly resource: Readonly<Record<string, string>>;
  readonly warn: (message: string) => void;
}

export interface Tracing {
  readonly counts: () => SpanCounts;
  /** Exports the buffered spans, and ends the export. */
  readonly stop: () => Promise<void>;
}

let isRunning = false;

/** Loads the SDK and starts the export of this process's spans. A process exports to one collector. */
export async function startTracing({ warn, ...options }: TracingOptions): Promise<Tracing> {
  if (isRunning) throw new Error('This process exports its spans already: host the services together.');
  let isFailing = false;
  const onOutcome = (error: Error | undefined): void => {
    if (error === undefined) {
      if (isFailing) warn('Tracing: the collector takes spans again.');
      isFailing = false;
    } else if (!isFailing) {
      isFailing = true;
      const { origin } = new URL(options.url);
      const { code, message } = error as NodeJS.ErrnoException;
      warn(
        `Tracing: the collector at ${origin} did not take spans (${code ?? message}). Requests are not affected; spans are dropped beyond ` +
          `${options.maxQueued} and counted in bunting_trace_spans_dropped_total. Start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT.`,
      );
    }
  };
  isRunning = true;
  try {
    const { startOpenTelemetry } = await import('./open-telemetry.ts');
    const { start, counts, stop } = startOpenTelemetry(options, onOutcome);
    setStartSpan(start);
    return {
      counts,
      stop: async () => {
        setStartSpan(undefined);
        isRunning = false;
        await stop().catch(() => undefined);
      },
    };
  } catch (error) {
    isRunning = false;
    throw error;
  }
}
