import { colorCodes } from './test-summary.ts';

/** How one spec file went, as the reporter of Jest (`jest.spec-results.cjs`) writes it. */
export interface SpecResult {
  /** The Nx project that ran it. */
  readonly project: string;
  /** The folder in which Jest was started for it. */
  readonly folder: string;
  /** Its path from the root of the repository. */
  readonly file: string;
  readonly ms: number;
  readonly passed: number;
  /** A file that could not be run, or whose hooks failed, counts as one failed test more. */
  readonly failed: number;
  /** What Jest printed about its failures. */
  readonly failure: string | null;
}

/** More files than these are no coincidence: something that all of them need is broken. */
export const maxRepeatedFiles = 10;

/** A spec file that failed in the run, and how it went when it was run again by itself. */
export interface RepeatedSpec {
  readonly first: SpecResult;
  readonly second: SpecResult | null;
}

/** The spec files that are run once more, each by itself. */
export const filesToRepeat = (results: readonly SpecResult[]): readonly SpecResult[] => {
  const failing = results.filter(({ failure }) => failure !== null);
  return failing.length > maxRepeatedFiles ? [] : failing;
};

/** The files that failed in the run and passed when they were repeated: their failures are none of the change under test. */
export const flakyFiles = (repeated: readonly RepeatedSpec[]): readonly RepeatedSpec[] =>
  repeated.filter(({ second }) => second?.failed === 0 && second.passed > 0);

/** The tasks, such as `@bunting/features:test`, that Nx lists as failed at the end of its output. */
export const failedTasksOf = (output: string): readonly string[] => {
  const lines = output.replaceAll(colorCodes, '').split(/\r?\n/);
  const start = lines.lastIndexOf('Failed tasks:');
  return start < 0 ? [] : lines.slice(start).flatMap((line) => /^- (\S+)$/.exec(line)?.[1] ?? []);
};

/**
 * Whether flaky files are all that failed in a run of Nx: each failed task is one of tests, and all files that failed in it are flaky. A
 * task that failed without a failed file, such as one whose process was killed, is no such task.
 */
export const onlyFlakyFilesFailed = (
  failedTasks: readonly string[],
  results: readonly SpecResult[],
  flaky: readonly RepeatedSpec[],
): boolean => {
  const passedLater = new Set(flaky.map(({ first }) => first.file));
  const failing = results.filter(({ failure }) => failure !== null);
  const explained = new Set(failing.map(({ project }) => `${project}:test`));
  return (
    failedTasks.length > 0 &&
    failedTasks.every((task) => explained.has(task)) &&
    failing.every(({ file }) => passedLater.has(file))
  );
};
