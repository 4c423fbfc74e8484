import {
  ListCleanupFeatures,
  ListUnknownFlags,
  SearchChangeRequests,
  SearchEvents,
  SearchFeatures,
  type SearchResultFeature,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { operationQuery, useEnvironments, useMe } from '../../api/queries-and-mutations.ts';
import { reachChangingTypes } from '../../text/event-words.ts';
import { dayIn, ownTimeZone } from '../../filtering/filter-tokens.ts';

// Each part of the page is one or two bounded requests, and all of them are sent at once.

/** The maximum number of items of a part. */
export const maxShown = 6;

/** The change requests that wait for the user's approval, those that are scheduled, or all that are open: everywhere, or in a project. */
export function useRequests(which: 'reviewable' | 'scheduled' | 'open', project?: string) {
  const filter = which === 'reviewable' ? { reviewable: true } : { state: `IS:${which}` };
  const where = project === undefined ? {} : { project: `IS:${project}` };
  return useQuery({
    ...operationQuery(SearchChangeRequests, { query: { ...filter, ...where, limit: maxShown } }),
    select: ({ changeRequests }) => changeRequests,
  });
}

/** Today in a time zone, also after midnight. */
function useToday(timeZone: string): string {
  const [today, setToday] = useState(() => dayIn(timeZone, new Date(serverNow())));
  useEffect(() => {
    const timer = setInterval(() => setToday(dayIn(timeZone, new Date(serverNow()))), 60_000);
    return () => clearInterval(timer);
  }, [timeZone]);
  return today;
}

/** Proposals, tokens and rights change nothing for users. */
const effectiveTypes = [...reachChangingTypes, 'default-strategy-updated'];

function useProductionEnvironments(): readonly string[] {
  const { environments = [] } = useEnvironments().data ?? {};
  return environments.filter(({ type, enabled }) => type === 'production' && enabled).map(({ name }) => name);
}

/** The newest changes in environments. @param filter of the events beside that */
function useNewestChanges(environments: readonly string[], filter: Readonly<Record<string, string>>) {
  const query = useQuery({
    ...operationQuery(SearchEvents, {
      query: {
        environment: `IS_ANY_OF:${environments.join(',')}`,
        type: `IS_ANY_OF:${effectiveTypes.join(',')}`,
        ...filter,
        limit: String(maxShown),
      },
    }),
    enabled: environments.length > 0,
    select: ({ events }) => events,
  });
  return { query, environments };
}

/** The changes of today in environments of production, the newest first. */
export function useChangedToday() {
  const timeZone = ownTimeZone();
  const today = useToday(timeZone);
  return useNewestChanges(useProductionEnvironments(), { from: `IS:${today}`, timeZone });
}

/** The newest changes of a project in those of its environments that are of production. */
export function useChangedInProject(project: string, environments: readonly string[]) {
  const inProduction = useProductionEnvironments().filter((name) => environments.includes(name));
  return useNewestChanges(inProduction, { project: `IS:${project}` });
}

/** The maximum number of favourites before the user's own flags. */
const maxFavouritesFirst = 3;

/** The user's favourites and the newest flags that the user has created. */
export function useMyFlags() {
  const userId = useMe().data?.user.id;
  // A key of no person, such as the first admin token, has created no flag by an id that the search knows.
  const isPerson = userId !== undefined && userId > 0;
  const favourites = useQuery(
    operationQuery(SearchFeatures, { query: { favorite: 'IS:true', sortBy: 'name', limit: String(maxShown) } }),
  );
  const own = useQuery({
    ...operationQuery(SearchFeatures, {
      query: { createdBy: `IS:${userId ?? 0}`, sortBy: 'createdAt', sortOrder: 'desc', limit: String(maxShown) },
    }),
    enabled: isPerson,
  });
  const isRead = favourites.data !== undefined && (own.data !== undefined || (userId !== undefined && !isPerson));
  const liked = favourites.data?.features ?? [];
  // Both kinds are shown, however many favourites there are.
  const all: readonly SearchResultFeature[] = [
    ...liked.slice(0, maxFavouritesFirst),
    ...(own.data?.features ?? []),
    ...liked.slice(maxFavouritesFirst),
  ];
  const unique = [...new Map(all.map((flag) => [flag.name, flag])).values()];
  return {
    data: isRead ? unique : undefined,
    error: favourites.error ?? own.error,
    refetch: () => Promise.all([favourites.refetch(), own.refetch()]),
  };
}

/** Flags that applications have asked for, but not in the last 30 days. */
export function useGoneQuiet() {
  return useQuery({
    ...operationQuery(ListCleanupFeatures, { query: { reason: 'notSeen', days: 30, limit: maxShown } }),
    select: ({ features }) => features,
  });
}

/** Names that applications ask for and no flag has. */
export function useAskedUnknown() {
  return useQuery({ ...operationQuery(ListUnknownFlags, { query: {} }), select: ({ unknownFlags }) => unknownFlags });
}
