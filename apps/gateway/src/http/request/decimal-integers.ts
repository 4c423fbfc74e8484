import { invalid, isObjectSchema, quoteValue } from '@bunting/contracts';
import type { TSchema } from 'typebox';

const decimal = /^-?[0-9]+$/;

/**
 * Returns a function that refuses integers of a URL that are not in decimal digits: the conversion of texts to the types of a schema would
 * accept `0x10`, `1e3` and ` 1`. A list is refused by its schema.
 * @param path JSON pointer of the values within the request, such as `/params`
 * @throws Refusal `ValidationError`
 */
export const requireDecimalIntegers = (
  schema: TSchema,
  path: '/params' | '/query',
): ((values: Readonly<Record<string, unknown>>) => void) => {
  const properties = isObjectSchema(schema) ? Object.entries(schema.properties) : [];
  const integers = properties
    .filter(([, property]) => (property as { type?: unknown }).type === 'integer')
    .map(([name]) => name);
  return (values) => {
    for (const name of integers) {
      const value = values[name];
      if (typeof value !== 'string' || decimal.test(value)) continue;
      const at = `${path}/${name}`;
      throw invalid(`The \`${at}\` property must be integer. You sent ${quoteValue(value)}.`, at);
    }
  };
};
