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
export { samplerNames, startTracing, type Tracing } from './start-tracing.ts';
