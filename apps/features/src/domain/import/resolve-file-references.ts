import type { Constraint } from '@bunting/contracts';
import { shortName } from '../refusals.ts';
import type { ContextFieldReference, SegmentReference } from '../project-context.ts';
import type { ImportErrors } from './import-errors.ts';
import type { FileContent, Located, StrategyInFile } from './parse-import-file.ts';

/** Maps the segment ids of a file's strategy to stored segments of the same name, or reports those that are missing. */
export const resolveSegments = (
  { value, path }: Located<StrategyInFile>,
  inFile: FileContent['segments'],
  ours: ReadonlyMap<string, SegmentReference>,
  errors: ImportErrors,
): number[] =>
  (value.segments ?? []).flatMap((id, index) => {
    const name = inFile.get(id);
    if (name === undefined) {
      errors.add(`The file is not whole: it does not name the segment ${id}`, `${path}/segments/${index}`);
      return [];
    }
    const segment = ours.get(name.value);
    if (segment === undefined) errors.addMissing(`Segment "${shortName(name.value)}"`, name.path, value.featureName);
    return segment?.id ?? [];
  });

/** Notes the context fields that are neither here nor in the file; false when there are such. */
export const reportMissingContextFields = (
  constraints: readonly Constraint[],
  known: ReadonlyMap<string, ContextFieldReference>,
  { value, path }: Located<StrategyInFile>,
  errors: ImportErrors,
): boolean => {
  const isKnown = constraints.map(({ contextName }, index) => {
    if (known.has(contextName)) return true;
    const fieldPath = `${path}/constraints/${index}/contextName`;
    errors.addMissing(`Context field "${shortName(contextName)}"`, fieldPath, value.featureName);
    return false;
  });
  return !isKnown.includes(false);
};
