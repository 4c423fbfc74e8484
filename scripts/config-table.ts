import { configOf, type ConfigSchema, HostConfig, keysOf } from '@bunting/runtime';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { services } from '../apps/all-in-one/src/services.ts';

const help = `Writes the table of settings into docs/settings.md, from the schemas that the services read them with.

  npm run config:table              writes the table
  npm run config:table -- --check   fails when the table is not current`;

interface Setting {
  readonly description?: string;
  readonly default?: unknown;
}

const document = path.join(import.meta.dirname, '..', 'docs', 'settings.md');
const tableStart = '<!-- settings: npm run config:table -->';
const tableEnd = '<!-- /settings -->';

const settingsByReader: readonly [string, Record<string, Setting>][] = [
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

const defaultOf = (value: unknown): string => (value === undefined ? '' : `\`${String(value)}\``);

/** The settings that may also come from a file, by `<SETTING>_FILE`. */
const fileSettings = new Set(
  [HostConfig, ...services.map(configOf)].flatMap((schema: ConfigSchema) => {
    const own = new Set(Object.keys(schema.properties));
    return keysOf(schema).filter((key) => !own.has(key));
  }),
);

const nameOf = (key: string): string =>
  fileSettings.has(`${key}_FILE`) ? `\`${key}\`, \`${key}_FILE\`` : `\`${key}\``;

const table = (): string =>
  [
    '| setting | read by | default | what it is |',
    '| --- | --- | --- | --- |',
    ...settingsByReader.flatMap(([reader, settings]) =>
      Object.entries(settings).map(
        ([key, { description = '', default: value }]) =>
          `| ${nameOf(key)} | ${reader} | ${defaultOf(value)} | ${description.replaceAll('|', '\\|')} |`,
      ),
    ),
  ].join('\n');

const main = (): void => {
  if (process.argv.includes('--help')) return console.log(help);
  const stored = readFileSync(document, 'utf8');
  const [before, rest] = stored.split(tableStart);
  const after = rest?.split(tableEnd)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`docs/settings.md must contain ${tableStart} and ${tableEnd}.`);
  }
  const current = `${before}${tableStart}\n${table()}\n${tableEnd}${after}`;
  if (current === stored) return console.log('docs/settings.md is current.');
  if (process.argv.includes('--check')) {
    console.error('docs/settings.md is not current: run npm run config:table.');
    process.exit(1);
  }
  writeFileSync(document, current);
  console.log('docs/settings.md has been updated.');
};

main();
