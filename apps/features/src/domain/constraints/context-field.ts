import { type LegalValue, maxLegalValues, type UpdateContextFieldBody } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../names.ts';
import { invalidValue, limitExceeded } from '../refusals.ts';

/** A field of the context in which flags are evaluated. */
export interface StoredContextField {
  readonly name: string;
  readonly description: string | null;
  readonly stickiness: boolean;
  readonly sortOrder: number;
  /** the only values that constraints may use; any, when there are none */
  readonly legalValues: readonly LegalValue[];
}

const requireEachOnce = (legalValues: readonly LegalValue[]): void => {
  const values = new Set<string>();
  for (const [index, { value }] of legalValues.entries()) {
    if (values.has(value)) throw invalidValue('be listed once', `/body/legalValues/${index}/value`, value);
    values.add(value);
  }
};

/** The context field after an update. Omitted properties are cleared, except the sort order. */
export const contextFieldAfter = (
  { name, sortOrder }: Pick<StoredContextField, 'name' | 'sortOrder'>,
  body: UpdateContextFieldBody,
): StoredContextField => {
  const legalValues = body.legalValues ?? [];
  requireEachOnce(legalValues);
  return {
    name,
    description: body.description ?? null,
    stickiness: body.stickiness ?? false,
    sortOrder: body.sortOrder ?? sortOrder,
    legalValues: legalValues.map(({ value, description }) =>
      description === undefined || description === null ? { value } : { value, description },
    ),
  };
};

/** A new context field. Whether its name is free is not decided here. */
export const newContextField = ({ name, ...body }: UpdateContextFieldBody & { name: string }): StoredContextField => {
  requireUrlFriendlyName(name);
  return contextFieldAfter({ name, sortOrder: 0 }, body);
};

/** The field with the legal value added, or replaced if it has the value already. */
export const withLegalValue = (field: StoredContextField, legalValue: LegalValue): StoredContextField => {
  const isThere = field.legalValues.some(({ value }) => value === legalValue.value);
  if (!isThere && field.legalValues.length >= maxLegalValues) throw limitExceeded('legal value', maxLegalValues);
  const legalValues = isThere
    ? field.legalValues.map((one) => (one.value === legalValue.value ? legalValue : one))
    : [...field.legalValues, legalValue];
  return contextFieldAfter(field, { ...field, legalValues });
};

/** The field without the legal value. */
export const withoutLegalValue = (field: StoredContextField, value: string): StoredContextField => ({
  ...field,
  legalValues: field.legalValues.filter((one) => one.value !== value),
});
