import { CreateContextFieldBody, type Tag, TagTypeBody } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type ContextFieldDecision, newContextField } from '../constraints/context-field.ts';
import { newTagType, type TagTypeDecision } from '../tags/tag-type.ts';
import type { ProjectContext } from '../project-context.ts';
import type { ImportErrors } from './import-errors.ts';
import type { FileContent } from './parse-import-file.ts';

/** The context fields that the file defines and that are not here yet; an import may store what a request may. */
export const newContextFields = (
  { contextFields }: FileContent,
  known: ProjectContext['contextFields'],
  errors: ImportErrors,
): ContextFieldDecision<'context-field-created'>[] =>
  [...contextFields.values()].flatMap(({ value: { sortOrder = 0, ...field }, path }) => {
    if (known.has(field.name)) return [];
    return (
      errors.capture(() => {
        const body = parse(CreateContextFieldBody, field, path);
        // Files have fractions and negative numbers as positions, which requests may not have.
        return newContextField({ ...body, sortOrder: Math.trunc(sortOrder) }, path);
      }) ?? []
    );
  });

/** The types of tags that the file defines and that are not here yet; an import may store what a request may. */
export const newTagTypes = (
  { tagTypes }: FileContent,
  known: ReadonlySet<string>,
  errors: ImportErrors,
): TagTypeDecision<'tag-type-created'>[] =>
  [...tagTypes.values()].flatMap(({ value, path }) => {
    if (known.has(value.name)) return [];
    return errors.capture(() => newTagType(parse(TagTypeBody, value, path), path)) ?? [];
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
