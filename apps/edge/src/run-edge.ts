import path from 'node:path';
import { run } from '@bunting/runtime';
import { settingsInArguments } from './arguments.ts';
import { checkEdge, checks } from './check-edge.ts';
import { edgeService } from './service.ts';

const command = import.meta.filename.endsWith('.mjs') ? `node ${path.basename(import.meta.filename)}` : undefined;
const help = `Serves the flags of Bunting, Unleash or another edge to SDKs, without a database.

  UPSTREAM_URL=URL TOKENS=TOKEN,… ${command ?? 'npm run edge'}
  ${command ?? 'npm run edge --'} edge --upstream-url URL --tokens TOKEN,…
  ${command ?? 'npm run edge --'} offline --bootstrap-file FILE --client-tokens TOKEN,…
  ${command ?? 'npm run edge --'} health | ready [--edge-url URL]     asks a running edge, and fails where it is not

Each setting is an environment variable or a flag; docs/edge.md and docs/settings.md have all of them.`;

/** Does what the arguments of the process say. */
export async function runEdge(): Promise<void> {
  const check = checks.find((name) => name === process.argv[2]);
  if (process.argv.includes('--help')) console.log(help);
  else if (check !== undefined) {
    try {
      await checkEdge(check, process.argv.slice(3), process.env);
      console.log('OK');
    } catch (error) {
      console.error((error as Error).message);
      process.exit(1);
    }
  } else {
    try {
      Object.assign(process.env, settingsInArguments(process.argv.slice(2)));
    } catch (error) {
      console.error((error as Error).message);
      process.exit(1);
    }
    process.argv.splice(2);
    await run([edgeService]);
  }
}
