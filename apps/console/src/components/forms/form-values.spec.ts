import { describe, expect, it } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import { showServerError } from './form-values.ts';

/** Where a form with the fields shows what the server refuses. */
function shownAt(error: ApiError, fields: readonly string[]) {
  const shown: Record<string, string | undefined> = {};
  showServerError<Record<string, unknown>>(error, fields, (field, { message }) => void (shown[field] = message));
  return shown;
}

describe('what the server refuses in a form', () => {
  const message = 'There is one already.';
  it.each([
    [['type', 'name', 'description'], 'name'],
    [['name', 'id', 'description'], 'id'],
    [['type', 'value'], 'value'],
    [['description', 'expiresAt'], 'description'],
    [['rootRole'], 'root'],
  ])('is beside the field of the name where a name is taken: of %j it is %s', (fields, field) => {
    expect(shownAt(new ApiError('NameExistsError', message), fields)).toEqual({ [field]: message });
  });

  it('is beside each field that it names, and else above the form', () => {
    const details = ['/body/name', '/body/featureNaming/pattern', '/body/tags'].map((path) => ({
      message: path,
      path,
    }));
    const error = new ApiError('ValidationError', message, { details });
    expect(shownAt(error, ['name', 'featureNaming.pattern'])).toEqual({
      name: '/body/name',
      'featureNaming.pattern': '/body/featureNaming/pattern',
    });
    expect(shownAt(error, ['id'])).toEqual({ root: message });
  });
});
