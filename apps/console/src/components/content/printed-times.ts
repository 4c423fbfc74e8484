import { formatWithOffset } from './time.tsx';

/** Gives all times of the page the form in which they are printed: date, time and zone (base.css). */
export function writePrintedTimes(): void {
  for (const time of document.querySelectorAll('time'))
    time.dataset['printed'] = formatWithOffset(Date.parse(time.dateTime));
}
