import { CreateContextFieldBody, type Tag, TagTypeBody } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type ContextFieldDecision, newContextField } from '../context-fields/context-field.ts';
import { newTagType, type TagTypeDecision } from '../tags/tag-type.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import type { ImportErrors } from './import-errors.ts';
import type { FileContent } from './parse-import-file.ts';

/** The context fields that the file defines and this instance lacks, validated like those of requests. */
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
        // Sort orders in files may be fractions or negative, those in requests may not.
        return newContextField({ ...body, sortOrder: Math.trunc(sortOrder) }, path);
      }) ?? []
    );
  });

/** The tag types that the file defines and this instance lacks, validated like those of requests. */
export const newTagTypes = (
  { tagTypes }: FileContent,
  known: ReadonlySet<string>,
  errors: ImportErrors,
): TagTypeDecision<'tag-type-created'>[] =>
  [...tagTypes.values()].flatMap(({ value, path }) => {
    if (known.has(value.name)) return [];
    return errors.capture(() => newTagType(parse(TagTypeBody, value, path), path)) ?? [];
  });

/** The tags of the file that the catalogue of tags lacks, each once. @param known the tags of the file that it has */
export const newTags = ({ entries }: FileContent, known: readonly Tag[]): Tag[] => {
  const keyOf = ({ type, value }: Tag): string => JSON.stringify([type, value]);
  const knownKeys = new Set(known.map(keyOf));
  const added: Tag[] = [];
  for (const { tags } of entries.values()) {
    for (const { value } of tags) {
      if (knownKeys.has(keyOf(value))) continue;
      knownKeys.add(keyOf(value));
      added.push({ type: value.type, value: value.value });
    }
  }
  return added;
};
