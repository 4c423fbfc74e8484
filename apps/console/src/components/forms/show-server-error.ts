import type { FieldPath, FieldValues, UseFormSetError } from 'react-hook-form';
import { ApiError } from '../../api/api-error.ts';

/**
 * Shows the details of a refusal at the fields that they name (`/body/name`). If none names a field, the message becomes the error of the
 * form (`formState.errors.root`). `fields` are the names of the form's fields.
 */
export const showServerError = <T extends FieldValues>(
  error: unknown,
  fields: readonly FieldPath<T>[],
  setError: UseFormSetError<T>,
): void => {
  if (!(error instanceof ApiError)) throw error;
  let isShown = false;
  for (const { path = '', message } of error.details) {
    const name = path.replace(/^\/body\//, '').replaceAll('/', '.');
    const field = fields.find((candidate) => candidate === name);
    if (field === undefined) continue;
    setError(field, { message }, { shouldFocus: !isShown });
    isShown = true;
  }
  if (!isShown) setError('root', { message: error.message });
};
