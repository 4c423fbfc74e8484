import type { Constraint } from '@bunting/contracts';
import { shortName } from '../refusals.ts';
import type { ContextFieldReference, SegmentReference } from '../projects/project-context.ts';
import type { ImportErrors } from './import-errors.ts';
import type { FileContent, Located, StrategyInFile } from './parse-import-file.ts';

/** Maps the segment ids of a file's strategy to stored segments of the same name, or reports those that are missing. */
export const resolveSegments = (
  { value, path }: Located<StrategyInFile>,
  inFile: FileContent['segments'],
  stored: ReadonlyMap<string, SegmentReference>,
  errors: ImportErrors,
): number[] =>
  (value.segments ?? []).flatMap((id, index) => {
    const name = inFile.get(id);
    if (name === undefined) {
      errors.add(`The file is not whole: it does not name the segment ${id}`, `${path}/segments/${index}`);
      return [];
    }
    const segment = stored.get(name.value);
    if (segment === undefined) errors.addMissing(`Segment "${shortName(name.value)}"`, name.path, value.featureName);
    return segment?.id ?? [];
  });

/** Adds an error for each context field that neither this instance nor the file has. Returns whether there is none. */
export const reportMissingContextFields = (
  constraints: readonly Constraint[],
  known: ReadonlyMap<string, ContextFieldReference>,
  { value, path }: Located<StrategyInFile>,
  errors: ImportErrors,
): boolean => {
  const areKnown = constraints.map(({ contextName }, index) => {
    if (known.has(contextName)) return true;
    const fieldPath = `${path}/constraints/${index}/contextName`;
    errors.addMissing(`Context field "${shortName(contextName)}"`, fieldPath, value.featureName);
    return false;
  });
  return !areKnown.includes(false);
};
