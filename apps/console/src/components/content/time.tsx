import { serverClockOffset } from '../../api/server-clock.ts';
import { createStore, useStore } from '../../store.ts';
import { relativeTime } from '../../text/relative-time.ts';

// As the reader's browser writes dates and times, with 12 or 24 hours.
const absolute = new Intl.DateTimeFormat(undefined, {
  numberingSystem: 'latn',
  dateStyle: 'medium',
  timeStyle: 'short',
});
const timeOfDay = new Intl.DateTimeFormat(undefined, { numberingSystem: 'latn', timeStyle: 'medium' });

/** An instant as the reader's browser writes dates and times, in its zone. @param instant milliseconds since 1970 */
export function formatDateAndTime(instant: number): string {
  return absolute.format(instant);
}

const withOffset = new Intl.DateTimeFormat(undefined, {
  numberingSystem: 'latn',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'shortOffset',
});

/**
 * An instant with the offset of its zone, beside where a local time is entered: on the nights when clocks change some local times do not exist, and
 * some exist twice.
 */
export function formatWithOffset(instant: number): string {
  return withOffset.format(instant);
}

/** Gives all times of the page the form in which they are printed: date, time and zone (base.css). */
function writePrintedTimes(): void {
  for (const time of document.querySelectorAll('time'))
    time.dataset['printed'] = formatWithOffset(Date.parse(time.dateTime));
}
addEventListener('beforeprint', writePrintedTimes);

/** The current time in milliseconds by the browser's clock, updated twice a minute, from which relative times are computed. */
const clock = createStore(Date.now());
setInterval(() => clock.set(Date.now()), 30_000);

interface TimeProps {
  /** in the format of RFC 3339; null and undefined are shown as “never” */
  readonly at: string | null | undefined;
  /** shows the date and time instead of how long ago it was */
  readonly isAbsolute?: boolean;
  /** shows the time of day only, where the reader knows the day from the context */
  readonly isTimeOfDay?: boolean;
}

/** An instant in the reader's time zone, with UTC on hover. */
export function Time({ at, isAbsolute = false, isTimeOfDay = false }: TimeProps) {
  const now = useStore(clock) + useStore(serverClockOffset);
  if (at == null) return <span>never</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${absolute.format(date)} · ${date.toISOString()}`}>
      {isTimeOfDay ? timeOfDay.format(date) : isAbsolute ? absolute.format(date) : relativeTime(date.getTime(), now)}
    </time>
  );
}
