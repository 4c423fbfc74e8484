import { useMe } from '../api/queries-and-mutations.ts';
import { keepText, keptText } from '../store.ts';
import { type FieldValue, type TriedValues, withTried } from './tried-values.ts';

function read(key: string): TriedValues {
  try {
    const stored: unknown = JSON.parse(keptText(key) ?? '[]');
    return (Array.isArray(stored) ? (stored as readonly unknown[]) : []).flatMap((entry) => {
      const [field, values] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
      const isTried =
        typeof field === 'string' && Array.isArray(values) && values.every((one) => typeof one === 'string');
      return isTried ? [[field, values] as const] : [];
    });
  } catch {
    // Another program has written there.
    return [];
  }
}

/**
 * The values of context fields that the user has tried lately, for example users and in the playground. They are kept in this browser, for
 * this user, and are never sent.
 */
export function useTriedValues() {
  const userId = useMe().data?.user.id;
  const key = `bunting.values.${userId}`;
  return {
    /** the values of a field, the newest first */
    valuesOf: (field: string): readonly string[] =>
      userId === undefined ? [] : (read(key).find(([name]) => name === field)?.[1] ?? []),
    remember: (tried: readonly FieldValue[]): void => {
      if (userId !== undefined && tried.length > 0) keepText(key, JSON.stringify(withTried(read(key), tried)));
    },
  };
}
