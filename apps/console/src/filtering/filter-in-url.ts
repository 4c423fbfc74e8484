import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { type SearchParameters, useSearchParameters } from './search-parameter.ts';

/** Milliseconds from the last edit of the filter until it is written to the URL. */
const urlDelayMs = 300;

/** The filter of a list as state, stored in the search parameter `q` or another one of the URL. */
export const useFilterInUrl = (parameter: keyof SearchParameters = 'q') => {
  const search = useSearchParameters();
  const navigate = useNavigate();
  const inUrl = search[parameter] ?? '';
  const [filter, setFilter] = useState(inUrl);
  const [lastInUrl, setLastInUrl] = useState(inUrl);
  // The URL was changed by the browser's buttons or a link.
  if (inUrl !== lastInUrl) {
    setLastInUrl(inUrl);
    setFilter(inUrl);
  }
  const write = useCallback(
    (changed: SearchParameters) =>
      void navigate({ to: '.', replace: true, search: (before) => ({ ...before, ...changed }) }),
    [navigate],
  );
  useEffect(() => {
    if (filter === lastInUrl) return undefined;
    const timer = setTimeout(() => {
      setLastInUrl(filter);
      write({ [parameter]: filter === '' ? undefined : filter });
    }, urlDelayMs);
    return () => clearTimeout(timer);
  }, [filter, parameter, lastInUrl, write]);
  return { filter, setFilter, search, write };
};
