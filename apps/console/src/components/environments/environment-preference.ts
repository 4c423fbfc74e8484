import { createStore, keepText, keptText, useStore } from '../../store.ts';

/** Which environments a person sees, and in which order. It stays in the browser. */
export interface EnvironmentPreference {
  /** The names of environments that come first, in this order; the others follow in the order of the installation. */
  readonly first: readonly string[];
  /** The names of environments that are not shown. */
  readonly hidden: readonly string[];
  /** The names of environments that the page of a flag keeps open where it folds up the others. */
  readonly pinned?: readonly string[];
  /** The name of the environment that was opened last on the page of a flag; empty once it was folded up again. */
  readonly open?: string;
  /** Whether lists of flags leave out how often flags were evaluated. */
  readonly hidesUsage?: boolean;
}

const storageKey = 'bunting.environments';
const noPreference: EnvironmentPreference = { first: [], hidden: [] };

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];
}

function readStoredPreference(): EnvironmentPreference {
  try {
    const stored = JSON.parse(keptText(storageKey) ?? '{}') as Record<string, unknown>;
    return {
      first: names(stored['first']),
      hidden: names(stored['hidden']),
      pinned: names(stored['pinned']),
      ...(typeof stored['open'] === 'string' && { open: stored['open'] }),
      hidesUsage: stored['hidesUsage'] === true,
    };
  } catch {
    // Another program has written there.
    return noPreference;
  }
}

const preferenceStore = createStore<EnvironmentPreference>(readStoredPreference());

export function setEnvironmentPreference(preference: EnvironmentPreference): void {
  preferenceStore.set(preference);
  keepText(storageKey, JSON.stringify(preference));
}

/** Has the pages of flags open this environment where they fold up the others. */
export function openEnvironment(name: string): void {
  setEnvironmentPreference({ ...preferenceStore.get(), open: name });
}

export function useEnvironmentPreference(): EnvironmentPreference {
  return useStore(preferenceStore);
}

/** All environments in the order that a person prefers. */
export function inPreferredOrder<T extends { readonly name: string }>(
  environments: readonly T[],
  { first }: EnvironmentPreference,
): readonly T[] {
  const rank = ({ name }: T): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return environments.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * The environments that a person sees, in the preferred order. Hidden are those that the person has hidden, but never all.
 * @param max how many are shown while the person has hidden none: production first, then in order
 */
export function shownEnvironments<T extends { readonly name: string; readonly type?: string | undefined }>(
  environments: readonly T[],
  preference: EnvironmentPreference,
  max = Number.POSITIVE_INFINITY,
): readonly T[] {
  const ordered = inPreferredOrder(environments, preference);
  const hasHidden = environments.some(({ name }) => preference.hidden.includes(name));
  if (hasHidden) {
    const shown = ordered.filter(({ name }) => !preference.hidden.includes(name));
    return shown.length === 0 ? ordered : shown;
  }
  if (ordered.length <= max) return ordered;
  const isPreferred = ({ name }: T) => preference.first.includes(name);
  const kept = [
    ...ordered.filter(isPreferred),
    ...ordered.filter((one) => !isPreferred(one) && one.type === 'production'),
    ...ordered.filter((one) => !isPreferred(one) && one.type !== 'production'),
  ].slice(0, max);
  return ordered.filter((one) => kept.includes(one));
}
