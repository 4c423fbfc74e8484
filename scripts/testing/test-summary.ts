/** How many tests of a run passed and failed. */
interface TestSummary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The colours in what programs print. */
export const colorCodes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const readCount = (line: string, what: string): number => Number(new RegExp(`(\\d+) ${what}\\b`).exec(line)?.[1] ?? 0);

/**
 * Counts the tests in what Jest has printed, over any number of runs. A file that could not be run counts as one failed test:
 * Jest leaves it out of its own count.
 */
export const summaryOf = (output: string): TestSummary => {
  let [passed, failed, skipped] = [0, 0, 0];
  const brokenFiles = new Set<string>();
  let file = '';
  for (const line of output.replaceAll(colorCodes, '').split(/\r?\n/)) {
    if (/^\s*Tests:\s.*\btotal$/.test(line)) {
      passed += readCount(line, 'passed');
      failed += readCount(line, 'failed');
      skipped += readCount(line, 'skipped') + readCount(line, 'todo');
    }
    file = /^\s*FAIL (.*?)(?: \([\d.]+ m?s\))?$/.exec(line)?.[1] ?? file;
    if (/^\s*● Test suite failed to run$/.test(line)) brokenFiles.add(file);
  }
  return { passed, failed: failed + brokenFiles.size, skipped };
};
