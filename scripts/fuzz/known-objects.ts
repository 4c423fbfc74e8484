import type { SeededRandom } from '../seeded-random.ts';

type Values = Readonly<Record<string, string>>;

const keptPerPlace = 200;

const parameterIn = /\{(\w+)\}/g;

/** The paths of single objects within a path; the path before each is that of its list. */
interface Place {
  /** up to and with the last of its parameters */
  readonly prefix: string;
  readonly list: string;
  /** the parameters for which an object of the list provides a value */
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

/** The value of a parameter in an object: for `featureName`, the name of a feature. */
const valueFor = (parameter: string, thing: Record<string, unknown>): string | undefined => {
  const byKind = /id$/i.test(parameter)
    ? [thing['id'], thing['uuid']]
    : /name$/i.test(parameter)
      ? [thing['name']]
      : [thing['name'], thing['id']];
  if (parameter === 'token') byKind.unshift(thing['secret']);
  const found = [thing[parameter], ...byKind].find((value) => ['string', 'number'].includes(typeof value));
  return found === undefined || found === '' ? undefined : String(found);
};

/** The names of the accounts that the run itself uses. */
export const fuzzAccountName = 'fuzz-robot';

/** Whether an object is such an account or an admin token, without which the run cannot continue. */
const isSpared = ({ username, type, secret, description }: Record<string, unknown>): boolean =>
  description === fuzzAccountName ||
  (type === 'admin' && secret !== undefined) ||
  (typeof username === 'string' && username.startsWith(fuzzAccountName));

interface Found {
  readonly thing: Record<string, unknown>;
  /** the name of the list in the response, if it has one */
  readonly noun: string | undefined;
}

export const singular = (plural: string): string => plural.replace(/ies$/, 'y').replace(/s$/, '');

const thingsIn = (response: unknown): Found[] => {
  const inList = (list: unknown[], noun?: string): Found[] => list.filter(isRecord).map((thing) => ({ thing, noun }));
  if (Array.isArray(response)) return inList(response);
  if (!isRecord(response)) return [];
  const members = Object.entries(response).flatMap(([name, member]) =>
    Array.isArray(member) ? inList(member, singular(name)) : [],
  );
  return [{ thing: response, noun: undefined }, ...members].filter(({ thing }) => !isSpared(thing));
};

/** The properties of objects that locate them, by the parameter for which they are values. */
const whereabouts: Readonly<Record<string, readonly string[]>> = {
  projectId: ['projectId', 'project'],
  featureName: ['featureName'],
  environment: ['environment'],
};

const whereIs = (thing: Record<string, unknown>, values: Values): Values => {
  const said = Object.entries(whereabouts).flatMap(([parameter, members]) => {
    const value = members.map((member) => thing[member]).find((one) => typeof one === 'string' && one !== '');
    return value === undefined ? [] : [[parameter, value as string]];
  });
  return { ...(Object.fromEntries(said) as Values), ...values };
};

/** The identifier of an object, and the parameters of its path. */
export interface Named {
  readonly value: string;
  readonly where: Values;
}

/**
 * The existing objects, collected from the responses of lists and creations, so that requests can refer to them. The number per list is
 * limited; the oldest are evicted.
 */
export const knownObjects = (paths: readonly string[]) => {
  const places = new Map(paths.flatMap(placesAlong).map((place) => [place.prefix, place]));
  const byList = Map.groupBy(places.values(), ({ list }) => list);
  const known = new Map<string, Map<string, { readonly values: Values; readonly thing: Record<string, unknown> }>>();
  /** by name: each value, with the path parameters of its object */
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

  const called = (name: string) => byName.get(name) ?? byName.get(singular(name));
  const keyOf = (prefix: string, values: Values): string =>
    JSON.stringify([...prefix.matchAll(parameterIn)].map(([, name = '']) => values[name]));
  const keepThing = (prefix: string, values: Values, thing: Record<string, unknown>): void => {
    const entries = known.get(prefix) ?? new Map<string, { values: Values; thing: Record<string, unknown> }>();
    known.set(prefix, entries);
    const key = keyOf(prefix, values);
    entries.delete(key);
    keep(entries, () => entries.set(key, { values, thing }));
  };

  return {
    clear: (): void => {
      known.clear();
      byName.clear();
    },
    learn: (path: string, values: Values, response: unknown): void => {
      const found = thingsIn(response);
      for (const { thing, noun } of found) {
        if (noun === undefined) continue;
        const [id, name] = [valueFor(`${noun}Id`, thing), thing['name']];
        const where = whereIs(thing, values);
        if (id !== undefined) nameIt(`${noun}Id`, id, where);
        if (typeof name === 'string') nameIt(`${noun}Name`, name, where);
        const called = id ?? name;
        if (typeof called === 'string') nameIt(noun, called, where);
      }
      const itself = places.get(path);
      if (itself !== undefined && isRecord(response)) keepThing(itself.prefix, values, response);
      for (const { prefix, list, own } of byList.get(path) ?? []) {
        const noun = singular(list.split('/').at(-1) ?? '');
        for (const { thing } of found) {
          const parameters = own.map((parameter) => [parameter, valueFor(parameter, thing)] as const);
          if (parameters.some(([, value]) => value === undefined)) continue;
          keepThing(prefix, { ...values, ...(Object.fromEntries(parameters) as Record<string, string>) }, thing);
          const where = whereIs(thing, values);
          for (const [parameter, value] of parameters) {
            nameIt(parameter, value as string, where);
            if (own.length === 1) nameIt(noun, value as string, where);
          }
        }
      }
    },
    /** values for the parameters of a path that lead to a known object, if there is one */
    along: (path: string, random: SeededRandom): Values => {
      const own = placesAlong(path);
      const values: Record<string, string> = {};
      for (const { prefix } of own.toReversed()) {
        const entries = known.get(prefix);
        if (entries === undefined) continue;
        Object.assign(values, random.pick([...entries.values()]).values);
        break;
      }
      for (const [, name = ''] of path.matchAll(parameterIn)) {
        const there = byName.get(name);
        if (values[name] === undefined && there !== undefined) values[name] = random.pick([...there.keys()]);
      }
      return values;
    },
    /** the last response about the object at a path, or about an object of the list at that path */
    responseAbout: (
      path: string,
      values: Values,
      random: SeededRandom,
    ): Readonly<Record<string, unknown>> | undefined => {
      const listed = byList.get(path)?.flatMap(({ prefix }) => [...(known.get(prefix)?.values() ?? [])]) ?? [];
      if (listed.length > 0) return random.pick(listed).thing;
      const nearest = placesAlong(path).at(-1);
      return nearest === undefined ? undefined : known.get(nearest.prefix)?.get(keyOf(nearest.prefix, values))?.thing;
    },
    /** the maximum number of parameters that a known object of that name determines */
    depth: (name: string): number => {
      const wheres = [...(called(name)?.values() ?? [])].slice(-5);
      return Math.max(0, ...wheres.map((where) => Object.keys(where).length));
    },
    /** a known value for a parameter or property of that name; from the same parent object if it has one */
    named: (name: string, random: SeededRandom, within: Values): Named | undefined => {
      const there = called(name);
      if (there === undefined) return undefined;
      const near = [...there].filter(([, where]) =>
        Object.entries(where).every(([parameter, value]) => (within[parameter] ?? value) === value),
      );
      const [value, where] = random.pick(near.length > 0 ? near : [...there]);
      return { value, where };
    },
  };
};
export type KnownObjects = ReturnType<typeof knownObjects>;
