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
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: value }), replace: true, resetScroll: false });
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
  const [seenInUrl, setSeenInUrl] = useState(inUrl);
  // Oldest first. The URL follows a write later, and what is typed meanwhile stays.
  const [written, setWritten] = useState([inUrl]);
  if (inUrl !== seenInUrl) {
    setSeenInUrl(inUrl);
    const index = written.indexOf(inUrl);
    if (index >= 0) setWritten(written.slice(index));
    else {
      // It was changed by the browser's buttons or a link.
      setWritten([inUrl]);
      setFilter(inUrl);
    }
  }
  const lastWritten = written.at(-1);
  const write = useCallback(
    (changed: SearchParameters) =>
      void navigate({ to: '.', replace: true, resetScroll: false, search: (before) => ({ ...before, ...changed }) }),
    [navigate],
  );
  useEffect(() => {
    if (filter === lastWritten) return undefined;
    const timer = setTimeout(() => {
      setWritten((before) => [...before, filter]);
      write({ [parameter]: filter === '' ? undefined : filter });
    }, urlDelayMs);
    return () => clearTimeout(timer);
  }, [filter, parameter, lastWritten, write]);
  return { filter, setFilter, search, write };
}
