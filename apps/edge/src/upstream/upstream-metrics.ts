import { Counter, type Registry } from 'prom-client';

/** What is counted of the answers of the origin, once for all tokens of a process. */
export function upstreamMetrics(registry: Registry) {
  const answers = new Counter({
    name: 'bunting_edge_upstream_answers_total',
    help: 'answers of the origin: state, unchanged, older (left out), or why there was none',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['state', 'unchanged', 'older', 'unreachable', 'failing', 'unusable', 'unsupported', 'refused'])
    answers.inc({ outcome }, 0);
  return { answers };
}
export type UpstreamMetrics = ReturnType<typeof upstreamMetrics>;
