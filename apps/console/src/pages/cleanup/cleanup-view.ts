import { type CleanupQuery, type CleanupReason, cleanupReasons } from '@bunting/contracts';

/** What the page lists: the flags of a reason or of all reasons, or the unknown flags that applications request. */
export type CleanupView = CleanupReason | 'all' | 'unknown';
export const cleanupViews: readonly CleanupView[] = ['all', ...cleanupReasons, 'unknown'];

/** The days for which a flag must have been unused, from which the user chooses. */
export const dayChoices = [7, 14, 30, 60, 90, 180, 365];
export const defaultDays = 30;

interface CleanupSearch {
  readonly q?: string | undefined;
  readonly reason?: string | undefined;
  readonly days?: string | undefined;
}

/** The view and the query that the search parameters of the URL stand for; defaults replace unknown values. */
export const cleanupQueryOf = (search: CleanupSearch, project: string | undefined) => {
  const view = cleanupViews.find((known) => known === search.reason) ?? 'all';
  const days = dayChoices.find((choice) => String(choice) === search.days) ?? defaultDays;
  const scope = { days, ...(project === undefined ? {} : { project }) };
  const nameText = (search.q ?? '').trim().slice(0, 100);
  const query: CleanupQuery = {
    ...scope,
    ...(view === 'all' || view === 'unknown' ? {} : { reason: view }),
    ...(nameText === '' ? {} : { query: nameText }),
  };
  return { view, days, scope, query };
};

/** Why a flag may be no longer needed, in a few words. */
export const reasonTexts = {
  stale: 'stale',
  potentiallyStale: 'past its lifetime',
  allOn: 'on for everybody',
  allOff: 'off for everybody',
  notSeen: 'not used any more',
  neverSeen: 'never used',
} as const;
