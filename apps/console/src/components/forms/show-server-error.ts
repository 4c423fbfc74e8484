import type { FieldPath, FieldValues, UseFormSetError } from 'react-hook-form';
import { ApiError } from '../../api/api-error.ts';

/**
 * Shows what the server refused at the fields that it names (`/body/name`), and the rest as the error of the form
 * (`formState.errors.root`). `fields` are the names of the form's fields.
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
    const field = fields.find((one) => one === name);
    if (field === undefined) continue;
    setError(field, { message }, { shouldFocus: !isShown });
    isShown = true;
  }
  if (!isShown) setError('root', { message: error.message });
};
