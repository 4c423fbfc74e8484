import { expect, it } from 'vitest';
import { acceptsProblemJson } from '../errors.ts';

it.each([
  'application/problem+json',
  'Application/Problem+JSON',
  'application/json, application/problem+json',
  'application/problem+json;q=0.5, */*;q=0.1',
  'application/json;q=0.4, application/problem+json;q=0.5',
  'text/html, application/problem+json ; q=1.0',
])('a client with the Accept header %j gets problem+json', (accept) => {
  expect(acceptsProblemJson(accept)).toBe(true);
});

it.each([
  undefined,
  '',
  '*/*',
  'application/*',
  'application/json',
  'application/problem+json;q=0',
  'application/problem+json;q=nonsense',
  'application/problem+json;q=2',
  'application/problem+json;q=0.4, application/json',
  'application/problem+jsonp',
  `application/problem+json${','.repeat(5_000)}`,
])('a client with the Accept header %j gets plain JSON', (accept) => {
  expect(acceptsProblemJson(accept)).toBe(false);
});
