export type PathValues = Readonly<Record<string, string>>;
type ApiObject = Readonly<Record<string, unknown>>;

/** How many objects are kept per path, and how many identifiers per name. */
const maxKnown = 200;
/** The prefix of the names of the accounts that the run itself uses, and the description of their tokens. */
export const fuzzAccountName = 'fuzz-robot';
/** For a property that refers to an object: the name under which its identifiers are known. */
const identifierNames: Readonly<Record<string, string>> = {
  environmentId: 'environment',
  newProjectId: 'project',
  project: 'projectId',
  projects: 'projectId',
  users: 'userId',
  reviewers: 'userId',
  tokenName: 'apiTokenName',
};

/**
 * The objects that exist, collected from the responses of lists and creations, so that requests can refer to them. The number per list is
 * limited; the oldest are evicted.
 */
export function knownObjects(apiPaths: readonly string[]) {
  const objectPaths = [...new Set(apiPaths.flatMap(objectPathsIn))].map((path) => ({
    path,
    listPath: path.replace(/(?:\/\{\w+\})+$/, ''),
    ownParameters: parametersOf(path.replace(/^.*?(?=(?:\/\{\w+\})+$)/, '')),
  }));
  const objects = new Map<string, Map<string, { readonly pathValues: PathValues; readonly object: ApiObject }>>();
  const identifiers = new Map<string, Map<string, true>>();

  const addObject = (path: string, pathValues: PathValues, object: ApiObject): void =>
    setNewest(objects, path, JSON.stringify(parametersOf(path).map((name) => pathValues[name])), {
      pathValues,
      object,
    });
  const addIdentifier = (name: string, value: string | undefined): void =>
    value === undefined ? undefined : setNewest(identifiers, name, value, true);
  const identifiersOf = (name: string): readonly string[] => {
    const known = identifierNames[name] ?? name;
    return [...((identifiers.get(known) ?? identifiers.get(singular(known)))?.keys() ?? [])];
  };

  return {
    clear: (): void => {
      objects.clear();
      identifiers.clear();
    },
    /** Collects the objects in the response of an operation. @param path its path, with `{name}` for parameters */
    collect: (path: string, pathValues: PathValues, response: unknown): void => {
      const found = objectsIn(response);
      for (const { object, type } of found) {
        if (type === undefined) continue;
        const [id, name] = [parameterValueIn(object, `${type}Id`), parameterValueIn(object, `${type}Name`)];
        addIdentifier(`${type}Id`, id);
        addIdentifier(`${type}Name`, name);
        addIdentifier(type, id ?? name);
      }
      const own = found.find(({ object }) => object === response)?.object;
      for (const objectPath of objectPaths) {
        if (objectPath.path === path && own !== undefined) addObject(path, pathValues, own);
        if (objectPath.listPath !== path) continue;
        for (const { object } of found) {
          const values = objectPath.ownParameters.map((name) => [name, parameterValueIn(object, name)] as const);
          if (values.some(([, value]) => value === undefined)) continue;
          addObject(objectPath.path, { ...pathValues, ...(Object.fromEntries(values) as PathValues) }, object);
          for (const [name, value] of values) addIdentifier(name, value);
        }
      }
    },
    /** The sets of values for the parameters of a path: those of the objects at that path, or at the nearest one above it. */
    pathValuesOf: (path: string): readonly PathValues[] => {
      const nearest = objectPathsIn(path).findLast((one) => objects.has(one)) ?? '';
      return [...(objects.get(nearest)?.values() ?? [])].map(({ pathValues }) => pathValues);
    },
    /** The objects in the list at a path, or else the object at that path. */
    objectsAt: (path: string, pathValues: PathValues): readonly ApiObject[] => {
      const isHere = (one: PathValues): boolean => parametersOf(path).every((name) => one[name] === pathValues[name]);
      const paths = objectPaths.filter(({ listPath }) => listPath === path).map((one) => one.path);
      return [...paths, objectPathsIn(path).at(-1) ?? '']
        .flatMap((one) => [...(objects.get(one)?.values() ?? [])])
        .filter((one) => isHere(one.pathValues))
        .map(({ object }) => object);
    },
    identifiersOf,
  };
}
export type KnownObjects = ReturnType<typeof knownObjects>;

export function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The paths of the single objects within a path, the shortest first: each ends with the last of its own parameters. */
function objectPathsIn(path: string): string[] {
  return [...path.matchAll(/\}(?=\/[^{]|$)/g)].map(({ index }) => path.slice(0, index + 1));
}

function singular(plural: string): string {
  return plural.replace(/ies$/, 'y').replace(/s$/, '');
}

function isObject(value: unknown): value is ApiObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The response itself, if it is an object, and the objects in its lists with the type after which the list is named. */
function objectsIn(response: unknown): { readonly object: ApiObject; readonly type?: string }[] {
  const listed = Array.isArray(response) ? response : [response];
  const members = isObject(response)
    ? Object.entries(response).flatMap(([name, list]) =>
        (Array.isArray(list) ? list : []).map((object: unknown) => ({ object, type: singular(name) })),
      )
    : [];
  return [...listed.map((object: unknown) => ({ object })), ...members].filter(
    (one): one is { object: ApiObject; type?: string } => isObject(one.object) && !isNeededByRun(one.object),
  );
}

/** Whether the run needs the object to continue: an account of the run, its token, or an admin token. */
function isNeededByRun({ username, type, secret, description }: ApiObject): boolean {
  return (
    description === fuzzAccountName ||
    (type === 'admin' && secret !== undefined) ||
    (typeof username === 'string' && username.startsWith(fuzzAccountName))
  );
}

/** The value that an object has for a parameter, such as the name of a feature for `featureName`. */
function parameterValueIn(object: ApiObject, parameter: string): string | undefined {
  const candidates = /id$/i.test(parameter)
    ? [object['id'], object['uuid']]
    : /name$/i.test(parameter)
      ? [object['name']]
      : [object['name'], object['id']];
  if (parameter === 'token') candidates.unshift(object['secret']);
  const found = [object[parameter], ...candidates].find((value) => ['string', 'number'].includes(typeof value));
  return found === undefined || found === '' ? undefined : String(found);
}

/** Sets an entry of a map of maps as the newest one, and evicts the oldest one if there are too many. */
function setNewest<V>(maps: Map<string, Map<string, V>>, name: string, key: string, value: V): void {
  const entries = maps.get(name) ?? new Map<string, V>();
  maps.set(name, entries);
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > maxKnown) entries.delete(entries.keys().next().value as string);
}
