import { type Static, Type } from 'typebox';

/**
 * The parameters of a page of a list. Clients of Unleash expect the complete list, so without `limit` the reply has all items after
 * `offset`.
 * @param items the plural noun of the items, for the descriptions
 */
export const optionalPageParameters = (items: string) => ({
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: `the number of ${items} to skip; default: 0` }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: `the number of ${items} to return; default: all` }),
  ),
});

export const PageQuery = (items: string) => Type.Object(optionalPageParameters(items));
export type PageParameters = Static<ReturnType<typeof PageQuery>>;
