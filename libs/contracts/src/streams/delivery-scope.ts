import { invalid, invalidProperty, type Refusal } from '../errors.ts';
import type { ClientFeaturesQuery } from '../model/sdks/client-feature.ts';
import type { Tag } from '../model/features/tag.ts';
import type { Caller } from '../permissions.ts';
import { truncate } from '../text/quote-value.ts';

// The access of an SDK's token. An admin token is valid in all projects and environments.

const sdkPermissions: readonly string[] = ['CLIENT', 'FRONTEND'];

/** The environment that a token is bound to; an admin token is bound to none. */
export const boundEnvironment = ({ grants }: Caller): string | undefined =>
  grants.find(({ permission, environment }) => sdkPermissions.includes(permission) && environment !== undefined)
    ?.environment;

/** The projects that a token is for, `*` for all. */
export const grantedProjects = ({ grants }: Caller): readonly string[] => {
  const projects = grants
    .filter(({ permission }) => sdkPermissions.includes(permission) || permission === 'ADMIN')
    .map(({ project }) => project ?? '*');
  return projects.includes('*') ? ['*'] : projects;
};

/** Which features an SDK receives, and in what form. The limits of its token override what it requests. */
export interface DeliveryScope {
  readonly environment: string;
  /** sorted, without duplicates; undefined for every project */
  readonly projects?: readonly string[];
  /** deleted projects, sorted: SDKs may still have their features and get the removals */
  readonly deletedProjects?: readonly string[];
  readonly namePrefix?: string;
  /** features with any of these */
  readonly tags?: readonly Tag[];
  /** whether strategies carry the constraints of their segments themselves */
  readonly inlineSegments: boolean;
}

/** Parses a tag of a query. @throws Refusal `ValidationError` */
export const writtenTag = (written: string, path: string): Tag => {
  const end = written.indexOf(':');
  if (end < 1 || end === written.length - 1) {
    throw invalid(`The \`${path}\` property must be \`<type>:<value>\`. You provided "${written}".`, path);
  }
  return { type: written.slice(0, end), value: written.slice(end + 1) };
};

/** The first version of the client specification with segments. */
const segmentsSpec = [4, 2] as const;

/**
 * Whether an SDK names at least a version of the client specification in `Unleash-Client-Spec`. A version without a minor number counts
 * as its first: `5` as `5.0`. No version, or one that is not a number, is older than any.
 */
export const announcesClientSpec = (clientSpec: unknown, [major, minor]: readonly [number, number]): boolean => {
  const [announcedMajor = 0, announcedMinor = 0] =
    typeof clientSpec === 'string' ? clientSpec.split('.', 2).map(Number) : [];
  return announcedMajor > major || (announcedMajor === major && announcedMinor >= minor);
};

/** The projects whose features an SDK gets; undefined for every one. */
const projectsFor = (caller: Caller, request: readonly string[] | undefined): readonly string[] | undefined => {
  const ofToken = grantedProjects(caller);
  return ofToken.includes('*') ? request : ofToken;
};

/** @param environment one that the token is valid for */
export const deliveryScope = (
  caller: Caller,
  environment: string,
  query: Omit<ClientFeaturesQuery, 'environment'> = {},
): DeliveryScope => {
  const projects = projectsFor(caller, query.project);
  const { deletedProjects = [] } = caller;
  const tags = query.tag?.map((written, nth) => writtenTag(written, `/query/tag/${nth}`));
  return {
    environment,
    ...(projects === undefined ? {} : { projects: [...new Set(projects)].sort() }),
    ...(deletedProjects.length === 0 ? {} : { deletedProjects: deletedProjects.toSorted() }),
    ...(query.namePrefix === undefined ? {} : { namePrefix: query.namePrefix }),
    ...(tags === undefined ? {} : { tags }),
    inlineSegments: !announcesClientSpec(query.clientSpec, segmentsSpec),
  };
};

/** The scope in the form of the response, which repeats it. */
export const describeScope = ({ environment, projects, namePrefix, tags, inlineSegments }: DeliveryScope) => ({
  environment,
  inlineSegmentConstraints: inlineSegments,
  ...(projects === undefined ? {} : { project: projects }),
  ...(namePrefix === undefined ? {} : { namePrefix }),
  ...(tags === undefined ? {} : { tag: tags.map(({ type, value }) => [type, value]) }),
});

/** The cache key of a scope: equal for scopes with the same complete states and deltas. */
export const scopeKey = (scope: DeliveryScope): string =>
  JSON.stringify([describeScope(scope), scope.deletedProjects ?? []]);

/** 400 for an environment that does not exist. */
export const noSuchDeliveryEnvironment = (environment: string): Refusal =>
  invalidProperty(`Could not find environment ${truncate(environment, 200)}`, '/query/environment');
