import { useNavigate, useSearch } from '@tanstack/react-router';

/** The search parameters of the address: of all routes, each optional text. */
export const useSearchParameters = () => useSearch({ strict: false });
export type SearchParameters = ReturnType<typeof useSearchParameters>;

/** One search parameter of the address as state, so that a link can open the same view. */
export const useSearchParameter = (
  name: keyof SearchParameters,
): readonly [string | undefined, (value: string | undefined) => void] => {
  const search = useSearchParameters();
  const navigate = useNavigate();
  const set = (value: string | undefined): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: value }), replace: true });
  return [search[name], set];
};
