import { SearchUsers, type UserSearchResults } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { call } from './call.ts';

type Person = UserSearchResults[number];

const maxIds = 100;
let asked = new Map<number, ((person: Promise<Person | null>) => void)[]>();

/** Asks for all that one rendering of a page shows, a hundred at a time. */
function askForAll(): void {
  const waiting = [...asked];
  asked = new Map();
  for (let from = 0; from < waiting.length; from += maxIds) {
    const batch = waiting.slice(from, from + maxIds);
    const people = call(SearchUsers, { query: { ids: batch.map(([id]) => id).join() } });
    for (const [id, answers] of batch)
      for (const answer of answers) answer(people.then((found) => found.find((person) => person.id === id) ?? null));
  }
}

function readPerson(id: number): Promise<Person | null> {
  return new Promise((resolve) => {
    if (asked.size === 0) setTimeout(askForAll, 0);
    asked.set(id, [...(asked.get(id) ?? []), resolve]);
  });
}

async function readPersonByEmail(email: string): Promise<Person | null> {
  const found = await call(SearchUsers, { query: { q: email } });
  const isSame = (name: string | null | undefined): boolean => name?.toLowerCase() === email.toLowerCase();
  return found.find((person) => isSame(person.email) || isSame(person.username)) ?? null;
}

/**
 * The names of a user by its id, once they are read; none for a deleted user and for a token. Without an id, as in old notifications, by
 * a login that is an e-mail address.
 */
export function usePerson(
  id: number | null | undefined,
  login = '',
): {
  readonly person: Person | undefined;
  readonly isLoading: boolean;
} {
  const email = id == null && login.includes('@') ? login : undefined;
  const { data, isLoading } = useQuery({
    queryKey: ['person', email ?? id],
    queryFn: () => (email === undefined ? readPerson(id ?? 0) : readPersonByEmail(email)),
    enabled: email !== undefined || (typeof id === 'number' && id > 0),
    staleTime: 300_000,
    // A save of a flag or a change request renames nobody.
    meta: { isUnaffected: true },
  });
  return { person: data ?? undefined, isLoading };
}
