const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/**
 * How long ago an instant was (or is ahead), in the largest unit that fits. What is ahead is rounded: a token for a week expires in 7 days
 * also when a minute of them is over.
 */
export function relativeTime(instant: number, now: number): string {
  const seconds = Math.round((instant - now) / 1000);
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  return unit === undefined
    ? 'just now'
    : relative.format(seconds > 0 ? Math.round(seconds / unit[1]) : Math.trunc(seconds / unit[1]), unit[0]);
}
