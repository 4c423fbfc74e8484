import { testPostgresUrl } from '@bunting/testing';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { startChromium } from './chromium.ts';
import { startBunting } from './started-bunting.ts';

/** Builds the console, starts Bunting and Chromium, and hands their addresses to the specs. Returns what stops both after them. */
async function setup(): Promise<(() => Promise<void>) | undefined> {
  execFileSync(process.execPath, [path.join(import.meta.dirname, '..', '..', 'build.ts')], { stdio: 'inherit' });
  let browser;
  try {
    browser = await startChromium();
  } catch (error) {
    // Without a browser a developer can still run everything else; the machine that decides cannot.
    if (process.env['CI'] === 'true') throw error;
    console.warn(`The tests of the pages are skipped. ${(error as Error).message}`);
    return undefined;
  }
  let bunting;
  try {
    process.env['TEST_POSTGRES_URL'] = await testPostgresUrl();
    bunting = await startBunting();
  } catch (error) {
    // Its connection would keep this process from ending.
    await browser.close();
    throw error;
  }
  process.env['CONSOLE_TEST_BROWSER'] = browser.wsEndpoint();
  process.env['CONSOLE_TEST_URL'] = bunting.url;
  process.env['CONSOLE_TEST_TOKEN'] = bunting.token;
  process.env['CONSOLE_TEST_SLACK_PORT'] = String(bunting.slackPort);
  return async () => {
    await browser.close();
    await bunting.stop();
  };
}

export { setup as default };
