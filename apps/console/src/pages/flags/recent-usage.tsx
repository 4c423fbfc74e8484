import { GetRecentUsage, type ReplyOf, type SearchResultFeature } from '@bunting/contracts';
import { useQueries } from '@tanstack/react-query';
import { memo, useMemo } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { formatCount } from '../../text/format-number.ts';
import styles from './flags.module.css';

/** How often a flag was evaluated in an environment on each of the last days. */
interface UsageByDay {
  readonly yes: readonly number[];
  readonly no: readonly number[];
}

/** The usage of a flag in an environment; undefined where nothing asked for it. */
export type RecentUsageOf = (flag: string, environment: string) => UsageByDay | undefined;

/** Counts change all the time: rows on the screen get newer ones at most each minute. */
const staleMs = 60_000;

// The same function for all renders, so that it runs when an answer arrives only.
const usedFeatures = (all: readonly { readonly data: ReplyOf<typeof GetRecentUsage> | undefined }[]) =>
  all.flatMap(({ data }) => data?.features ?? []);

/** The usage of the rows on the screen, in one request for each window of rows. */
export function useRecentUsage(
  windows: readonly (readonly Pick<SearchResultFeature, 'name'>[] | undefined)[],
  isShown: boolean,
): RecentUsageOf {
  const features = useQueries({
    queries: windows.map((flags = []) => ({
      ...operationQuery(GetRecentUsage, { body: { features: flags.map(({ name }) => name) } }),
      enabled: isShown && flags.length > 0,
      staleTime: staleMs,
      meta: { isUnaffected: true },
    })),
    combine: usedFeatures,
  });
  return useMemo(() => {
    const usages = new Map(
      features.flatMap(({ name, environments }) =>
        environments.map((usage) => [`${name} ${usage.environment}`, usage] as const),
      ),
    );
    return (flag, environment) => usages.get(`${flag} ${environment}`);
  }, [features]);
}

const [width, height] = [36, 16];

/** A bar for each of the last days: as high as the flag was asked for, full as far as it was on. */
export const Sparkline = memo(({ yes, no }: UsageByDay) => {
  const totals = yes.map((count, day) => count + (no[day] ?? 0));
  const highest = Math.max(...totals);
  if (highest === 0) return null;
  const [sum, on] = [totals, yes].map((counts) => counts.reduce((all, count) => all + count, 0)) as [number, number];
  const text = `${formatCount(sum, 'evaluation')} in ${totals.length} days, ${Math.round((100 * on) / sum)} % on`;
  const step = width / totals.length;
  const bars = (counts: readonly number[]): string =>
    counts
      .map((count, day) => {
        // What was asked for at all can be seen.
        const top = count === 0 ? 0 : Math.max(1, (count / highest) * height);
        return count === 0 ? '' : `M${day * step} ${height}v${-top}h${step - 1}v${top}z`;
      })
      .join('');
  return (
    <svg
      role="img"
      aria-label={text}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
      className={styles['sparkline']}
    >
      <title>{text}</title>
      <path d={`M0 ${height - 0.5}h${width}`} className={styles['sparkBase']} />
      <path d={bars(totals)} className={styles['sparkAll']} />
      <path d={bars(yes)} className={styles['sparkOn']} />
    </svg>
  );
});
Sparkline.displayName = 'Sparkline';
