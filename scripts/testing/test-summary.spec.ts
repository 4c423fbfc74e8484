import { expect, it } from '@jest/globals';
import { summaryOf } from './test-summary.ts';

const escape = String.fromCharCode(27);

it('adds up what several runs of Jest have printed, in colours or not', () => {
  const output = [
    `${escape}[1mTests:       ${escape}[22m${escape}[1m${escape}[31m2 failed${escape}[39m${escape}[22m, ${escape}[1m${escape}[33m1 skipped${escape}[39m${escape}[22m, ${escape}[1m${escape}[32m10 passed${escape}[39m${escape}[22m, 13 total`,
    'Test Suites: 3 passed, 3 total',
    'Tests:       7 passed, 7 total',
    'Tests:       1 todo, 1 passed, 2 total',
  ].join('\n');
  expect(summaryOf(output)).toEqual({ passed: 18, failed: 2, skipped: 2 });
});

it('counts a file that could not be run as one failure, however often it is printed', () => {
  const printed = 'FAIL features src/a.spec.ts (5.1 s)\n  ● Test suite failed to run\n\n    SyntaxError';
  const output = [
    printed,
    'Summary of all failing tests',
    printed,
    'FAIL features src/b.spec.ts\n  ● Test suite failed to run',
  ].join('\n');
  expect(summaryOf(`${output}\nTests:       4 passed, 4 total`)).toEqual({ passed: 4, failed: 2, skipped: 0 });
});

it('counts nothing where nothing was run', () => {
  expect(summaryOf('No tests found, exiting with code 0\n')).toEqual({ passed: 0, failed: 0, skipped: 0 });
});
