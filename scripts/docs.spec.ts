import { configOf, HostConfig } from '@bunting/runtime';
import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { services } from '../apps/all-in-one/src/services.ts';

const repository = path.join(import.meta.dirname, '..');
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
    [HostConfig, ...services.map(configOf)].flatMap(({ properties }) => Object.keys(properties)),
  );
  const prefixes = ['BUS', 'MEILI', ...services.map(({ name }) => name.toUpperCase().replaceAll('-', '_'))].join('|');
  // Of docker-compose.yml and of the tests.
  const others = new Set(['MEILI_MASTER_KEY', 'MEILI_SETTING']);
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

it('names only commands in the documents that package.json has', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const unknown = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\bnpm run (?:--silent )?([a-z:]+)/g)]
      .map(([, name = '']) => name)
      .filter((name) => scripts[name] === undefined)
      .map((name) => `${file}: npm run ${name}`),
  );
  expect(unknown).toEqual([]);
});
