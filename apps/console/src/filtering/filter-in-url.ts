import { useNavigate } from '@tanstack/react-router';
import { type SearchParameters, useSearchParameters } from './search-parameter.ts';
import { useCallback, useEffect, useState } from 'react';

/** Milliseconds after the last key until the address has the filter. */
const addressDelayMs = 300;

/** The filter of a list as state, stored in the search parameter `q` or another one of the address. */
export const useFilterInUrl = (parameter: keyof SearchParameters = 'q') => {
  const search = useSearchParameters();
  const navigate = useNavigate();
  const inAddress = search[parameter] ?? '';
  const [filter, setFilter] = useState(inAddress);
  const [written, setWritten] = useState(inAddress);
  // The address was changed by the browser's buttons or a link.
  if (inAddress !== written) {
    setWritten(inAddress);
    setFilter(inAddress);
  }
  const write = useCallback(
    (changed: SearchParameters) =>
      void navigate({ to: '.', replace: true, search: (before) => ({ ...before, ...changed }) }),
    [navigate],
  );
  useEffect(() => {
    if (filter === written) return undefined;
    const timer = setTimeout(() => {
      setWritten(filter);
      write({ [parameter]: filter === '' ? undefined : filter });
    }, addressDelayMs);
    return () => clearTimeout(timer);
  }, [filter, parameter, written, write]);
  return { filter, setFilter, search, write };
};
