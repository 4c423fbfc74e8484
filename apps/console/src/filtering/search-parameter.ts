import { useNavigate, useSearch } from '@tanstack/react-router';

/** The search parameters of the URL, typed with those that any route declares: each is optional text. */
export const useSearchParameters = () => useSearch({ strict: false });
export type SearchParameters = ReturnType<typeof useSearchParameters>;

/** One search parameter of the URL as state, so that a link can open the same view. */
export const useSearchParameter = (
  name: keyof SearchParameters,
): readonly [string | undefined, (value: string | undefined) => void] => {
  const search = useSearchParameters();
  const navigate = useNavigate();
  const set = (value: string | undefined): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: value }), replace: true });
  return [search[name], set];
};
