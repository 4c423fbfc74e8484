import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';

/** The search parameters of the URL, typed with those that any route declares: each is optional text. */
function useSearchParameters() {
  return useSearch({ strict: false });
}
export type SearchParameters = ReturnType<typeof useSearchParameters>;

/** One search parameter of the URL as state, so that a link can open the same view. */
export function useSearchParameter(
  name: keyof SearchParameters,
): readonly [string | undefined, (value: string | undefined) => void] {
  const search = useSearchParameters();
  const navigate = useNavigate();
  const set = (value: string | undefined): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: value }), replace: true });
  return [search[name], set];
}

/** Milliseconds from the last edit of the filter until it is written to the URL. */
const urlDelayMs = 300;

/** The filter of a list as state, stored in the search parameter `q` or another one of the URL. */
export function useFilterInUrl(parameter: keyof SearchParameters = 'q') {
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
}
