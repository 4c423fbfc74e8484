import type { Constraint, Tag } from '@bunting/contracts';
import { mustBe, named } from '../refusals.ts';
import { requireUrlFriendlyName } from '../names.ts';
import type { ContextField, SegmentReference, Surroundings } from '../surroundings.ts';
import type { Faults } from './faults.ts';
import type { ContextFieldInFile, FileContent, Placed, StrategyInFile } from './file.ts';

/** A context field that the import brings along. */
export interface NewContextField extends ContextField {
  readonly name: string;
  readonly description: string | null;
  readonly stickiness: boolean;
  readonly sortOrder: number;
  readonly legalValues: readonly { readonly value: string; readonly description?: string }[];
}

/** A type of tags that the import brings along. */
export interface NewTagType {
  readonly name: string;
  readonly description: string | null;
  readonly icon: string | null;
  readonly color: string | null;
}

const longestDescription = 250;
const longestLegalValue = 100;

const newContextField = ({ it, path }: Placed<ContextFieldInFile>): NewContextField => {
  requireUrlFriendlyName(it.name, `${path}/name`);
  const description = it.description ?? null;
  if (description !== null && description.length > longestDescription) {
    throw mustBe(`be at most ${longestDescription} characters long`, `${path}/description`, description);
  }
  const legalValues = it.legalValues ?? [];
  const values = new Set<string>();
  for (const [index, { value }] of legalValues.entries()) {
    const at = `${path}/legalValues/${index}/value`;
    if (value === '' || value.length > longestLegalValue)
      throw mustBe(`have 1 to ${longestLegalValue} characters`, at, value);
    if (values.has(value)) throw mustBe('be listed once', at, value);
    values.add(value);
  }
  return {
    name: it.name,
    description,
    stickiness: it.stickiness ?? false,
    sortOrder: Math.trunc(it.sortOrder ?? 0),
    legalValues: legalValues.map(({ value, description: text }) =>
      text === undefined || text === null ? { value } : { value, description: text },
    ),
  };
};

/** The context fields that the file defines and that are not here yet. */
export const newContextFields = (
  { contextFields }: FileContent,
  known: Surroundings['contextFields'],
  faults: Faults,
): NewContextField[] =>
  [...contextFields.values()].flatMap((field) => {
    if (known.has(field.it.name)) return [];
    return faults.unlessRefused(() => newContextField(field)) ?? [];
  });

/** The types of tags that the file defines and that are not here yet. */
export const newTagTypes = ({ tagTypes }: FileContent, known: ReadonlySet<string>, faults: Faults): NewTagType[] =>
  [...tagTypes.values()].flatMap(({ it, path }) => {
    if (known.has(it.name)) return [];
    return (
      faults.unlessRefused(() => {
        requireUrlFriendlyName(it.name, `${path}/name`, 50);
        return {
          name: it.name,
          description: it.description ?? null,
          icon: it.icon ?? null,
          color: it.color ?? null,
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
    for (const { it } of tags) {
      if (seen.has(keyOf(it))) continue;
      seen.add(keyOf(it));
      found.push({ type: it.type, value: it.value });
    }
  }
  return found;
};

/** Our segments for those that a strategy names by the ids of its file: found by name, and none is left out. */
export const segmentsOf = (
  { it, path }: Placed<StrategyInFile>,
  inFile: FileContent['segments'],
  ours: ReadonlyMap<string, SegmentReference>,
  faults: Faults,
): number[] =>
  (it.segments ?? []).flatMap((id, index) => {
    const name = inFile.get(id);
    if (name === undefined) {
      faults.add(`The file is not whole: it does not name the segment ${id}`, `${path}/segments/${index}`);
      return [];
    }
    const segment = ours.get(name.it);
    if (segment === undefined) faults.missing(`Segment "${named(name.it)}"`, name.path, it.featureName);
    return segment?.id ?? [];
  });

/** Notes the context fields that are neither here nor in the file; false when there are such. */
export const requireContextFields = (
  constraints: readonly Constraint[],
  known: ReadonlyMap<string, ContextField>,
  { it, path }: Placed<StrategyInFile>,
  faults: Faults,
): boolean => {
  const isKnown = constraints.map(({ contextName }, index) => {
    if (known.has(contextName)) return true;
    const at = `${path}/constraints/${index}/contextName`;
    faults.missing(`Context field "${named(contextName)}"`, at, it.featureName);
    return false;
  });
  return !isKnown.includes(false);
};
