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

/** The names of a user by its id, once they are read; none for a deleted user and for a token. */
export function usePerson(id: number | null | undefined): {
  readonly person: Person | undefined;
  readonly isLoading: boolean;
} {
  const isUser = typeof id === 'number' && id > 0;
  const { data, isLoading } = useQuery({
    queryKey: ['person', id],
    queryFn: () => readPerson(id ?? 0),
    enabled: isUser,
    staleTime: 300_000,
    // A save of a flag or a change request renames nobody.
    meta: { isUnaffected: true },
  });
  return { person: data ?? undefined, isLoading };
}
