import { createStore, useStore } from '../../api/store.ts';
import { sharedMessages } from '../../messages/shared.ts';

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const timeOfDay = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** How long ago an instant was (or is ahead), in the largest unit that fits. */
export const relativeTime = (instant: number, now: number): string => {
  const seconds = Math.round((instant - now) / 1000);
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  return unit === undefined ? sharedMessages.common.justNow : relative.format(Math.trunc(seconds / unit[1]), unit[0]);
};

/** The time for what is relative to it, twice a minute. */
const clock = createStore(Date.now());
setInterval(() => clock.set(Date.now()), 30_000);

interface TimeProps {
  /** RFC 3339; nothing is shown as never */
  readonly at: string | null | undefined;
  /** the date and time instead of how long ago */
  readonly isAbsolute?: boolean;
  /** the time of its day alone, where the day is known */
  readonly isTimeOfDay?: boolean;
}

/** An instant in the reader's time zone, with UTC on hover. */
export const Time = ({ at, isAbsolute = false, isTimeOfDay = false }: TimeProps) => {
  const now = useStore(clock);
  if (at == null) return <span>{sharedMessages.common.never}</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${absolute.format(date)} · ${date.toISOString()}`}>
      {isTimeOfDay ? timeOfDay.format(date) : isAbsolute ? absolute.format(date) : relativeTime(date.getTime(), now)}
    </time>
  );
};
