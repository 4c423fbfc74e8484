import { natsRightsOf } from '@bunting/bus/nats-rights';
import { configSchemaOf, type ConfigSchema, HostConfig, keysOf } from '@bunting/runtime';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { services } from '../../apps/all-in-one/src/services.ts';
import { edgeService } from '../../apps/edge/src/service.ts';
import { runCommand } from '../command.ts';

const help = `Writes the settings into docs/settings.md, and those that containers are given into docker-compose.yml, from the schemas that the
services read them with; and the rights of the NATS users into docker/nats/nats.conf, from the operations that each service calls.

  npm run config:table              writes all three
  npm run config:table -- --check   fails when one is not current`;

interface Setting {
  readonly description?: string;
  readonly default?: unknown;
}

const repository = path.join(import.meta.dirname, '../..');
const tableStart = '<!-- settings: npm run config:table -->';
const tableEnd = '<!-- /settings -->';

const processes = [...services, edgeService];

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
  ...processes.map((service): [string, Record<string, Setting>] => [
    service.name,
    configSchemaOf(service).properties as Record<string, Setting>,
  ]),
];

function defaultOf(value: unknown): string {
  return value === undefined ? '' : `\`${String(value)}\``;
}

/** The settings that may also come from a file, by `<SETTING>_FILE`. */
const fileSettings = new Set(
  [HostConfig, ...processes.map((service) => configSchemaOf(service))].flatMap((schema: ConfigSchema) => {
    const keys = new Set(Object.keys(schema.properties));
    return keysOf(schema).filter((key) => !keys.has(key));
  }),
);

function nameOf(key: string): string {
  return fileSettings.has(`${key}_FILE`) ? `\`${key}\`, \`${key}_FILE\`` : `\`${key}\``;
}

function table(): string {
  return [
    '| setting | read by | default | what it is |',
    '| --- | --- | --- | --- |',
    ...settingsByReader.flatMap(([reader, settings]) =>
      Object.entries(settings).map(
        ([key, { description = '', default: value }]) =>
          `| ${nameOf(key)} | ${reader} | ${defaultOf(value)} | ${description.replaceAll('|', '\\|')} |`,
      ),
    ),
  ].join('\n');
}

function settingsPage(currentText: string): string {
  const [head, rest] = currentText.split(tableStart);
  const tail = rest?.split(tableEnd)[1];
  if (head === undefined || tail === undefined) {
    throw new Error(`docs/settings.md must contain ${tableStart} and ${tableEnd}.`);
  }
  return `${head}${tableStart}\n${table()}\n${tableEnd}${tail}`;
}

/** Settings with fixed values in the Compose file: its own NATS, the port within the container, and a folder of the image. */
const setByCompose = /^(?:BUS_\w+|PORT|GATEWAY_HOST|GATEWAY_CONSOLE_DIR)$/;

function listOf(reader: string): RegExp {
  return new RegExp(`( *)# ${reader}: npm run config:table\\n[^]*?# end of ${reader}\\n`);
}

/** The lines that pass variables of the shell, or of `.env`, on to a container. A secret is passed as the path of its file. */
function variableLines(schema: ConfigSchema, handWrittenKeys: ReadonlySet<string>, indent: string): string[] {
  const allKeys = new Set(keysOf(schema));
  return Object.keys(schema.properties).flatMap((key) => {
    const variable = allKeys.has(`${key}_FILE`) ? `${key}_FILE` : key;
    if (setByCompose.test(key) || handWrittenKeys.has(key) || handWrittenKeys.has(`${key}_FILE`)) return [];
    return [`${indent}${variable}: \${${variable}:-}`];
  });
}

function composeFile(currentText: string): string {
  const readers: readonly [string, ConfigSchema][] = [
    ['settings of every service', HostConfig],
    ...services.map((service): [string, ConfigSchema] => [`settings of ${service.name}`, configSchemaOf(service)]),
  ];
  const handWrittenText = readers.reduce((text, [reader]) => text.replace(listOf(reader), ''), currentText);
  const handWrittenKeys = new Set([...handWrittenText.matchAll(/^ +([A-Z][A-Z_]+):/gm)].map(([, key = '']) => key));
  return readers.reduce((text, [reader, schema]) => {
    const [list, indent = ''] = listOf(reader).exec(text) ?? [];
    if (list === undefined) throw new Error(`docker-compose.yml must have a list of the ${reader}.`);
    const lines = [`${indent}# ${reader}: npm run config:table`, ...variableLines(schema, handWrittenKeys, indent)];
    return text.replace(list, () => `${[...lines, `${indent}# end of ${reader}`].join('\n')}\n`);
  }, currentText);
}

/** A list of the server's configuration, with as many subjects a line as fit. */
function subjectList(right: string, subjects: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const subject of subjects.map((one) => JSON.stringify(one))) {
    const last = lines.at(-1);
    if (last === undefined || last.length + subject.length > 125) lines.push(`            ${subject}`);
    else lines[lines.length - 1] = `${last}, ${subject}`;
  }
  return [`          ${right}: [`, ...lines, '          ]'];
}

function natsUsers(currentText: string): string {
  return services.reduce((text, { name }) => {
    const permissions = new RegExp(`(user: ${name}\\n[^]*? permissions \\{\\n)[^]*?(?= {10}# As many messages)`);
    if (!permissions.test(text)) throw new Error(`docker/nats/nats.conf must have a user ${name} with permissions.`);
    const { publish, subscribe } = natsRightsOf(name);
    const lines = [...subjectList('publish', publish), ...subjectList('subscribe', subscribe)];
    return text.replace(permissions, (_, head: string) => `${head}${lines.join('\n')}\n`);
  }, currentText);
}

await runCommand({ help, options: { check: { type: 'boolean', default: false } } }, (values) => {
  let code = 0;
  for (const [name, write] of [
    ['docs/settings.md', settingsPage],
    ['docker-compose.yml', composeFile],
    ['docker/nats/nats.conf', natsUsers],
  ] as const) {
    const file = path.join(repository, name);
    const currentText = readFileSync(file, 'utf8');
    const newText = write(currentText);
    if (newText === currentText) console.log(`${name} is current.`);
    else if (values.check) {
      console.error(`${name} is not current: run npm run config:table.`);
      code = 1;
    } else {
      writeFileSync(file, newText);
      console.log(`${name} has been updated.`);
    }
  }
  return code;
});
