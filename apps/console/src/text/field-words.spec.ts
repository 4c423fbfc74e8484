import { httpOperations, Refusal } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { errorOfResponse } from '../api/api-error.ts';
import { explainError } from './explain-error.ts';
import { fieldWords, pathWords } from './field-words.ts';

/** What a person reads of a refusal that the gateway answers with. */
function shown({ message, details, permissions, kind = 'ValidationError' }: Partial<Refusal> & { kind?: string }) {
  const body = { id: '1', name: kind, message, details, permissions };
  return explainError(errorOfResponse(new Response(null, { status: 400 }), body));
}

describe('an error of the server', () => {
  it.each([
    ['/body/scheduledAt', '“Scheduled at”'],
    ['/payload/constraints/0/values', '“Values” of constraint 1'],
    ['/body/strategies/2/variants/0/payload/value', '“Value” of variant 1 of strategy 3'],
    ['/body/0/payload/id', '“Id” of item 1'],
    ['/body/parameters/rollout', '“Share of users” of “Parameters”'],
    ['/body/payload/constraints/0/values', '“Values” of constraint 1'],
    ['/body', 'What was sent'],
  ])('names %s in words', (path, words) => {
    expect(fieldWords(path)).toBe(words);
  });

  it.each([
    [
      'The `/body/scheduledAt` property must be in the future. You provided "2026-01-01T00:00:00.000Z".',
      '“Scheduled at” must be in the future. You provided "2026-01-01T00:00:00.000Z".',
    ],
    [
      'growth.pricing-page: The `/payload/constraints/0/values` property must contain at least 1 items. You provided []',
      'growth.pricing-page: “Values” of constraint 1 must contain at least one.',
    ],
    ['Line 2 of the `/body` property must be a JSON text.', 'Line 2 of what was sent must be a JSON text.'],
    ["Tag type 'colour' does not exist: see the `/body/tags/1/type` property.", "Tag type 'colour' does not exist."],
    [
      'The request must say which features: see the `/body/features`, `/body/tag` and `/body/project` properties.',
      'The request must say which features.',
    ],
    ['The `/body/name` property is required. It was not present on the data you sent.', '“Name” is required.'],
  ])('is a sentence in field words: %s', (message, sentence) => {
    expect(shown({ message })).toBe(sentence);
  });

  it('calls the purpose of a token what its form calls it', () => {
    const message = 'PAT description already exists.';
    expect(shown({ kind: 'NameExistsError', message })).toBe('There is a token for that already.');
  });

  it('says once which permission is missing, and sends no author to an administrator', () => {
    const message =
      'You don\'t have the required permissions to perform this operation. You need the "APPROVE_CHANGE_REQUEST" permission to perform this action in the "production" environment.';
    expect(shown({ kind: 'NoAccessError', message, permissions: ['APPROVE_CHANGE_REQUEST'] })).toBe(
      'You may not do this in production: it takes the permission “Approve and reject change requests”, which an owner of the project can give you.',
    );
    expect(shown({ kind: 'NoAccessError', message: 'Not for you', permissions: ['ADMIN', 'UPDATE_TAG_TYPE'] })).toBe(
      'Not for you. It takes the permission “Update tag types”, which an administrator can give you.',
    );
    expect(shown({ message: 'The service account lacks the permission "UPDATE_FEATURE"' })).toBe(
      'The service account lacks the permission “Update feature flags”',
    );
    const own = 'Authors can not review their own change request';
    expect(shown({ kind: 'NoAccessError', message: own })).toBe(`${own}.`);
    expect(shown({ kind: 'NoAccessError', message: 'You may not.' })).toBe(
      'You may not. An administrator can give you access.',
    );
  });

  const hostile: readonly unknown[] = [
    undefined,
    null,
    'text',
    [],
    [{}],
    {},
    { name: {}, title: [], constraints: [{}], variants: [{ weight: -1 }], parameters: 7, values: [[]], id: 'x' },
    { unknown: { nested: [undefined] }, permissions: [{ name: [] }], users: [{ user: null }], reviewers: [{}] },
  ];
  const writes = httpOperations.filter(({ body }) => body !== undefined);

  it.each(writes.map((operation) => [operation.operationId, operation] as const))(
    'about the body of %s has no JSON pointer and no value that is no text',
    (_name, { body }) => {
      for (const value of hostile) {
        let refusal: unknown;
        try {
          parse(body as object, structuredClone(value), '/body');
        } catch (error) {
          refusal = error;
        }
        if (!(refusal instanceof Refusal)) continue;
        const error = errorOfResponse(new Response(null, { status: 400 }), {
          ...refusal,
          name: refusal.kind,
          message: refusal.message,
        });
        for (const text of [explainError(error), ...error.details.map(({ message }) => message)]) {
          expect(text).not.toMatch(/`\/|\/body|\bundefined\b|\[object/);
          expect(text).not.toBe('');
        }
      }
    },
  );
});

describe('a field that two people have edited', () => {
  it.each([
    [['parameters', 'rollout'], 'Share of users'],
    [['variants', 'red', 'payload', 'value'], 'Variants › red › Payload › Value'],
    [['variants', 'red', 'weight'], 'Variants › red › Percent'],
    [['legalValues'], 'Legal values'],
  ])('is named as its form names it: %j', (path, words) => {
    expect(pathWords(path)).toBe(words);
  });
});
