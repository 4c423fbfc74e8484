import type { FieldPath, FieldValues, UseFormSetError } from 'react-hook-form';
import { serverNow } from '../../api/server-clock.ts';
import { ApiError } from '../../api/api-error.ts';
import { explainError } from '../../text/explain-error.ts';

/** The trimmed text of a field; undefined where it is empty. */
export function textOrUndefined(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** The instant `days` days from now, in the format of RFC 3339; undefined where `days` is empty, which means no end. */
export function instantAfterDays(days: string | boolean | undefined): string | undefined {
  return typeof days !== 'string' || days === ''
    ? undefined
    : new Date(serverNow() + Number(days) * 86_400_000).toISOString();
}

/** The options of a select from pairs of an id and a label. */
export function optionsOfPairs(pairs: readonly (readonly [string, string])[]) {
  return pairs.map(([id, label]) => ({ id, label }));
}

/** For how many days a token may work; the last one is no end. */
export const tokenLifetimes = optionsOfPairs([
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
  ['', 'as long as it exists'],
]);

/** What must be unique, the first of them that a form has: a project has a name besides its id, and a tag is a value of a type. */
const uniqueFields = ['id', 'name', 'value', 'description'];

/**
 * Shows the details of a refusal at the fields that they name (`/body/name`), and that a name is taken at the field of the name. If no field
 * is meant, the message becomes the error of the form (`formState.errors.root`). `fields` are the names of the form's fields.
 */
export function showServerError<T extends FieldValues>(
  error: unknown,
  fields: readonly FieldPath<T>[],
  setError: UseFormSetError<T>,
): void {
  if (!(error instanceof ApiError)) throw error;
  let isShown = false;
  for (const { path = '', message } of error.details) {
    const name = path.replace(/^\/body\//, '').replaceAll('/', '.');
    const field = fields.find((candidate) => candidate === name);
    if (field === undefined) continue;
    setError(field, { message }, { shouldFocus: !isShown });
    isShown = true;
  }
  if (isShown) return;
  const unique = uniqueFields.flatMap((name) => fields.filter((field) => field === name))[0];
  if (error.kind === 'NameExistsError' && unique !== undefined)
    return setError(unique, { message: explainError(error) }, { shouldFocus: true });
  setError('root', { message: explainError(error) });
}
