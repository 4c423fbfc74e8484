import { run } from '@bunting/runtime';
import { settingsInArguments } from './arguments.ts';
import { edgeService } from './service.ts';

try {
  Object.assign(process.env, settingsInArguments(process.argv.slice(2)));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
process.argv.splice(2);
void run([edgeService]);
