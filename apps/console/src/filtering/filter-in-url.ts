import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';

/** Milliseconds after the last key until the address has the filter. */
const addressDelayMs = 300;

/** The filter of a list, which the address keeps as `q` or as another parameter, beside other search parameters of the page. */
export const useFilterInUrl = (parameter = 'q') => {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const navigate = useNavigate();
  const given = search[parameter] ?? '';
  const [filter, setFilter] = useState(given);
  const [written, setWritten] = useState(given);
  // The address was changed by the browser's buttons or a link.
  if (given !== written) {
    setWritten(given);
    setFilter(given);
  }
  const write = useCallback(
    (changed: Readonly<Record<string, string | undefined>>) =>
      void navigate({ to: '.', replace: true, search: (before: object) => ({ ...before, ...changed }) as never }),
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
