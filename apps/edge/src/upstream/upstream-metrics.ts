import { Counter, Histogram, type Registry } from 'prom-client';

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
  const seconds = new Histogram({
    name: 'bunting_edge_upstream_answer_seconds',
    help: 'how long the origin took for an answer, by what was asked: features, metrics, edge (reports of edges) or tokens; streams are left out',
    labelNames: ['kind'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
    registers: [registry],
  });
  return {
    answers,
    /** Takes the time of an answer. @param path that was asked for */
    took: (path: string, ms: number): void => seconds.observe({ kind: kindOf(path) }, ms / 1_000),
  };
}

function kindOf(path: string): 'features' | 'metrics' | 'edge' | 'tokens' {
  if (path === '/edge/validate') return 'tokens';
  if (path === '/api/client/metrics/edge') return 'edge';
  return path === '/api/client/features' || path === '/api/client/delta' ? 'features' : 'metrics';
}
export type UpstreamMetrics = ReturnType<typeof upstreamMetrics>;
