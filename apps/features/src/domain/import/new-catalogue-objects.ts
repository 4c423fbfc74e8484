import type { Constraint, Tag } from '@bunting/contracts';
import { invalidPropertyValue, shortName } from '../refusals.ts';
import { requireUrlFriendlyName } from '../names.ts';
import type { ContextField, SegmentReference, ProjectContext } from '../project-context.ts';
import type { ImportErrors } from './import-errors.ts';
import type { ContextFieldInFile, FileContent, Located, StrategyInFile } from './parse-import-file.ts';

/** A context field that the import creates. */
export interface NewContextField extends ContextField {
  readonly name: string;
  readonly description: string | null;
  readonly stickiness: boolean;
  readonly sortOrder: number;
  readonly legalValues: readonly { readonly value: string; readonly description?: string }[];
}

/** A tag type that the import creates. */
export interface NewTagType {
  readonly name: string;
  readonly description: string | null;
  readonly icon: string | null;
  readonly color: string | null;
}

const maxDescriptionLength = 250;
const maxLegalValueLength = 100;

const newContextField = ({ value: field, path }: Located<ContextFieldInFile>): NewContextField => {
  requireUrlFriendlyName(field.name, `${path}/name`);
  const description = field.description ?? null;
  if (description !== null && description.length > maxDescriptionLength) {
    throw invalidPropertyValue(
      `be at most ${maxDescriptionLength} characters long`,
      `${path}/description`,
      description,
    );
  }
  const legalValues = field.legalValues ?? [];
  const values = new Set<string>();
  for (const [index, { value }] of legalValues.entries()) {
    const valuePath = `${path}/legalValues/${index}/value`;
    if (value === '' || value.length > maxLegalValueLength)
      throw invalidPropertyValue(`have 1 to ${maxLegalValueLength} characters`, valuePath, value);
    if (values.has(value)) throw invalidPropertyValue('be listed once', valuePath, value);
    values.add(value);
  }
  return {
    name: field.name,
    description,
    stickiness: field.stickiness ?? false,
    sortOrder: Math.trunc(field.sortOrder ?? 0),
    legalValues: legalValues.map(({ value, description: text }) =>
      text === undefined || text === null ? { value } : { value, description: text },
    ),
  };
};

/** The context fields that the file defines and that are not here yet. */
export const newContextFields = (
  { contextFields }: FileContent,
  known: ProjectContext['contextFields'],
  errors: ImportErrors,
): NewContextField[] =>
  [...contextFields.values()].flatMap((field) => {
    if (known.has(field.value.name)) return [];
    return errors.capture(() => newContextField(field)) ?? [];
  });

/** The types of tags that the file defines and that are not here yet. */
export const newTagTypes = (
  { tagTypes }: FileContent,
  known: ReadonlySet<string>,
  errors: ImportErrors,
): NewTagType[] =>
  [...tagTypes.values()].flatMap(({ value, path }) => {
    if (known.has(value.name)) return [];
    return (
      errors.capture(() => {
        requireUrlFriendlyName(value.name, `${path}/name`, 50);
        return {
          name: value.name,
          description: value.description ?? null,
          icon: value.icon ?? null,
          color: value.color ?? null,
        };
      }) ?? []
    );
  });

/** The tags that no feature had before, each once. */
export const newTags = ({ entries }: FileContent, known: readonly Tag[]): Tag[] => {
  const keyOf = ({ type, value }: Tag): string => JSON.stringify([type, value]);
  const seen = new Set(known.map(keyOf));
  const found: Tag[] = [];
  for (const { tags } of entries.values()) {
    for (const { value } of tags) {
      if (seen.has(keyOf(value))) continue;
      seen.add(keyOf(value));
      found.push({ type: value.type, value: value.value });
    }
  }
  return found;
};

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
export const requireContextFields = (
  constraints: readonly Constraint[],
  known: ReadonlyMap<string, ContextField>,
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
