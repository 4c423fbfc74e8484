import { configOf, HostConfig } from '@bunting/runtime';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { services } from '../apps/all-in-one/src/services.ts';

const help = `Writes the table of settings into the README, from the schemas that the services read them with.

  npm run config:table            writes it
  npm run config:table -- --check says whether it is current, and fails when it is not`;

interface Setting {
  readonly description?: string;
  readonly default?: unknown;
}

const readme = path.join(import.meta.dirname, '..', 'README.md');
const begin = '<!-- settings: npm run config:table -->';
const end = '<!-- /settings -->';

const byAll: readonly [string, Record<string, Setting>][] = [
  ['every process', HostConfig.properties as Record<string, Setting>],
  [
    '`npm start`, `npm run stack`',
    {
      BUNTING_DATA_DIR: {
        default: '.bunting/',
        description: 'folder of the embedded PostgreSQL, used for services whose database has no address',
      },
    },
  ],
  ...services.map((service): [string, Record<string, Setting>] => [
    service.name,
    configOf(service).properties as Record<string, Setting>,
  ]),
];

const shown = (value: unknown): string => (value === undefined ? '' : `\`${String(value)}\``);

const table = (): string =>
  [
    '| setting | read by | default | what it is |',
    '| --- | --- | --- | --- |',
    ...byAll.flatMap(([reader, settings]) =>
      Object.entries(settings).map(
        ([key, { description = '', default: fallback }]) =>
          `| \`${key}\` | ${reader} | ${shown(fallback)} | ${description.replaceAll('|', '\\|')} |`,
      ),
    ),
  ].join('\n');

const main = (): void => {
  if (process.argv.includes('--help')) return console.log(help);
  const text = readFileSync(readme, 'utf8');
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The README lacks ${begin} … ${end}.`);
  const current = `${before}${begin}\n${table()}\n${end}${after}`;
  if (current === text) return console.log('The table of settings in the README is current.');
  if (process.argv.includes('--check')) {
    console.error('The table of settings in the README is not current: run npm run config:table.');
    process.exit(1);
  }
  writeFileSync(readme, current);
  console.log('The table of settings in the README is written anew.');
};

main();
