import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { SamplerName } from './start-tracing.ts';

const rootSamplerOf = (name: SamplerName, ratio: number): Sampler => {
  if (name.endsWith('always_off')) return new AlwaysOffSampler();
  if (name.endsWith('traceidratio')) return new TraceIdRatioBasedSampler(ratio);
  return new AlwaysOnSampler();
};

/**
 * The sampler for a value of `OTEL_TRACES_SAMPLER`. Spans with links are always sampled: they link to sampled spans only, so what a sampled
 * request has caused is as complete as the request.
 */
export const samplerOf = (name: SamplerName, ratio: number): Sampler => {
  const root = rootSamplerOf(name, ratio);
  const sampler = name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
  return {
    shouldSample: (context, traceId, spanName, kind, attributes, links) =>
      links.length > 0
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(context, traceId, spanName, kind, attributes, links),
    toString: () => `Linked(${String(sampler)})`,
  };
};
