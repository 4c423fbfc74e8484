import { expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const repository = path.join(import.meta.dirname, '../..');

/** The anchors of the headings of a document, as GitHub makes them. */
function anchorsIn(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('every link of the documents leads to a file and a heading that exist', () => {
  const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: repository, encoding: 'utf8' })
    .split('\n')
    .map((file) => path.join(repository, file))
    .filter((file) => file.endsWith('.md') && existsSync(file));
  const broken = documents.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8')
        .replaceAll(/^```.*?^```/gms, '')
        .matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g),
    ].flatMap(([link, target = '', anchor]) => {
      const full = target === '' ? file : path.join(path.dirname(file), target);
      const exists = existsSync(full) && (!anchor || anchorsIn(readFileSync(full, 'utf8')).includes(anchor));
      return exists ? [] : [`${path.relative(repository, file)}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});
