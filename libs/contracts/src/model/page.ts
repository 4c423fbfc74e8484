import { type Static, Type } from 'typebox';

/**
 * Which part of a list is asked for. Clients of Unleash read these lists whole, so without `limit` the rest of the list is answered.
 * @param items what the list is of
 */
export const optionalPage = (items: string) => ({
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: `the number of ${items} to skip; default: 0` }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: `the number of ${items} to return; default: all` }),
  ),
});

export const PageQuery = (items: string) => Type.Object(optionalPage(items));
export type Page = Static<ReturnType<typeof PageQuery>>;
