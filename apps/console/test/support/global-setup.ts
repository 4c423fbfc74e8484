import { testPostgresUrl } from '@bunting/testing';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { findChromium } from './chromium.ts';
import { startBunting } from './started-bunting.ts';

/** Builds the console, starts Bunting, finds a Chromium, and hands both to the specs. Returns what stops Bunting after them. */
async function setup(): Promise<(() => Promise<void>) | undefined> {
  execFileSync(process.execPath, [path.join(import.meta.dirname, '..', '..', 'build.ts')], { stdio: 'inherit' });
  let found;
  try {
    found = await findChromium();
  } catch (error) {
    // Without a browser a developer can still run everything else; the machine that decides cannot.
    if (process.env['CI'] === 'true') throw error;
    console.warn(`The tests of the pages are skipped. ${(error as Error).message}`);
    return undefined;
  }
  process.env['TEST_POSTGRES_URL'] = await testPostgresUrl();
  const bunting = await startBunting();
  process.env['CONSOLE_TEST_BROWSER'] = JSON.stringify(found);
  process.env['CONSOLE_TEST_URL'] = bunting.url;
  process.env['CONSOLE_TEST_TOKEN'] = bunting.token;
  process.env['CONSOLE_TEST_SLACK_PORT'] = String(bunting.slackPort);
  return () => bunting.stop();
}

export { setup as default };
