const daysPerUnit = { d: 1, w: 7, m: 30, y: 365 } as const;

/** A lower or upper limit for a date: a day of the calendar in UTC. */
interface DayBound {
  /** whether it selects that day and later ones; else it selects earlier ones */
  readonly isSince: boolean;
  /** as in `2026-01-31` */
  readonly day: string;
}

/** Reads `<7d` (in the last 7 days), `>4w` (longer ago), or `>2026-01-31` (on that day or later); undefined for anything else. */
export const readDayBound = (value: string, now: Date): DayBound | undefined => {
  const [, sign, count, unit] = /^([<>])(\d{1,5})([dwmy])$/.exec(value) ?? [];
  if (sign !== undefined) {
    const daysAgo = Number(count) * daysPerUnit[unit as keyof typeof daysPerUnit];
    return {
      isSince: sign === '<',
      day: new Date(now.getTime() - daysAgo * 86_400_000).toISOString().slice(0, 10),
    };
  }
  const [, comparison, day = ''] = /^([<>])(\d{4}-\d{2}-\d{2})$/.exec(value) ?? [];
  return comparison === undefined || Number.isNaN(Date.parse(day)) ? undefined : { isSince: comparison === '>', day };
};
