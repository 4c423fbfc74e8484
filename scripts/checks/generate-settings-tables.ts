import { configOf, type ConfigSchema, HostConfig, keysOf } from '@bunting/runtime';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { services } from '../../apps/all-in-one/src/services.ts';
import { runCommand } from '../command.ts';

const help = `Writes the settings into docs/settings.md, and those that containers are given into docker-compose.yml, from the schemas that the
services read them with.

  npm run config:table              writes both
  npm run config:table -- --check   fails when one is not current`;

interface Setting {
  readonly description?: string;
  readonly default?: unknown;
}

const repository = path.join(import.meta.dirname, '../..');
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

const settingsPage = (stored: string): string => {
  const [before, rest] = stored.split(tableStart);
  const after = rest?.split(tableEnd)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`docs/settings.md must contain ${tableStart} and ${tableEnd}.`);
  }
  return `${before}${tableStart}\n${table()}\n${tableEnd}${after}`;
};

/** Settings that the compose file decides: its own NATS, the port within the container, and a folder of the image. */
const decidedByCompose = /^(?:BUS_\w+|PORT|GATEWAY_HOST|GATEWAY_CONSOLE_DIR)$/;

const listOf = (reader: string): RegExp =>
  new RegExp(`( *)# ${reader}: npm run config:table\\n[^]*?# end of ${reader}\\n`);

/** The lines that pass variables of the caller, or of `.env`, on to a container. A secret is passed as the name of its file. */
const passedOn = (schema: ConfigSchema, written: ReadonlySet<string>, indent: string): string[] => {
  const all = new Set(keysOf(schema));
  return Object.keys(schema.properties).flatMap((key) => {
    const passed = all.has(`${key}_FILE`) ? `${key}_FILE` : key;
    if (decidedByCompose.test(key) || written.has(key) || written.has(`${key}_FILE`)) return [];
    return [`${indent}${passed}: \${${passed}:-}`];
  });
};

const composeFile = (stored: string): string => {
  const readers: readonly [string, ConfigSchema][] = [
    ['settings of every service', HostConfig],
    ...services.map((service): [string, ConfigSchema] => [`settings of ${service.name}`, configOf(service)]),
  ];
  const byHand = readers.reduce((text, [reader]) => text.replace(listOf(reader), ''), stored);
  const written = new Set([...byHand.matchAll(/^ +([A-Z][A-Z_]+):/gm)].map(([, key = '']) => key));
  return readers.reduce((text, [reader, schema]) => {
    const [list, indent = ''] = listOf(reader).exec(text) ?? [];
    if (list === undefined) throw new Error(`docker-compose.yml must have a list of the ${reader}.`);
    const lines = [`${indent}# ${reader}: npm run config:table`, ...passedOn(schema, written, indent)];
    return text.replace(list, () => `${[...lines, `${indent}# end of ${reader}`].join('\n')}\n`);
  }, stored);
};

const main = (): number => {
  const { values } = parseArgs({
    options: { check: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  let code = 0;
  for (const [name, write] of [
    ['docs/settings.md', settingsPage],
    ['docker-compose.yml', composeFile],
  ] as const) {
    const file = path.join(repository, name);
    const stored = readFileSync(file, 'utf8');
    const current = write(stored);
    if (current === stored) console.log(`${name} is current.`);
    else if (values.check) {
      console.error(`${name} is not current: run npm run config:table.`);
      code = 1;
    } else {
      writeFileSync(file, current);
      console.log(`${name} has been updated.`);
    }
  }
  return code;
};

await runCommand(main);
