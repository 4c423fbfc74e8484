import { ROOT_CONTEXT, SpanKind as OpenTelemetryKind, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SpanKind, StartSpan } from './spans.ts';
import type { SamplerName, TracingOptions } from './start-tracing.ts';

/** The counts of sampled spans that ended, by outcome of their export. */
export interface SpanCounts {
  readonly exported: number;
  /** not exported, because the queue was full or the collector did not accept them */
  readonly dropped: number;
  /** waiting, or being sent */
  readonly queued: number;
}

/**
 * Limits and counts the spans that wait for their export. While a collector is down or slow, spans beyond the limit are dropped, so that
 * memory does not grow and requests do not wait.
 * @param onOutcome called with the error of each failed export, and without one after each successful export
 */
function boundedExport(maxQueued: number, onOutcome: (error: Error | undefined) => void) {
  let exported = 0;
  let dropped = 0;
  let queued = 0;

  return {
    counts: (): SpanCounts => ({ exported, dropped, queued }),

    /** Wraps an exporter, and counts the spans that it has exported or failed to export. */
    exporter: (inner: SpanExporter): SpanExporter => ({
      export: (spans, done) =>
        inner.export(spans, (result) => {
          queued -= spans.length;
          if (result.code === 0) exported += spans.length;
          else dropped += spans.length;
          onOutcome(result.code === 0 ? undefined : (result.error ?? new Error('no reason given')));
          done(result);
        }),
      shutdown: () => inner.shutdown(),
    }),

    /** Wraps a processor, which gets spans only while fewer than `maxQueued` spans are queued. */
    processor: (inner: SpanProcessor): SpanProcessor => ({
      onStart: (span, parent) => inner.onStart(span, parent),
      onEnd: (span: ReadableSpan) => {
        if (queued >= maxQueued) {
          dropped++;
          return;
        }
        queued++;
        inner.onEnd(span);
      },
      forceFlush: () => inner.forceFlush(),
      shutdown: () => inner.shutdown(),
    }),
  };
}

function rootSamplerOf(name: SamplerName, ratio: number): Sampler {
  if (name.endsWith('always_off')) return new AlwaysOffSampler();
  if (name.endsWith('traceidratio')) return new TraceIdRatioBasedSampler(ratio);
  return new AlwaysOnSampler();
}

/**
 * The sampler for a value of `OTEL_TRACES_SAMPLER`. Spans with links are always sampled: they link to sampled spans only, so what a sampled
 * request has caused is as complete as the request.
 */
function samplerOf(name: SamplerName, ratio: number): Sampler {
  const root = rootSamplerOf(name, ratio);
  const sampler = name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
  return {
    shouldSample: (context, traceId, spanName, kind, attributes, links) =>
      links.length > 0
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(context, traceId, spanName, kind, attributes, links),
    toString: () => `Linked(${String(sampler)})`,
  };
}

const kinds: Readonly<Record<SpanKind, OpenTelemetryKind>> = {
  internal: OpenTelemetryKind.INTERNAL,
  server: OpenTelemetryKind.SERVER,
  client: OpenTelemetryKind.CLIENT,
  producer: OpenTelemetryKind.PRODUCER,
  consumer: OpenTelemetryKind.CONSUMER,
};

/** The longest attribute that is exported, in characters. */
const maxAttributeLength = 2_048;

/**
 * Constructs an object of OpenTelemetry without the settings of its environment variables. The exporter adds the headers of
 * `OTEL_EXPORTER_OTLP_TRACES_HEADERS` to each request, and has no option against that.
 */
function withoutVariables<T>(construct: () => T): T {
  const variables = Object.entries(process.env).filter(([key]) => key.startsWith('OTEL_'));
  for (const [key] of variables) Reflect.deleteProperty(process.env, key);
  try {
    return construct();
  } finally {
    Object.assign(process.env, Object.fromEntries(variables));
  }
}

/** Starts the SDK of OpenTelemetry. Only this module imports it, and only `startTracing` loads this module. */
export function startOpenTelemetry(
  options: Omit<TracingOptions, 'warn'>,
  onOutcome: (error: Error | undefined) => void,
) {
  const { url, headers, timeoutMs, compression, certificate, maxQueued, delayMs, sampler, ratio, resource } = options;
  const limitedExport = boundedExport(maxQueued, onOutcome);
  const exporter = withoutVariables(
    () =>
      new OTLPTraceExporter({
        url,
        headers: { ...headers },
        timeoutMillis: timeoutMs,
        compression: compression as never,
        httpAgentOptions: { keepAlive: true, ...(certificate === undefined ? {} : { ca: certificate }) },
      }),
  );
  const batching = new BatchSpanProcessor({
    exporter: limitedExport.exporter(exporter),
    maxQueueSize: maxQueued,
    maxExportBatchSize: Math.min(512, maxQueued),
    scheduledDelayMillis: delayMs,
    // Longer than the timeout of the exporter, which then gives up itself: so every span is counted once.
    exportTimeoutMillis: 2 * timeoutMs,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ ...resource })),
    sampler: samplerOf(sampler, ratio),
    spanProcessors: [limitedExport.processor(batching)],
    spanLimits: { attributeValueLengthLimit: maxAttributeLength, linkCountLimit: 128 },
  });
  const tracer = provider.getTracer('bunting');

  const start: StartSpan = ({ name, kind, attributes = {} }, { parent, links = [] }) =>
    tracer.startSpan(
      name,
      { kind: kinds[kind], attributes, links: links.map((context) => ({ context })) },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
    );
  return { start, counts: limitedExport.counts, stop: () => provider.shutdown() };
}
