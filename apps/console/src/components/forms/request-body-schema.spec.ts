import {
  CreateContextField,
  CreateTagType,
  CreateUser,
  UpdateEnvironment,
  UpdateProjectSettings,
} from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { requestBodyOf, validationErrorOf, inputKindOf, formValuesOf } from './request-body-schema.ts';

describe('a form of the body of an operation', () => {
  it('knows from the schema how each member is entered', () => {
    expect(inputKindOf(CreateTagType.body, 'name')).toMatchObject({
      isRequired: true,
      isNumber: false,
      isSwitch: false,
    });
    expect(inputKindOf(CreateTagType.body, 'color')).toMatchObject({ isRequired: false });
    expect(inputKindOf(UpdateEnvironment.body, 'requiredApprovals')).toMatchObject({
      isNumber: true,
      isRequired: false,
    });
    expect(inputKindOf(CreateContextField.body, 'stickiness')).toMatchObject({ isSwitch: true });
    expect(inputKindOf(UpdateProjectSettings.body, 'mode').choices).toEqual(['open', 'protected', 'private']);
  });

  it('says in words what the server would refuse', () => {
    expect(validationErrorOf(CreateTagType.body, 'name', ' ')).toBe('Enter a value.');
    expect(validationErrorOf(CreateTagType.body, 'name', 'x')).toBe('Enter at least 2 characters.');
    expect(validationErrorOf(CreateTagType.body, 'name', 'two words')).toMatch(/^Use letters, digits/);
    expect(validationErrorOf(CreateUser.body, 'email', 'ada at example.org')).toMatch(/^Enter an email address/);
    expect(validationErrorOf(CreateUser.body, 'email', 'ada@example.org')).toBeUndefined();
    expect(validationErrorOf(CreateTagType.body, 'color', 'é'.repeat(51))).toBe('At most 50 characters: these are 51.');
    expect(validationErrorOf(UpdateEnvironment.body, 'requiredApprovals', '2.5')).toBe('Enter a whole number.');
    expect(validationErrorOf(UpdateEnvironment.body, 'requiredApprovals', '11')).toBe('Enter 10 or less.');
    expect(validationErrorOf(UpdateEnvironment.body, 'requiredApprovals', '')).toBeUndefined();
    expect(validationErrorOf(CreateContextField.body, 'name', 'region')).toBeUndefined();
    expect(validationErrorOf(UpdateProjectSettings.body, 'featureNaming.example', 'x'.repeat(101))).toMatch(
      /^At most 100/,
    );
  });

  it('sends null for what is emptied, numbers for digits, and texts without the white space around them', () => {
    const values = { name: ' region ', description: '', stickiness: true, sortOrder: '7' };
    expect(requestBodyOf(CreateContextField.body, values)).toEqual({
      name: 'region',
      description: null,
      stickiness: true,
      sortOrder: 7,
    });
    expect(requestBodyOf(CreateContextField.body, { sortOrder: '' })).toEqual({});
  });

  it('shows what is stored, with an empty text for what is not set, also inside of objects', () => {
    const stored = { featureLimit: 5, mode: 'open', featureNaming: { pattern: '^[a-z]+$' } };
    const values = formValuesOf(UpdateProjectSettings.body, stored);
    expect(values).toMatchObject({
      featureLimit: '5',
      mode: 'open',
      defaultStickiness: '',
      featureNaming: { pattern: '^[a-z]+$', example: '', description: '' },
    });
    expect(requestBodyOf(UpdateProjectSettings.body, values)).toEqual({
      featureLimit: 5,
      mode: 'open',
      featureNaming: { pattern: '^[a-z]+$', example: null, description: null },
    });
  });
});
