// Jest reporter: appends a line for each spec file to the file SPEC_RESULTS, if there is such a variable. `npm test` reads it.
const { appendFileSync } = require('node:fs');
const path = require('node:path');

module.exports = class {
  onTestResult(_test, result) {
    const target = process.env.SPEC_RESULTS;
    if (target === undefined) return;
    const failed = result.numFailingTests + (result.testExecError ? 1 : 0);
    const line = {
      project: process.env.NX_TASK_TARGET_PROJECT ?? '',
      folder: process.cwd(),
      file: path.relative(__dirname, result.testFilePath),
      ms: result.perfStats.end - result.perfStats.start,
      passed: result.numPassingTests,
      failed,
      failure: failed > 0 ? (result.failureMessage ?? '') : null,
    };
    appendFileSync(target, `${JSON.stringify(line)}\n`);
  }
};
