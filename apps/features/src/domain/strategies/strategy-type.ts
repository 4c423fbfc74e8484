import type { UpdateStrategyTypeBody } from '@bunting/contracts';
import { invalidValue } from '../refusals.ts';

/** A kind of strategies: a built-in one, or one that SDKs of the users evaluate. */
export interface StoredStrategyType {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly parameters: readonly Readonly<Record<string, unknown>>[];
  readonly builtIn: boolean;
  readonly deprecated: boolean;
}

/** A type of strategies as clients see it. */
export const publicStrategyType = ({ builtIn, parameters, ...type }: StoredStrategyType) => ({
  ...type,
  displayName: type.title ?? type.name,
  editable: !builtIn,
  parameters: [...parameters],
});

/** A strategy type in its stored form: parameters without duplicates, with all defaults. */
export const strategyTypeAfter = (before: StoredStrategyType, body: UpdateStrategyTypeBody): StoredStrategyType => {
  const names = new Set<string>();
  for (const [index, { name }] of body.parameters.entries()) {
    if (names.has(name)) throw invalidValue('be listed once', `/body/parameters/${index}/name`, name);
    names.add(name);
  }
  return {
    ...before,
    title: body.title === undefined ? before.title : body.title,
    description: body.description === undefined ? before.description : body.description,
    parameters: body.parameters.map(({ name, type = 'string', description = '', required = false }) => ({
      name,
      type,
      description,
      required,
    })),
  };
};
