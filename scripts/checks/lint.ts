import { ESLint } from 'eslint';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from '../command.ts';
import { allMigrations } from '../databases/service-databases.ts';
import { migrationFaults, migrationRules } from '../migrations/migration-faults.ts';

const help = `Checks the code and its formatting.

  npm run lint

ESLint over the whole repository, including the rules on imports. The rules that need types, such as those on promises that are not awaited,
by oxlint, which asks TypeScript 7 (oxlint.json). The migrations of every service, by PostgreSQL's parser (docs/upgrading.md has the rules).
Then prettier; \`npm run format\` fixes what it reports.`;

const repository = path.join(import.meta.dirname, '../..');
function program(name: string): string {
  return path.join(repository, 'node_modules', '.bin', name);
}
const run = promisify(execFile);
const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false', CI: 'true' };

/** Creates Nx's project graph, without which the rule on imports between projects reports nothing. */
async function makeProjectGraph(): Promise<void> {
  await run(program('nx'), ['show', 'projects'], { cwd: repository, env });
}

async function checkCode(): Promise<boolean> {
  const eslint = new ESLint({ cwd: repository });
  const results = await eslint.lintFiles(['.']);
  const problems = results.reduce((sum, { errorCount, warningCount }) => sum + errorCount + warningCount, 0);
  console.log(
    problems === 0
      ? `eslint: ${results.length} files have no problems`
      : await (await eslint.loadFormatter('stylish')).format(results),
  );
  return problems === 0;
}

/** Runs the rules that need types in a process of its own, beside the other checks. */
async function checkTypedRules(): Promise<boolean> {
  try {
    await run(program('oxlint'), ['--config', 'oxlint.json', '--deny-warnings', '.'], { cwd: repository, env });
    console.log('oxlint: the rules that need types hold');
    return true;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    console.error(`oxlint, rules that need types:\n${stdout}${stderr}`);
    return false;
  }
}

async function checkMigrations(): Promise<boolean> {
  let faults = 0;
  for (const [service, migrations] of Object.entries(allMigrations)) {
    for (const { migration, rule, statement } of await migrationFaults(migrations)) {
      faults++;
      console.error(
        `migrations: ${service} ${migration}, ${rule}: ${statement}\n  ${migrationRules[rule]}, or add \`-- allow ${rule}: <reason>\` to the statement.`,
      );
    }
  }
  if (faults === 0)
    console.log(`migrations: those of ${Object.keys(allMigrations).length} services suit the version before`);
  return faults === 0;
}

async function checkFormatting(): Promise<boolean> {
  try {
    await run(program('prettier'), ['--check', '.', '--log-level=warn'], { cwd: repository, env });
    console.log('prettier: all files are formatted');
    return true;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    console.error(`prettier:\n${stdout}${stderr}\`npm run format\` fixes it.`);
    return false;
  }
}

await runCommand({ help }, async () => {
  await makeProjectGraph();
  const concurrentChecks = [checkFormatting(), checkTypedRules()];
  const outcomes = [await checkMigrations(), await checkCode()];
  outcomes.push(...(await Promise.all(concurrentChecks)));
  return outcomes.includes(false) ? 1 : 0;
});
