import { invalid, invalidProperty, type Refusal } from '../errors.ts';
import { type ClientFeaturesQuery, segmentListsVersion } from './client-features.ts';
import type { Tag } from '../features/tags.ts';
import type { Caller } from '../permissions.ts';
import { truncate } from '../values.ts';

/** The permissions of tokens for SDKs. An admin token has neither, and is valid in all projects and environments. */
const sdkPermissions: readonly string[] = ['CLIENT', 'FRONTEND'];

/** The environment that a token is bound to; an admin token is bound to none. */
export function boundEnvironment({ grants }: Caller): string | undefined {
  return grants.find(({ permission, environment }) => sdkPermissions.includes(permission) && environment !== undefined)
    ?.environment;
}

/** The ids of the projects that a token is for; `*` alone for all. */
export function grantedProjects({ grants }: Caller): readonly string[] {
  const projects = grants
    .filter(({ permission }) => sdkPermissions.includes(permission) || permission === 'ADMIN')
    .map(({ project }) => project ?? '*');
  return projects.includes('*') ? ['*'] : projects;
}

/** The features that an SDK receives, and their form. Where the SDK requests more than its token permits, the token decides. */
export interface DeliveryScope {
  readonly environment: string;
  /** sorted, without duplicates; undefined for every project */
  readonly projects?: readonly string[];
  /** deleted projects, sorted: SDKs may still have their features and get the removals */
  readonly deletedProjects?: readonly string[];
  readonly namePrefix?: string;
  /** only features with any of these tags; undefined for features with any tags or none */
  readonly tags?: readonly Tag[];
  /** whether strategies carry the constraints of their segments themselves */
  readonly inlineSegments: boolean;
  /** whether segments refer to their lists by hashes instead of carrying ids; for edges, which evaluate lists as gateways do */
  readonly listsByReference?: true;
}

/** Parses a tag of a query, `<type>:<value>`. @throws Refusal `ValidationError` */
export function parseTag(text: string, path: string): Tag {
  const colon = text.indexOf(':');
  if (colon < 1 || colon === text.length - 1) {
    throw invalid(`The \`${path}\` property must be \`<type>:<value>\`. You provided "${text}".`, path);
  }
  return { type: text.slice(0, colon), value: text.slice(colon + 1) };
}

/** The first version of the client specification (major, minor) with segments. */
const segmentsSpec = [4, 2] as const;

/**
 * Whether an SDK announces this version of the client specification, or a newer one, in `Unleash-Client-Spec`. A missing minor number
 * is 0: `5` is `5.0`. An SDK that announces no version, or one that is not a number, counts as older than every version.
 */
export function announcesClientSpec(clientSpec: unknown, [major, minor]: readonly [number, number]): boolean {
  const [announcedMajor = 0, announcedMinor = 0] =
    typeof clientSpec === 'string' ? clientSpec.split('.', 2).map(Number) : [];
  return announcedMajor > major || (announcedMajor === major && announcedMinor >= minor);
}

/** The projects whose features an SDK gets; undefined for every one. */
function projectsFor(caller: Caller, requested: readonly string[] | undefined): readonly string[] | undefined {
  const granted = grantedProjects(caller);
  return granted.includes('*') ? requested : granted;
}

/**
 * The scope of a request of an SDK.
 * @param environment one that the token of the caller is valid for
 * @throws Refusal `ValidationError` for a tag that is not `<type>:<value>`
 */
export function deliveryScope(
  caller: Caller,
  environment: string,
  query: Omit<ClientFeaturesQuery, 'environment'> = {},
): DeliveryScope {
  const projects = projectsFor(caller, query.project);
  const { deletedProjects = [] } = caller;
  const tags = query.tag?.map((tag, index) => parseTag(tag, `/query/tag/${index}`));
  const inlineSegments = !announcesClientSpec(query.clientSpec, segmentsSpec);
  return {
    environment,
    ...(projects === undefined ? {} : { projects: [...new Set(projects)].sort() }),
    ...(deletedProjects.length === 0 ? {} : { deletedProjects: deletedProjects.toSorted() }),
    ...(query.namePrefix === undefined ? {} : { namePrefix: query.namePrefix }),
    ...(tags === undefined ? {} : { tags }),
    inlineSegments,
    ...(query.segmentLists === segmentListsVersion && !inlineSegments ? { listsByReference: true } : {}),
  };
}

/** The scope as the member `query` of a response to an SDK shows it. */
export function scopeAsQuery({ environment, projects, namePrefix, tags, inlineSegments }: DeliveryScope) {
  return {
    environment,
    inlineSegmentConstraints: inlineSegments,
    ...(projects === undefined ? {} : { project: projects }),
    ...(namePrefix === undefined ? {} : { namePrefix }),
    ...(tags === undefined ? {} : { tag: tags.map(({ type, value }) => [type, value]) }),
  };
}

/** The cache key of a scope. Scopes with equal keys have the same responses: complete states and deltas. */
export function scopeKey(scope: DeliveryScope): string {
  const { deletedProjects = [], listsByReference = false } = scope;
  return JSON.stringify([scopeAsQuery(scope), deletedProjects, listsByReference]);
}

/** 400 for an environment that does not exist. */
export function noSuchDeliveryEnvironment(environment: string): Refusal {
  return invalidProperty(`Could not find environment ${truncate(environment, 200)}`, '/query/environment');
}
