/** A sample of a histogram, as prom-client gives it. */
export interface HistogramSample {
  readonly metricName?: string;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** How long something took, in milliseconds. */
export interface Latency {
  readonly avg: number;
  readonly count: number;
  readonly p99: number;
}

interface Sums {
  count: number;
  seconds: number;
  /** by upper bound in seconds: how many took at most that long */
  readonly buckets: Map<number, number>;
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1_000_000) / 1_000;
}

/** The 99th percentile, as if all of a bucket were spread evenly over it. */
function p99Of({ count, buckets }: Sums): number {
  const target = count * 0.99;
  let below = { bound: 0, count: 0 };
  for (const [bound, upTo] of [...buckets].sort(([one], [other]) => one - other)) {
    if (upTo >= target && upTo > below.count) {
      const share = (target - below.count) / (upTo - below.count);
      return Number.isFinite(bound) ? below.bound + share * (bound - below.bound) : below.bound;
    }
    below = { bound, count: upTo };
  }
  return below.bound;
}

/** The latencies in the samples of a histogram of seconds, by a key; samples without a key are left out. */
export function latenciesOf(
  samples: readonly HistogramSample[],
  keyOf: (labels: HistogramSample['labels']) => string | undefined,
): ReadonlyMap<string, Latency> {
  const sums = new Map<string, Sums>();
  for (const { metricName = '', labels, value } of samples) {
    const key = keyOf(labels);
    if (key === undefined) continue;
    const sum = sums.get(key) ?? { count: 0, seconds: 0, buckets: new Map<number, number>() };
    sums.set(key, sum);
    if (metricName.endsWith('_sum')) sum.seconds += value;
    else if (metricName.endsWith('_count')) sum.count += value;
    else {
      const bound = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']);
      sum.buckets.set(bound, (sum.buckets.get(bound) ?? 0) + value);
    }
  }
  return new Map(
    [...sums].map(([key, sum]) => [
      key,
      {
        avg: sum.count === 0 ? 0 : milliseconds(sum.seconds / sum.count),
        count: sum.count,
        p99: milliseconds(p99Of(sum)),
      },
    ]),
  );
}
