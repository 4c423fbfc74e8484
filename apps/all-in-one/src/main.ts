import { logUnhandledRejections, startError, stopOnSignal } from '@bunting/runtime';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Platform, startPlatform } from './platform.ts';

const help = `Starts the whole of Bunting in this process, with a PostgreSQL that ships inside npm packages.

  npm start

Settings, from the environment:
  PORT                  where the API listens (default 4242)
  BUNTING_DATA_DIR      where the data is kept (default .bunting/ in the repository)
  BUNTING_ADMIN_TOKEN   the first admin token, instead of a random one
  LOG_LEVEL             info shows every request (default warn)
docs/settings.md lists all settings. Ctrl-C stops everything cleanly.`;

const repository = path.join(import.meta.dirname, '..', '..', '..');

/**
 * What the program prints once it is ready. It shows a token or a link only if this start created it. If `BUNTING_ADMIN_TOKEN` sets
 * the token, the example shows `$BUNTING_ADMIN_TOKEN`, which a shell expands, instead of the secret.
 */
const welcome = ({ address, dataDir, firstAdminToken, firstAdminLink, hosted }: Platform, seconds: string): string => {
  const isTokenSet = (process.env['BUNTING_ADMIN_TOKEN'] ?? '') !== '';
  const token = firstAdminToken ?? (isTokenSet ? '$BUNTING_ADMIN_TOKEN' : undefined);
  const header = `Authorization: ${token ?? '<your admin token>'}`;
  const quoted = isTokenSet ? `"${header}"` : `'${header}'`;
  const hasConsole = existsSync(path.join(repository, 'apps', 'console', 'dist', 'web', 'index.html'));
  const lines = [
    '',
    `Bunting is ready, ${seconds} s after its start.`,
    '',
    ...(hasConsole ? [`  Console    ${address}`] : []),
    `  API        ${address}/api/admin`,
    `  API page   ${address}/docs`,
    ...(dataDir === undefined ? [] : [`  Data       ${dataDir}`]),
    ...(firstAdminToken === undefined ? [] : ['', `  Admin token, shown this once: ${firstAdminToken}`]),
    ...(firstAdminLink === undefined
      ? []
      : ['', `  Sign in: choose a name and a password, once and within an hour, at ${firstAdminLink}`]),
    '',
    '  Try it:',
    `    curl -H ${quoted} ${address}/api/admin/projects/default/features`,
    '',
    ...(token === undefined
      ? [
          '  An admin token was shown or given at the first start. Is it lost? Start with BUNTING_ADMIN_TOKEN=<one of your own>.',
          '',
        ]
      : []),
    `  ${hosted.services.size} services in one process. Ctrl-C stops them.`,
    '',
  ];
  return lines.join('\n');
};

/** A part of the start that takes longer says so, once. */
const slowPhaseMs = 2_000;

/** @returns what is called at the beginning of each part of the start, and a function that ends the last one */
const progressDisplay = () => {
  let timer: NodeJS.Timeout | undefined;
  return {
    begin: (starting: string): void => {
      clearTimeout(timer);
      timer = setTimeout(() => console.log(`Starting ${starting} …`), slowPhaseMs);
    },
    end: (): void => clearTimeout(timer),
  };
};

const main = async (): Promise<void> => {
  const progress = progressDisplay();
  try {
    const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
    if (values.help) return console.log(help);
    const platform = await startPlatform(process.env, progress.begin).finally(progress.end);
    stopOnSignal(() => platform.stop());
    logUnhandledRejections(platform.hosted.log);
    // Since the start of the process, which builds the console before this module is loaded.
    console.log(welcome(platform, (performance.now() / 1000).toFixed(1)));
    const reason = await platform.postgresLost;
    console.error(reason.message);
    await platform.stop();
    process.exit(1);
  } catch (error) {
    console.error(startError(error));
    process.exit(1);
  }
};

void main();
