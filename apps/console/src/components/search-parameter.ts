import { useNavigate, useSearch } from '@tanstack/react-router';

/** One search parameter of the address as state, so that what is open has an address. Nothing removes it. */
export const useSearchParameter = (
  name: string,
): readonly [string | undefined, (value: string | undefined) => void] => {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const navigate = useNavigate();
  const set = (value: string | undefined): void =>
    void navigate({
      to: '.',
      search: (before: Readonly<Record<string, unknown>>) => ({ ...before, [name]: value }) as never,
      replace: true,
    });
  return [search[name], set];
};
