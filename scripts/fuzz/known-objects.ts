import type { Random } from './random.ts';

type Values = Readonly<Record<string, string>>;

const keptPerPlace = 200;

const parameterIn = /\{(\w+)\}/g;

/** The addresses of single things along a path: what comes before them is the list that they stand in. */
interface Place {
  /** up to and with the last of its parameters */
  readonly prefix: string;
  readonly list: string;
  /** the parameters that a thing of the list has a value for */
  readonly own: readonly string[];
}

const placesAlong = (path: string): Place[] => {
  const parts = path.split('/');
  const places: Place[] = [];
  for (let end = 0; end < parts.length; end++) {
    if (!parts[end]?.startsWith('{') || parts[end + 1]?.startsWith('{')) continue;
    let begin = end;
    while (parts[begin - 1]?.startsWith('{')) begin--;
    places.push({
      prefix: parts.slice(0, end + 1).join('/'),
      list: parts.slice(0, begin).join('/'),
      own: parts.slice(begin, end + 1).map((part) => part.slice(1, -1)),
    });
  }
  return places;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the thing says that the parameter stands for: `featureName` is the name of a feature. */
const valueFor = (parameter: string, thing: Record<string, unknown>): string | undefined => {
  const byKind = /id$/i.test(parameter) ? [thing['id'], thing['uuid']] : [thing['name'], thing['id']];
  if (parameter === 'token') byKind.unshift(thing['secret']);
  const found = [thing[parameter], ...byKind].find((value) => ['string', 'number'].includes(typeof value));
  return found === undefined || found === '' ? undefined : String(found);
};

/** What accounts are called that a run needs itself. */
export const sparedName = 'fuzz-robot';

/** Such an account, or an admin token: without them nothing more is learned of the server. */
const isSpared = ({ username, type, secret, description }: Record<string, unknown>): boolean =>
  description === sparedName ||
  (type === 'admin' && secret !== undefined) ||
  (typeof username === 'string' && username.startsWith(sparedName));

const thingsIn = (answer: unknown): Record<string, unknown>[] => {
  const list = Array.isArray(answer)
    ? answer
    : isRecord(answer)
      ? (Object.values(answer).find((member) => Array.isArray(member)) as unknown[] | undefined)
      : undefined;
  return [...(isRecord(answer) ? [answer] : []), ...(list ?? []).filter(isRecord)].filter((thing) => !isSpared(thing));
};

/**
 * What is known to be there, learned from the answers of lists and of what creates: so that requests can speak of it. Of every
 * list so many things are kept, and what is learned last pushes out what was learned first.
 */
export interface KnownObjects {
  forget(): void;
  learn(path: string, values: Values, answer: unknown): void;
  /** values for the parameters of the path that lead to something, as far as anything is known */
  along(path: string, random: Random): Values;
  /** a value that something has for a parameter or a property of that name: of what is within, if there is any */
  named(name: string, random: Random, within: Values): string | undefined;
}

export const knownObjects = (paths: readonly string[]): KnownObjects => {
  const places = new Map(paths.flatMap(placesAlong).map((place) => [place.prefix, place]));
  const byList = Map.groupBy(places.values(), ({ list }) => list);
  const known = new Map<string, Map<string, Values>>();
  /** by name: each value, and where the thing is that has it */
  const byName = new Map<string, Map<string, Values>>();

  const keep = <K, V>(kept: { size: number; keys(): Iterator<K>; delete(key: K): unknown }, add: () => V): void => {
    add();
    if (kept.size > keptPerPlace) kept.delete(kept.keys().next().value as K);
  };
  const nameIt = (name: string, value: string, where: Values): void => {
    const values = byName.get(name) ?? new Map<string, Values>();
    byName.set(name, values);
    values.delete(value);
    keep(values, () => values.set(value, where));
  };

  return {
    forget: () => {
      known.clear();
      byName.clear();
    },
    learn: (path, values, answer) => {
      for (const { prefix, list, own } of byList.get(path) ?? []) {
        for (const thing of thingsIn(answer)) {
          const found = own.map((parameter) => [parameter, valueFor(parameter, thing)] as const);
          if (found.some(([, value]) => value === undefined)) continue;
          const all = { ...values, ...(Object.fromEntries(found) as Record<string, string>) };
          const entries = known.get(prefix) ?? new Map<string, Values>();
          known.set(prefix, entries);
          const key = JSON.stringify(all);
          entries.delete(key);
          keep(entries, () => entries.set(key, all));
          const noun = list.split('/').at(-1)?.replace(/s$/, '') ?? '';
          for (const [parameter, value] of found) {
            nameIt(parameter, value as string, values);
            if (own.length > 1) continue;
            for (const name of [noun, `${noun}Name`, `${noun}Id`]) nameIt(name, value as string, values);
          }
        }
      }
    },
    along: (path, random) => {
      const own = placesAlong(path);
      const values: Record<string, string> = {};
      for (const { prefix } of own.toReversed()) {
        const entries = known.get(prefix);
        if (entries === undefined) continue;
        Object.assign(values, random.pick([...entries.values()]));
        break;
      }
      for (const [, name = ''] of path.matchAll(parameterIn)) {
        const there = byName.get(name);
        if (values[name] === undefined && there !== undefined) values[name] = random.pick([...there.keys()]);
      }
      return values;
    },
    named: (name, random, within) => {
      const there = byName.get(name) ?? byName.get(name.replace(/s$/, ''));
      if (there === undefined) return undefined;
      const near = [...there].filter(([, where]) =>
        Object.entries(where).every(([parameter, value]) => (within[parameter] ?? value) === value),
      );
      return near.length > 0 ? random.pick(near)[0] : random.pick([...there.keys()]);
    },
  };
};
