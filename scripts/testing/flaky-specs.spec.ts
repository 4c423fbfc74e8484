import { expect, it } from '@jest/globals';
import { failedTasksOf, filesToRepeat, flakyFiles, onlyFlakyFilesFailed } from './flaky-specs.ts';
import type { SpecResult } from './flaky-specs.ts';

const spec = (file: string, change: Partial<SpecResult> = {}): SpecResult => ({
  project: '@bunting/features',
  folder: '/clone/apps/features',
  file,
  ms: 10,
  passed: 3,
  failed: 0,
  failure: null,
  ...change,
});
const failed = (file: string, change: Partial<SpecResult> = {}): SpecResult =>
  spec(file, { passed: 2, failed: 1, failure: '● a test\n\n  expected 1', ...change });
it('repeats the files that failed, unless so many failed that it is no coincidence', () => {
  const ten = Array.from({ length: 10 }, (_, index) => failed(`${index}.spec.ts`));
  expect(filesToRepeat([spec('good.spec.ts'), ...ten])).toEqual(ten);
  expect(filesToRepeat([...ten, failed('one-more.spec.ts')])).toEqual([]);
});

it('calls a file flaky only if its tests passed when it was repeated', () => {
  const first = failed('a.spec.ts');
  const passedLater = { first, second: spec('a.spec.ts') };
  expect(
    flakyFiles([
      passedLater,
      { first, second: failed('a.spec.ts') },
      { first, second: null },
      { first, second: spec('a.spec.ts', { passed: 0 }) },
    ]),
  ).toEqual([passedLater]);
});

it('reads the failed tasks from the end of what Nx has printed', () => {
  const output =
    'Failed tasks:\n- quoted by a test\n NX   Running target test for 2 projects failed\n\nFailed tasks:\n\n- @bunting/features:test\n- scripts:lint\n\n  Run duration:      20.2s\n';
  expect(failedTasksOf(output)).toEqual(['@bunting/features:test', 'scripts:lint']);
  expect(failedTasksOf('NX   Successfully ran target test')).toEqual([]);
});

it('forgives a run in which flaky files alone failed', () => {
  const first = failed('a.spec.ts');
  const flaky = [{ first, second: spec('a.spec.ts') }];
  expect(onlyFlakyFilesFailed(['@bunting/features:test'], [first, spec('b.spec.ts')], flaky)).toBe(true);
});

it.each([
  ['another file failed twice', ['@bunting/features:test'], [failed('a.spec.ts'), failed('b.spec.ts')]],
  ['lint failed too', ['@bunting/features:test', '@bunting/features:lint'], [failed('a.spec.ts')]],
  ['another project has no results', ['@bunting/features:test', '@bunting/audit:test'], [failed('a.spec.ts')]],
  ['no file failed, but a task did', ['@bunting/features:test'], [spec('a.spec.ts')]],
  ['no failed task is known', [], [failed('a.spec.ts')]],
])('does not forgive a run in which a file was flaky and %s', (_, tasks, results) => {
  expect(onlyFlakyFilesFailed(tasks, results, [{ first: failed('a.spec.ts'), second: spec('a.spec.ts') }])).toBe(false);
});
