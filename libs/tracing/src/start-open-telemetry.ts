import { ROOT_CONTEXT, SpanKind as OpenTelemetryKind, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { boundedExport } from './bounded-export.ts';
import { samplerOf } from './sampler.ts';
import type { SpanKind, StartSpan } from './spans.ts';
import type { TracingOptions } from './start-tracing.ts';

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
const withoutVariables = <T>(construct: () => T): T => {
  const variables = Object.entries(process.env).filter(([key]) => key.startsWith('OTEL_'));
  for (const [key] of variables) Reflect.deleteProperty(process.env, key);
  try {
    return construct();
  } finally {
    Object.assign(process.env, Object.fromEntries(variables));
  }
};

/** Starts the SDK of OpenTelemetry. Only this module imports it, and only `startTracing` loads this module. */
export const startOpenTelemetry = (
  options: Omit<TracingOptions, 'warn'>,
  onOutcome: (error: Error | undefined) => void,
) => {
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
};
