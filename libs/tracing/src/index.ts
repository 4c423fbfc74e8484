export type { SpanCounts } from './bounded-export.ts';
export {
  activeTraceIds,
  activeTraceparent,
  inChildSpan,
  inLinkedSpan,
  inSpan,
  type SpanOptions,
  type StartedSpan,
  startSpan,
  withoutSpan,
} from './spans.ts';
export { type SamplerName, samplerNames, startTracing, type Tracing, type TracingOptions } from './start-tracing.ts';
