import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

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
export const boundedExport = (maxQueued: number, onOutcome: (error: Error | undefined) => void) => {
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
};
