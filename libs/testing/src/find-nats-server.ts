import { programSearchPath } from '@bunting/embedded-postgres';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path to which the program is downloaded if it is missing, as by `npm test`. */
export const downloadedNatsServer = fileURLToPath(
  new URL('../../../node_modules/.cache/bunting/nats-server', import.meta.url),
);

export const howToInstallNatsServer =
  'Install it with `apt-get install nats-server` (Debian, Ubuntu) or `brew install nats-server` (macOS), take a release of ' +
  'https://github.com/nats-io/nats-server/releases, or set NATS_SERVER to where the program is.';

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of nats-server. Throws an error with installation instructions if it is missing. */
export const findNatsServer = (): string => {
  const configured = process.env['NATS_SERVER'];
  if (configured !== undefined && configured !== '') {
    if (isProgram(configured)) return configured;
    throw new Error(`NATS_SERVER names ${configured}, which is no program that can be run. ${howToInstallNatsServer}`);
  }
  const folders = programSearchPath().split(':');
  const program = [...folders.map((folder) => path.join(folder, 'nats-server')), downloadedNatsServer].find(isProgram);
  if (program === undefined) throw new Error(`The program nats-server is missing. ${howToInstallNatsServer}`);
  return program;
};
