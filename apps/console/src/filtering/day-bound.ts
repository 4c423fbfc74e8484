const days = { d: 1, w: 7, m: 30, y: 365 } as const;

/** One side of a day of the calendar, in UTC. */
export interface DayBound {
  /** on that day or later, else before it */
  readonly isSince: boolean;
  readonly day: string;
}

/** Reads `<7d` (in the last 7 days), `>4w` (longer ago), or `>2026-01-31` (on that day or later); undefined for anything else. */
export const readDayBound = (value: string, now: Date): DayBound | undefined => {
  const [, sign, count, unit] = /^([<>])(\d{1,5})([dwmy])$/.exec(value) ?? [];
  if (sign !== undefined) {
    const back = Number(count) * days[unit as keyof typeof days];
    return {
      isSince: sign === '<',
      day: new Date(now.getTime() - back * 86_400_000).toISOString().slice(0, 10),
    };
  }
  const [, side, day = ''] = /^([<>])(\d{4}-\d{2}-\d{2})$/.exec(value) ?? [];
  return side === undefined || Number.isNaN(Date.parse(day)) ? undefined : { isSince: side === '>', day };
};
