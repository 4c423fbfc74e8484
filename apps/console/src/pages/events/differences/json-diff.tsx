import type { Json } from '../../../merging/json.ts';
import { lineDiff } from './line-diff.ts';
import styles from '../events.module.css';

const formatJson = (value: Json | undefined): string => (value == null ? '' : JSON.stringify(value, null, 2));
const marks = { same: ' ', removed: '−', added: '+' } as const;

interface JsonDiffProps {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly label: string;
}

/** Two values as JSON: one text with the lines that were removed and added. */
export const JsonDiff = ({ before, after, label }: JsonDiffProps) => (
  <div role="region" aria-label={label} tabIndex={0} className={styles['diff']}>
    {lineDiff(formatJson(before), formatJson(after))
      .filter(({ text }) => text !== '')
      .map(({ kind, text }, at) => {
        const Line = kind === 'removed' ? 'del' : kind === 'added' ? 'ins' : 'span';
        return (
          <Line key={at} className={styles[kind]}>
            {marks[kind]} {text}
          </Line>
        );
      })}
  </div>
);
