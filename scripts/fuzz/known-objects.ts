import type { SeededRandom } from '../seeded-random.ts';

type PathValues = Readonly<Record<string, string>>;
type ApiObject = Readonly<Record<string, unknown>>;

/** How many objects are kept per list, and how many identifiers per name. */
const maxKnown = 200;

const parameterPattern = /\{(\w+)\}/g;

/** The path of a single object, which is a path of the API or the beginning of one. */
interface ObjectPath {
  /** ends with the last of its own parameters */
  readonly path: string;
  readonly listPath: string;
  /** the names of the parameters at the end of the path: an object of the list has their values */
  readonly ownParameters: readonly string[];
}

/** The paths of all single objects within a path, the shortest first. */
const objectPathsIn = (path: string): ObjectPath[] => {
  const parts = path.split('/');
  const objectPaths: ObjectPath[] = [];
  for (let end = 0; end < parts.length; end++) {
    if (!parts[end]?.startsWith('{') || parts[end + 1]?.startsWith('{')) continue;
    let begin = end;
    while (parts[begin - 1]?.startsWith('{')) begin--;
    objectPaths.push({
      path: parts.slice(0, end + 1).join('/'),
      listPath: parts.slice(0, begin).join('/'),
      ownParameters: parts.slice(begin, end + 1).map((part) => part.slice(1, -1)),
    });
  }
  return objectPaths;
};

const isObject = (value: unknown): value is ApiObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value that an object has for a parameter, such as the name of a feature for `featureName`. */
const parameterValueIn = (object: ApiObject, parameter: string): string | undefined => {
  const candidates = /id$/i.test(parameter)
    ? [object['id'], object['uuid']]
    : /name$/i.test(parameter)
      ? [object['name']]
      : [object['name'], object['id']];
  if (parameter === 'token') candidates.unshift(object['secret']);
  const found = [object[parameter], ...candidates].find((value) => ['string', 'number'].includes(typeof value));
  return found === undefined || found === '' ? undefined : String(found);
};

/** The prefix of the names of the accounts that the run itself uses, and the description of their tokens. */
export const fuzzAccountName = 'fuzz-robot';

/** Whether the run needs the object to continue: an account of the run, its token, or an admin token. */
const isNeededByRun = ({ username, type, secret, description }: ApiObject): boolean =>
  description === fuzzAccountName ||
  (type === 'admin' && secret !== undefined) ||
  (typeof username === 'string' && username.startsWith(fuzzAccountName));

interface FoundObject {
  readonly object: ApiObject;
  /** the type of the object, after the property of the response that lists it; undefined if the response is the object or the list */
  readonly resourceType: string | undefined;
}

export const singular = (plural: string): string => plural.replace(/ies$/, 'y').replace(/s$/, '');

/** The response itself, if it is an object, and the objects in its lists. */
const objectsIn = (response: unknown): FoundObject[] => {
  const inList = (list: unknown[], resourceType?: string): FoundObject[] =>
    list.filter(isObject).map((object) => ({ object, resourceType }));
  if (Array.isArray(response)) return inList(response);
  if (!isObject(response)) return [];
  const members = Object.entries(response).flatMap(([name, member]) =>
    Array.isArray(member) ? inList(member, singular(name)) : [],
  );
  return [{ object: response, resourceType: undefined }, ...members].filter(({ object }) => !isNeededByRun(object));
};

/** The properties with which objects name their parents, by the path parameter that has the same value. */
const parentProperties: Readonly<Record<string, readonly string[]>> = {
  projectId: ['projectId', 'project'],
  featureName: ['featureName'],
  environment: ['environment'],
};

/** The path parameters of the parents of an object: those of its path, and those that its properties name. */
const parentsOf = (object: ApiObject, pathValues: PathValues): PathValues => {
  const named = Object.entries(parentProperties).flatMap(([parameter, properties]) => {
    const value = properties.map((property) => object[property]).find((one) => typeof one === 'string' && one !== '');
    return value === undefined ? [] : [[parameter, value as string]];
  });
  return { ...(Object.fromEntries(named) as PathValues), ...pathValues };
};

/** The identifier of an object, and the path parameters of its parents. */
interface KnownValue {
  readonly value: string;
  readonly parents: PathValues;
}

interface KnownObject {
  readonly pathValues: PathValues;
  readonly object: ApiObject;
}

/** Sets an entry as the newest one, and evicts the oldest one if there are too many. */
const setNewest = <V>(entries: Map<string, V>, key: string, value: V): void => {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > maxKnown) entries.delete(entries.keys().next().value as string);
};

const mapIn = <V>(maps: Map<string, Map<string, V>>, name: string): Map<string, V> => {
  const map = maps.get(name) ?? new Map<string, V>();
  maps.set(name, map);
  return map;
};

/** Identifies an object among those of its path. */
const objectKey = (path: string, pathValues: PathValues): string =>
  JSON.stringify([...path.matchAll(parameterPattern)].map(([, name = '']) => pathValues[name]));

/**
 * The existing objects, collected from the responses of lists and creations, so that requests can refer to them. The number per list is
 * limited; the oldest are evicted.
 */
export const knownObjects = (apiPaths: readonly string[]) => {
  const objectPaths = new Map(apiPaths.flatMap(objectPathsIn).map((objectPath) => [objectPath.path, objectPath]));
  const objectPathsByList = Map.groupBy(objectPaths.values(), ({ listPath }) => listPath);
  /** by the path of the objects, and then by `objectKey` */
  const objects = new Map<string, Map<string, KnownObject>>();
  /** by the name of a parameter or resource type: each identifier, with the path parameters of the object's parents */
  const identifiers = new Map<string, Map<string, PathValues>>();

  const addObject = (path: string, pathValues: PathValues, object: ApiObject): void =>
    setNewest(mapIn(objects, path), objectKey(path, pathValues), { pathValues, object });
  const addIdentifier = (name: string, value: string, parents: PathValues): void =>
    setNewest(mapIn(identifiers, name), value, parents);
  const identifiersOf = (name: string) => identifiers.get(name) ?? identifiers.get(singular(name));

  /** Adds the identifiers of an object that the response lists below the name of its type. */
  const addListedIdentifiers = ({ object, resourceType }: FoundObject, pathValues: PathValues): void => {
    if (resourceType === undefined) return;
    const [id, name] = [parameterValueIn(object, `${resourceType}Id`), object['name']];
    const parents = parentsOf(object, pathValues);
    if (id !== undefined) addIdentifier(`${resourceType}Id`, id, parents);
    if (typeof name === 'string') addIdentifier(`${resourceType}Name`, name, parents);
    const identifier = id ?? name;
    if (typeof identifier === 'string') addIdentifier(resourceType, identifier, parents);
  };

  /** Adds an object of a list with its own path, if it has values for the parameters of that path. */
  const addFromList = (
    { path, listPath, ownParameters }: ObjectPath,
    object: ApiObject,
    pathValues: PathValues,
  ): void => {
    const resourceType = singular(listPath.split('/').at(-1) ?? '');
    const ownValues = ownParameters.map((parameter) => [parameter, parameterValueIn(object, parameter)] as const);
    if (ownValues.some(([, value]) => value === undefined)) return;
    addObject(path, { ...pathValues, ...(Object.fromEntries(ownValues) as Record<string, string>) }, object);
    const parents = parentsOf(object, pathValues);
    for (const [parameter, value] of ownValues) {
      addIdentifier(parameter, value as string, parents);
      if (ownParameters.length === 1) addIdentifier(resourceType, value as string, parents);
    }
  };

  return {
    clear: (): void => {
      objects.clear();
      identifiers.clear();
    },
    /** Collects the objects in the response of an operation. @param path the path of the operation, with `{name}` for parameters */
    collect: (path: string, pathValues: PathValues, response: unknown): void => {
      const found = objectsIn(response);
      for (const one of found) addListedIdentifiers(one, pathValues);
      const objectPath = objectPaths.get(path);
      if (objectPath !== undefined && isObject(response)) addObject(objectPath.path, pathValues, response);
      for (const listed of objectPathsByList.get(path) ?? []) {
        for (const { object } of found) addFromList(listed, object, pathValues);
      }
    },
    /** Picks values for the parameters of a path, of a known object at that path if there is one. */
    pickPathValues: (path: string, random: SeededRandom): PathValues => {
      const values: Record<string, string> = {};
      for (const objectPath of objectPathsIn(path).toReversed()) {
        const known = objects.get(objectPath.path);
        if (known === undefined) continue;
        Object.assign(values, random.pick([...known.values()]).pathValues);
        break;
      }
      for (const [, name = ''] of path.matchAll(parameterPattern)) {
        const known = identifiers.get(name);
        if (values[name] === undefined && known !== undefined) values[name] = random.pick([...known.keys()]);
      }
      return values;
    },
    /** Picks an object of the list at a path, or else the object at that path. */
    pickObject: (path: string, pathValues: PathValues, random: SeededRandom): ApiObject | undefined => {
      const listed =
        objectPathsByList.get(path)?.flatMap((listedPath) => [...(objects.get(listedPath.path)?.values() ?? [])]) ?? [];
      if (listed.length > 0) return random.pick(listed).object;
      const nearest = objectPathsIn(path).at(-1);
      return nearest && objects.get(nearest.path)?.get(objectKey(nearest.path, pathValues))?.object;
    },
    /** The maximum number of path parameters that the known objects of a parameter or property determine. */
    parentCount: (name: string): number => {
      const newest = [...(identifiersOf(name)?.values() ?? [])].slice(-5);
      return Math.max(0, ...newest.map((parents) => Object.keys(parents).length));
    },
    /** Picks a known identifier for a parameter or property; one with the same parents as the values chosen so far, if there is one. */
    pickValue: (name: string, random: SeededRandom, chosenValues: PathValues): KnownValue | undefined => {
      const known = identifiersOf(name);
      if (known === undefined) return undefined;
      const related = [...known].filter(([, parents]) =>
        Object.entries(parents).every(([parameter, value]) => (chosenValues[parameter] ?? value) === value),
      );
      const [value, parents] = random.pick(related.length > 0 ? related : [...known]);
      return { value, parents };
    },
  };
};
export type KnownObjects = ReturnType<typeof knownObjects>;
