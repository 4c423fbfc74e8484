export type { SpanCounts } from './open-telemetry.ts';
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
