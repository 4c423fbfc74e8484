import { type UsageHistory, type UsageRange, usageRanges } from '@bunting/contracts';

/** The evaluations of one minute, hour or day. */
export interface UsageBucket {
  /** its start, in milliseconds since 1970 */
  readonly at: number;
  readonly yes: number;
  readonly no: number;
  /** of those to true */
  readonly variants: Readonly<Record<string, number>>;
}

const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The starts of all minutes, hours or days of a range, in milliseconds since 1970. The last 30 days are those of the reader's zone. */
function startsOf(range: UsageRange, from: number): readonly number[] {
  const { hours, unit } = usageRanges[range];
  const count = (hours * stepMs.hour) / stepMs[unit];
  const first = new Date(from);
  return Array.from({ length: count }, (_, nth) =>
    range === '30d'
      ? new Date(first.getFullYear(), first.getMonth(), first.getDate() + nth).getTime()
      : from + nth * stepMs[unit],
  );
}

/** The evaluations in an environment over a range, also at times without any. */
export function usageBuckets(history: UsageHistory, range: UsageRange, environment: string): readonly UsageBucket[] {
  const counted = history.environments.find((one) => one.environment === environment)?.buckets ?? [];
  const starts = startsOf(range, Date.parse(history.from));
  // By the last start before it, and not by the same time: where clocks are changed at midnight, a day begins at another hour.
  const byStart = new Map(
    counted.map(({ at, ...counts }) => [starts.findLast((start) => start <= Date.parse(at)), counts]),
  );
  return starts.map((at) => ({ at, ...(byStart.get(at) ?? { yes: 0, no: 0, variants: {} }) }));
}

/** A part of a bar: what evaluations of one kind share, such as those to a variant. */
export interface UsagePart {
  readonly name: string;
  readonly counts: readonly number[];
}

/** The maximum number of variants that are told apart; the others are counted together. */
const maxVariants = 4;

/** The parts of the bars, from below: variants with the most evaluations first, then those to true without one of them, then those to false. */
export function usageParts(buckets: readonly UsageBucket[]): readonly UsagePart[] {
  const totals = new Map<string, number>();
  for (const { variants } of buckets)
    for (const [name, count] of Object.entries(variants)) totals.set(name, (totals.get(name) ?? 0) + count);
  const shown = [...totals]
    .toSorted(([one, few], [other, many]) => many - few || one.localeCompare(other))
    .slice(0, maxVariants)
    .map(([name]) => name);
  const shownOf = ({ variants }: UsageBucket): number => shown.reduce((sum, name) => sum + (variants[name] ?? 0), 0);
  return [
    ...shown.map((name) => ({ name, counts: buckets.map(({ variants }) => variants[name] ?? 0) })),
    {
      name: shown.length === 0 ? 'on' : 'on, other or no variant',
      // More evaluations of variants than to true are possible where an SDK counts them apart.
      counts: buckets.map((bucket) => Math.max(0, bucket.yes - shownOf(bucket))),
    },
    { name: 'off', counts: buckets.map(({ no }) => no) },
  ].filter(({ counts }) => counts.some((count) => count > 0));
}
