import { invalid, refusal, urlFriendlyError } from '@bunting/contracts';
import { RE2JS } from 're2js';
import { invalidValue, shortName } from './refusals.ts';

/**
 * Holds a name to the rule that features, variants, projects, context fields and types of tags share: it needs no escape in
 * a URL (docs/behaviour.md, Names).
 */
export const requireUrlFriendlyName = (name: string, path = '/body/name', most = 100): void => {
  const fault = urlFriendlyError(name, most);
  if (fault === undefined) return;
  if (name === '') throw invalid(`The \`${shortName(path)}\` property ${fault}.`, shortName(path));
  throw invalidValue(fault.slice('must '.length), path, name);
};

/** The pattern for the names of a project's new features. */
export interface FeatureNaming {
  readonly pattern?: string | null;
  readonly example?: string | null;
  readonly description?: string | null;
}

/** Holds the name of a new feature to its project's pattern, in time that grows with the name alone. */
export const requireMatchingName = (
  name: string,
  naming: FeatureNaming | null | undefined,
  path = '/body/name',
): void => {
  if (!naming?.pattern || RE2JS.compile(`^(?:${naming.pattern})$`).matcher(name).matches()) return;
  const example = naming.example
    ? ` Here's an example of a name that does match the pattern: "${naming.example}"."`
    : '';
  const description = naming.description ? ` The pattern's description is: "${naming.description}"` : '';
  throw refusal(
    'PatternError',
    `The feature flag name "${shortName(name)}" does not match the project's naming pattern: "${naming.pattern}".${example}${description}`,
    { details: [{ message: 'The flag name does not match the pattern.', path }] },
  );
};
