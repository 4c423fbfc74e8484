import * as contracts from '@bunting/contracts';
import { allOperations, type AnyOperation, operationName, serviceOf } from '@bunting/contracts';
import { configSchemaOf, HostConfig } from '@bunting/runtime';
import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { services } from '../../apps/all-in-one/src/services.ts';

const repository = path.join(import.meta.dirname, '../..');
const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(repository, file)))
  .map((file) => ({ file, text: readFileSync(path.join(repository, file), 'utf8') }));
const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```/gms, '');

/** The anchor that a heading gets, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));

it('finds the target of every link in the documents, headings included', () => {
  const broken = documents.flatMap(({ file, text }) =>
    [...withoutCode(text).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
      ([link, target = '', anchor]) => {
        const full = target === '' ? path.join(repository, file) : path.join(repository, path.dirname(file), target);
        const exists = existsSync(full) && (!anchor || anchorsIn(readFileSync(full, 'utf8')).includes(anchor));
        return exists ? [] : [`${file}: ${link}`];
      },
    ),
  );
  expect(broken).toEqual([]);
});

it('names only settings in the documents that a service reads', () => {
  const settings = new Set(
    [HostConfig, ...services.map(configSchemaOf)].flatMap(({ properties }) => Object.keys(properties)),
  );
  const prefixes = [...new Set([...settings].flatMap((name) => /^[A-Z]+(?=_)/.exec(name) ?? []))].join('|');
  // Variables that no service reads: those of commands, of docker-compose.yml and of the tests.
  const others = new Set([
    'BUNTING_DATA_DIR',
    'BUNTING_TOKEN',
    'BUNTING_URL',
    'CHANGE_REQUEST_RACE_ROUNDS',
    'MEILI_MASTER_KEY',
    'MEILI_SETTING',
  ]);
  const unknown = documents
    .filter(({ file }) => !file.startsWith('docs/adr/'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(new RegExp(`\\b(?:${prefixes})_[A-Z][A-Z_]*[A-Z]\\b`, 'g'))]
        .map(([name]) => name)
        .filter((name) => !settings.has(name) && !settings.has(name.replace(/_FILE$/, '')) && !others.has(name))
        .map((name) => `${file}: ${name}`),
    );
  expect(unknown).toEqual([]);
});

it('describes in docs/api.md every operation that Unleash does not have, and no other', () => {
  const own = allOperations.flatMap(({ isBuntingExtension, http }) =>
    isBuntingExtension === true && http !== undefined
      ? [`${http.method} ${http.url.replaceAll(/:(\w+)/g, '{$1}')}`]
      : [],
  );
  const { text = '' } = documents.find(({ file }) => file === 'docs/api.md') ?? {};
  const [, section = ''] = text.split('\n## What Unleash does not have\n');
  const table = section.split('\n').filter((line) => line.startsWith('| `'));
  const described = table.flatMap((line) =>
    [...line.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^`]+)`/g)].map(([, operation = '']) => operation),
  );
  expect(described.toSorted()).toEqual(own.toSorted());
});

it('names only spec files in the documents that exist', () => {
  const specs = execFileSync('git', ['ls-files', '*.spec.ts'], { cwd: repository, encoding: 'utf8' })
    .split('\n')
    .map((file) => `/${file}`);
  // The guide uses an operation that does not exist as its example.
  const example = 'get-feature-title.spec.ts';
  const unknown = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/[\w./-]+\.spec\.ts\b/g)]
      .map(([name]) => name)
      .filter((name) => !name.endsWith(example) && !specs.some((spec) => spec.endsWith(`/${name}`)))
      .map((name) => `${file}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

it('names only paths in the documents that exist', () => {
  const missing = documents
    .filter(({ file }) => !file.startsWith('docs/adr/'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/`((?:apps|libs|scripts|docs)\/[\w./-]+)`/g)]
        .map(([, name = '']) => name)
        .filter((name) => !name.includes('get-feature-title') && !existsSync(path.join(repository, name)))
        .map((name) => `${file}: ${name}`),
    );
  expect(missing).toEqual([]);
});

const readmes = documents
  .filter(({ file }) => /^(?:apps|libs)\/[^/]+\/README\.md$/.test(file))
  .map(({ file, text }) => ({ file, folder: path.join(repository, path.dirname(file)), text: withoutCode(text) }));

it('names only files and folders in a README that its package has', () => {
  const missing = readmes.flatMap(({ file, folder, text }) => {
    const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(({ parentPath }) => !parentPath.includes('node_modules'))
      .map((entry) => `${path.join(entry.parentPath, entry.name)}${entry.isDirectory() ? '/' : ''}`);
    return [...text.matchAll(/`((?:[\w-]+\/)+(?:[\w.-]+\.ts)?)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !paths.some((one) => one.endsWith(`/${name}`)) && !existsSync(path.join(repository, name)))
      .map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

const isOperation = (value: unknown): value is AnyOperation => allOperations.some((operation) => operation === value);

it('finds in the README of a service every operation of other services that it calls, and no other', () => {
  const differences = readmes.flatMap(({ file, folder, text }) => {
    const calls = /^## Calls$(.*?)^## /ms.exec(text)?.[1];
    if (calls === undefined) return [];
    const sources = readdirSync(path.join(folder, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.(?:spec|perf)\.ts$/.test(name))
      .map((name) => readFileSync(path.join(folder, 'src', name), 'utf8'))
      .join('\n');
    const called = Object.entries(contracts).flatMap(([name, value]) =>
      isOperation(value) &&
      path.basename(folder) !== serviceOf(value) &&
      new RegExp(String.raw`\b${name}\b`).test(sources)
        ? [operationName(value)]
        : [],
    );
    const described = [...calls.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name = '']) => name);
    return JSON.stringify(described.toSorted()) === JSON.stringify(called.toSorted()) ? [] : [{ file, called }];
  });
  expect(differences).toEqual([]);
});

it('finds in the README of a service with a table of operations each of them', () => {
  const missing = readmes.flatMap(({ file, folder, text }) => {
    const table = /^## Serves$(.*?)^#+ /ms.exec(text)?.[1] ?? '';
    if (!table.includes('| Operation')) return [];
    const listed = new Set([...table.matchAll(/`([a-z]+(?:-[a-z]+)*)`/g)].map(([, name]) => name));
    return allOperations
      .filter((operation) => serviceOf(operation) === path.basename(folder) && !listed.has(operationName(operation)))
      .map((operation) => `${file}: ${operationName(operation)}`);
  });
  expect(missing).toEqual([]);
});

it('finds every folder of the sources of a service or library in its README', () => {
  const unlisted = readmes.flatMap(({ file, folder, text }) =>
    readdirSync(path.join(folder, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !new RegExp(`\`(?:src/${entry.name}[/\`]|${entry.name}/)`).test(text))
      .map(({ name }) => `${file}: ${name}`),
  );
  expect(unlisted).toEqual([]);
});

it('quotes only messages in the runbook that the code logs', () => {
  const lines = execFileSync('git', ['ls-files', 'apps/*.ts', 'libs/*.ts'], { cwd: repository, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && !file.includes('/test/') && !/\.(?:spec|perf)\.ts$/.test(file))
    .flatMap((file) => readFileSync(path.join(repository, file), 'utf8').split('\n'))
    .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line));
  const runbook = documents.find(({ file }) => file === 'docs/runbook.md')?.text ?? '';
  const quotes = [...runbook.matchAll(/`([A-Z][a-z]+ [^`]+)`/g)].map(([, quote = '']) => quote);
  expect(quotes).not.toEqual([]);
  const unknown = quotes.filter((quote) => quote.split('…').some((part) => !lines.some((line) => line.includes(part))));
  expect(unknown).toEqual([]);
});

it('names only commands in the documents that package.json has', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const unknown = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\bnpm run (?:--silent )?([a-z:-]+)/g)]
      .map(([, name = '']) => name)
      .filter((name) => scripts[name] === undefined)
      .map((name) => `${file}: npm run ${name}`),
  );
  expect(unknown).toEqual([]);
});
