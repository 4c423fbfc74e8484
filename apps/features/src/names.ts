import { invalid, refusal, reservedNameError, urlFriendlyError } from '@bunting/contracts';
import { RE2JS } from 're2js';
import { invalidPropertyValue, shortName } from './refusals.ts';

/**
 * Validates the name of a feature, variant, project, environment, context field or tag type: it must need no escape in a URL
 * (docs/behaviour.md, Names).
 */
export function requireUrlFriendlyName(name: string, path = '/body/name', maxLength = 100): void {
  const fault = urlFriendlyError(name, maxLength);
  if (fault === undefined) return;
  if (!fault.startsWith('must ')) throw invalid(`The \`${shortName(path)}\` property ${fault}.`, shortName(path));
  throw invalidPropertyValue(fault.slice('must '.length), path, name);
}

/** Refuses a reserved name, where a name may have characters that need an escape in a URL. */
export function requireUnreservedName(name: string, path: string): void {
  const fault = reservedNameError(name);
  if (fault !== undefined) throw invalid(`The \`${path}\` property ${fault}.`, path);
}

/** The pattern for the names of a project's new features. */
export interface FeatureNaming {
  readonly pattern?: string | null;
  readonly example?: string | null;
  readonly description?: string | null;
}

/** Validates the name of a new feature against its project's pattern, in time linear in the length of the name. */
export function requireMatchingName(name: string, naming: FeatureNaming | null | undefined, path = '/body/name'): void {
  if (!naming?.pattern || RE2JS.compile(`^(?:${naming.pattern})$`).matcher(name).matches()) return;
  // The last quotation mark is Unleash's.
  const example = naming.example
    ? ` Here's an example of a name that does match the pattern: "${naming.example}"."`
    : '';
  const description = naming.description ? ` The pattern's description is: "${naming.description}"` : '';
  throw refusal(
    'PatternError',
    `The feature flag name "${shortName(name)}" does not match the project's naming pattern: "${naming.pattern}".${example}${description}`,
    { details: [{ message: 'The flag name does not match the pattern.', path }] },
  );
}

/** An object that uses another one, and its project. */
export interface Referrer {
  readonly name: string;
  readonly project: string;
}

const maxListed = 10;

/** Lists referrers for an error message. Those in projects hidden from the caller are only counted. */
export function formatReferrers(referrers: readonly Referrer[], hidden: readonly string[]): string {
  const distinctReferrers = [...new Map(referrers.map((referrer) => [referrer.name, referrer])).values()];
  const visible = distinctReferrers.filter(({ project }) => !hidden.includes(project));
  const listed = visible.slice(0, maxListed).map(({ name }) => shortName(name));
  const names = [...listed, ...(visible.length > maxListed ? ['…'] : [])].join(', ');
  const hiddenCount = distinctReferrers.length - visible.length;
  if (hiddenCount === 0) return names;
  const others = hiddenCount === 1 ? '1 other' : `${hiddenCount} others`;
  return names === '' ? others : `${names} and ${others}`;
}

/**
 * Refuses to delete an object that others refer to.
 * @param object the kind and the name of the object, such as `Segment beta`
 */
export function requireUnused(object: string, referrers: readonly Referrer[], hidden: readonly string[]): void {
  if (referrers.length > 0)
    throw refusal('ConflictError', `${object} is in use by ${formatReferrers(referrers, hidden)}`);
}

/** The limits on resources that no setting changes. Except for that on patterns of `REGEX`, they are those of Unleash. */
export const fixedResourceLimits = {
  linksPerFeature: 10,
  strategiesPerEnvironment: 30,
  constraintsPerStrategy: 30,
  valuesPerConstraint: 250,
  regexInstructions: 250,
  valuesPerSegment: 1000,
  segmentsPerStrategy: 5,
  environments: 50,
} as const;

/** The maximum sort order of strategies and environments. */
export const maxSortOrder = 1_000_000_000;
