import { expect, it } from 'vitest';
import { invalid, type Refusal, refusal, type RefusalExtras } from '@bunting/contracts';
import { withPathsOfSingleChange } from './with-paths-of-single-change.ts';

function rewritten(error: Refusal): Refusal {
  return withPathsOfSingleChange(error) as Refusal;
}

it.each([
  [
    'of the change',
    'The `/body/0` property must be object.',
    '/body/0',
    'The `/body` property must be object.',
    '/body',
  ],
  [
    'of a part of the change',
    'Strategy type flexible is deprecated: see the `/body/0/payload/name` property.',
    '/body/0/payload/name',
    'Strategy type flexible is deprecated: see the `/body/payload/name` property.',
    '/body/payload/name',
  ],
])(
  'an error of a change that is the whole body names the path %s in that body',
  (_, message, path, shown, shownPath) => {
    const { kind, message: text, details } = rewritten(invalid(message, path));
    expect({ kind, text, details }).toEqual({
      kind: 'ValidationError',
      text: shown,
      details: [{ message: shown, path: shownPath }],
    });
  },
);

it.each([
  [
    'before its path',
    'Segment `/body/0/payload` does not exist: see the `/body/0/payload` property.',
    'Segment `/body/0/payload` does not exist: see the `/body/payload` property.',
  ],
  [
    'after its path',
    'The `/body/0/payload` property must be short. You provided "`/body/0/payload`".',
    'The `/body/payload` property must be short. You provided "`/body/0/payload`".',
  ],
])('an error of a single change quotes texts of the request unchanged %s', (_, message, shown) => {
  expect(rewritten(invalid(message, '/body/0/payload')).message).toBe(shown);
});

it('an error of a single change keeps paths that are not those of the first change', () => {
  const message = 'The `/body/01` property must be object.';
  expect(rewritten(invalid(message, '/body/01')).details).toEqual([{ message, path: '/body/01' }]);
});

it('an error of a single change keeps everything that it carries beside its paths', () => {
  const extras = {
    id: 'f00',
    details: [{ message: 'No' }],
    permissions: ['UPDATE_FEATURE'],
    retryAfterSeconds: 3,
    signInOptions: { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] },
    tag: '7',
  } satisfies Required<RefusalExtras>;
  const { message, extras: kept } = rewritten(refusal('NoAccessError', 'No /body/0', extras));
  expect({ message, kept }).toEqual({ message: 'No /body/0', kept: extras });
});

it('an error that is no refusal stays the same', () => {
  const error = new Error('/body/0');
  expect(withPathsOfSingleChange(error)).toBe(error);
});
